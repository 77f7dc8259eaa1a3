//! Any trace that is written and read again is the same trace.

mod cases;
mod marks;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::json;
use wire::revision::{Revision, Transport};
use wire::trace::file::{self, FrameReader};
use wire::trace::mark::Declaration;
use wire::trace::{Closed, Content, Frame, Header, Headers, Mark, MarkKind, Party, Stimulus, StimulusKind, Trace};

fn party() -> impl Strategy<Value = Party> {
    prop::sample::select(vec![Party::Client, Party::Server, Party::AuthorizationServer, Party::Other])
}

/// What messages are, and what they should not be.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let text = prop_oneof![
        Just("{\"jsonrpc\":\"2.0\",\"id\":1e0,\"method\":\"m\"}"),
        Just("{ \"a\" : [ 1.0 , \"\\u00e9\\ud800\" ], \"a\": 2 }"),
        Just("{\"a\":1e999,\"b\":-0}"),
        Just("[{}]"),
        Just("{\n}"),
        Just("{\"a\":1}\r"),
        Just("\u{feff}{}"),
        Just(" {}"),
        Just("{]}"),
        Just("null"),
        Just("\"text\""),
        Just("12"),
        Just(""),
    ];
    let deep = (120_usize..135).prop_map(|depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    prop_oneof![
        3 => text.prop_map(|text| text.as_bytes().to_vec()),
        1 => deep.prop_map(String::into_bytes),
        1 => "\\PC{0,8}".prop_map(String::into_bytes),
        1 => vec(any::<u8>(), 0..12),
    ]
}

fn sse() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        Just(&b"data: {\"jsonrpc\":\"2.0\"}"[..]),
        Just(&b"data:{}"[..]),
        Just(&b"data: x"[..]),
        Just(&b"data"[..]),
        Just(&b"data: "[..]),
        Just(&b"id: 1"[..]),
        Just(&b"event: message"[..]),
        Just(&b"retry: 5"[..]),
        Just(&b": hm"[..]),
        Just(&b":"[..]),
        Just(&b"other: \xff"[..]),
        Just(&b"\xef\xbb\xbf"[..]),
    ];
    let end = prop_oneof![8 => Just(&b"\n"[..]), 1 => Just(&b"\r"[..]), 1 => Just(&b"\r\n"[..])];
    let lines = vec((line, end.clone()).prop_map(|(line, end)| [line, end].concat()), 0..5);
    (lines, end).prop_map(|(lines, end)| [lines.concat(), end.to_vec()].concat())
}

fn headers() -> impl Strategy<Value = Headers> {
    let name = prop_oneof![4 => "[A-Za-z-]{1,6}".boxed(), 1 => "[: a\té\u{1}\n]{0,4}".boxed()];
    let value = prop_oneof![4 => "[a-z/;=\" ,]{0,6}".boxed(), 1 => "[: \ta\u{fffd}\r\n]{0,4}".boxed()];
    vec((name, value), 0..4)
}

fn content() -> impl Strategy<Value = Content> {
    let closed = [Closed::End, Closed::Reset, Closed::Failed, Closed::TimedOut, Closed::Aborted];
    let value =
        prop::sample::select(vec![json!(null), json!("x"), json!(1.5), json!({ "what": [null] }), json!(false)]);
    prop_oneof![
        (bytes(), any::<bool>()).prop_map(|(bytes, terminated)| Content::Line { bytes, terminated }),
        ("[A-Z]{0,4}", "\\PC{0,9}", headers()).prop_map(|(method, target, headers)| Content::Request {
            method,
            target,
            headers
        }),
        (any::<u16>(), headers()).prop_map(|(status, headers)| Content::Response { status, headers }),
        (bytes(), any::<bool>()).prop_map(|(bytes, complete)| Content::Body { bytes, complete }),
        sse().prop_map(Content::Sse),
        bytes().prop_map(Content::Sse),
        (bytes(), any::<bool>()).prop_map(|(bytes, text)| Content::WebSocket { bytes, text }),
        bytes().prop_map(Content::Stderr),
        bytes().prop_map(Content::Raw),
        Just(Content::Opened),
        prop::sample::select(closed.to_vec()).prop_map(Content::Closed),
        (option::of(any::<i32>()), option::of(any::<i32>())).prop_map(|(code, signal)| Content::Exit { code, signal }),
        ("[a-z-]{0,6}", value).prop_map(|(name, value)| Content::Mark(Mark::read(&name, value))),
        marks::mark().prop_map(Content::Mark),
    ]
}

fn frame() -> impl Strategy<Value = Frame> {
    let places = (any::<u32>(), any::<u32>(), option::of(any::<usize>()));
    let times = (any::<u32>(), prop_oneof![Just(0), any::<u32>()]);
    (times, party(), party(), places, content()).prop_map(
        |((at, took), from, to, (connection, exchange, cause), content)| {
            let at = u64::from(at);
            Frame { at, done: at + u64::from(took), from, to, connection, exchange, cause, content }
        },
    )
}

fn trace() -> impl Strategy<Value = Trace> {
    let revision = option::of(prop::sample::select(Revision::ALL.to_vec()));
    let transport = prop::sample::select(Transport::ALL.to_vec());
    let header = (party(), transport, revision, "\\PC{0,6}\n?")
        .prop_map(|(subject, transport, revision, case)| Header { subject, transport, revision, case });
    (header, vec(frame(), 0..6)).prop_map(|(header, frames)| Trace { header, frames })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases::at_least(1000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(trace in trace()) {
        let text = file::write(&trace);
        prop_assert_eq!(text.lines().count(), trace.frames.len() + 1);
        prop_assert_eq!(file::read(&text), Ok(trace.clone()));
        prop_assert_eq!(file::read_repaired(&text), Ok((trace, None)));
    }

    #[test]
    fn a_file_may_be_cut_anywhere(trace in trace(), place in any::<prop::sample::Index>()) {
        let text = file::write(&trace);
        let header = text.find('\n').unwrap();
        let end = header + 1 + place.index(text.len() - header);
        let (read, truncated) = file::read_repaired(&text.as_bytes()[..end]).unwrap();
        prop_assert_eq!(&read.frames[..], &trace.frames[..read.frames.len()]);
        let sound = &text[..end - truncated.map_or(0, |truncated| truncated.bytes)];
        prop_assert_eq!(file::read(sound).unwrap(), read);
    }

    #[test]
    fn the_reader_gives_what_the_whole_gives(trace in trace()) {
        let text = file::write(&trace);
        let mut reader = FrameReader::new(text.lines().map(str::to_owned)).unwrap();
        prop_assert_eq!(reader.header(), &trace.header);
        prop_assert_eq!(reader.by_ref().collect::<Result<Vec<_>, _>>(), Ok(trace.frames));
    }

    #[test]
    fn reading_never_panics(line in "[{}\\[\\]\",:a-z0-9 ]{0,40}", trace in trace(), place in any::<prop::sample::Index>()) {
        drop((file::read(&line), file::read_frame(&line), file::read_header(&line)));
        let mut bytes = file::write(&trace).into_bytes();
        let at = place.index(bytes.len());
        bytes[at] ^= 4;
        drop(file::read_repaired(bytes));
    }
}

#[test]
fn headers_are_kept_unchanged() {
    let written = |name: &str, value: &str| {
        let headers = vec![(name.to_owned(), value.to_owned())];
        file::write_frame(&Frame::new(Party::Client, Content::Response { status: 200, headers }))
    };
    assert!(written("A", " b ").contains(r#"["A:  b "]"#));
    assert!(written("A", "b: c").contains(r#"["A: b: c"]"#));
    assert!(written("A:b", "c").contains(r#"[["A:b","c"]]"#));
}

/// The page that tells others how to read the format shows every content and every mark, and nothing that is not so.
#[test]
fn the_documented_examples_are_what_we_write() {
    let page = include_str!("../../../../docs/trace.md");
    let mut kinds = Vec::new();
    let mut marks = Vec::new();
    for line in page.lines().filter(|line| line.starts_with('{')) {
        if line.starts_with("{\"trace\"") {
            assert_eq!(file::write_header(&file::read_header(line).unwrap()), line);
            continue;
        }
        let frame = file::read_frame(line).unwrap_or_else(|why| panic!("{why}: {line}"));
        assert_eq!(file::write_frame(&frame), line);
        kinds.push(std::mem::discriminant(&frame.content));
        if let Content::Mark(mark) = frame.content {
            marks.push(mark);
        }
    }
    kinds.dedup();
    assert_eq!(kinds.len(), 12, "every kind of content has one place");
    for kind in MarkKind::ALL {
        assert!(marks.iter().any(|mark| mark.kind() == Some(kind)), "no example of the mark {}", kind.as_str());
    }
    let understood = |mark: &Mark| !matches!(mark, Mark::Unknown(_) | Mark::Stimulus(Stimulus::Unknown(_)));
    assert!(marks.iter().all(understood), "an example is of no mark that we write: {marks:?}");
}

/// The tables of marks and stimuli are those of the declarations.
#[test]
fn the_documented_marks_are_those_that_are_declared() {
    let page = include_str!("../../../../docs/trace.md");
    let row = |declared: Declaration| {
        let writers: Vec<_> = declared.written_by.iter().map(|writer| format!("`{}`", writer.as_str())).collect();
        format!("| `{}` | {} | {} | {} |", declared.name, declared.happened, declared.value, writers.join(", "))
    };
    let tables = [
        MarkKind::ALL.map(|kind| row(kind.declaration())).join("\n"),
        StimulusKind::ALL.map(|kind| row(kind.declaration())).join("\n"),
    ];
    for table in tables {
        assert!(page.contains(&format!("\n{table}\n\n")), "docs/trace.md lacks:\n{table}");
    }
}

//! Importers: defects of real servers as fixtures, the same calls whatever the chunks, and limits.

use proptest::prelude::*;
use serde_json::json;

use super::{Assembler, Format, Unreadable, read};
use crate::call::{Parse, Sample};

/// What a fixture holds: `name(arguments)` of each call, or `!` where its arguments cannot be read.
type Expected = &'static [&'static str];

const OSLO: &str = r#"forecast({"city":"Oslo","days":3})"#;
const ROME: &str = r#"forecast({"city":"Rome"})"#;
const BOTH: Expected = &[OSLO, ROME];

macro_rules! fixtures {
    ($($name:literal: $expected:expr;)*) => {
        const FIXTURES: &[(&str, &[u8], Expected)] =
            &[$(($name, include_bytes!(concat!("../../fixtures/", $name, ".sse")), $expected)),*];
    };
}

fixtures! {
    "responses-interleaved": BOTH;
    "responses-shared-index": BOTH;
    "responses-missing-done": &[OSLO, "forecast!"];
    "responses-cut-before-arguments": &["forecast!"];
    "responses-error": &["forecast!"];
    "responses-only-completed": &[OSLO];
    "responses-empty-delta": &[OSLO];
    "chat-interleaved": BOTH;
    "chat-shared-index": BOTH;
    "chat-all-in-one": BOTH;
    "chat-no-index": BOTH;
    "chat-repeated-identifier": BOTH;
    "chat-placeholder": BOTH;
    "chat-empty-deltas": &[OSLO];
    "chat-missing-done": &[OSLO, "forecast!"];
    "chat-text-before-json": &["forecast!"];
    "chat-legacy": &[OSLO];
    "chat-error": &["forecast!"];
    "chat-choices": BOTH;
    "messages": BOTH;
    "messages-shared-index": BOTH;
    "messages-input-at-start": &[OSLO, "now({})"];
    "messages-cut": &[OSLO, "forecast!"];
    "messages-refusal": &[];
    "messages-error": &["forecast!"];
}

fn shown(samples: &[Sample]) -> Vec<String> {
    let calls = samples.iter().flat_map(|sample| &sample.calls);
    calls
        .map(|call| {
            if call.parse.is_usable() {
                format!("{}({})", call.name, json!(call.arguments))
            } else {
                format!("{}!", call.name)
            }
        })
        .collect()
}

fn in_chunks(bytes: &[u8], cuts: &[usize]) -> Result<Vec<Sample>, Unreadable> {
    let mut assembler = Assembler::default();
    let mut at = 0;
    for cut in cuts.iter().map(|cut| cut % (bytes.len() + 1)).filter(|cut| *cut > 0) {
        let end = (at + cut).min(bytes.len());
        assembler.push(&bytes[at..end])?;
        at = end;
    }
    assembler.push(&bytes[at..])?;
    assembler.finish()
}

fn fixture(name: &str) -> Vec<Sample> {
    let (_, bytes, _) = FIXTURES.iter().find(|(other, ..)| *other == name).unwrap();
    read(bytes, None).unwrap()
}

#[test]
fn defects_of_the_field_are_overcome() {
    for (name, bytes, expected) in FIXTURES {
        let samples = read(bytes, None).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(shown(&samples), *expected, "{name}: {samples:?}");
    }
}

#[test]
fn every_byte_alone_gives_the_same_calls() {
    for (name, bytes, _) in FIXTURES {
        assert_eq!(in_chunks(bytes, &vec![1; bytes.len()]), read(bytes, None), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_chunks_give_the_same_calls(which in 0..FIXTURES.len(), cuts in prop::collection::vec(0..400usize, 0..40), crlf: bool) {
        let (name, bytes, _) = FIXTURES[which];
        let text = String::from_utf8_lossy(bytes);
        let bytes = if crlf { text.replace('\n', "\r\n").into_bytes() } else { bytes.to_vec() };
        prop_assert_eq!(in_chunks(&bytes, &cuts), in_chunks(&bytes, &[]), "{}", name);
    }

    /// A stream that breaks off gives no call that the whole does not have.
    #[test]
    fn a_part_of_a_stream_gives_no_other_call(which in 0..FIXTURES.len(), end in 0..4000usize) {
        let (name, bytes, _) = FIXTURES[which];
        let whole = shown(&read(bytes, None).unwrap());
        let part = in_chunks(&bytes[..end % (bytes.len() + 1)], &[]).unwrap_or_default();
        for call in shown(&part).into_iter().filter(|call| !call.ends_with('!')) {
            // The placeholder before arguments is all that has come of them.
            prop_assert!(whole.contains(&call) || call.ends_with("({})") && name == "chat-placeholder", "{}: {}", name, call);
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for format in Format::ALL {
            let _ = read(&bytes, Some(format));
        }
        let _ = read(&bytes, None);
    }
}

#[test]
fn what_surrounds_calls_is_kept() {
    let sample = &fixture("responses-interleaved")[0];
    assert_eq!((sample.text.as_str(), sample.notes.len()), ("Let me look.", 0));
    assert_eq!((sample.calls[0].id.as_deref(), sample.calls[1].order, sample.calls[1].turn), (Some("call_1"), 1, 0));
    assert_eq!(fixture("messages")[0].text, "Let me look.");
    assert!(fixture("messages-refusal")[0].is_refusal);
    assert_eq!(fixture("chat-choices").len(), 2);
    assert_eq!(fixture("responses-error")[0].broken.as_deref(), Some("server_error: The server had an error"));
    assert_eq!(fixture("chat-error")[0].broken.as_deref(), Some("server_error: overloaded"));
    assert_eq!(fixture("messages-error")[0].broken.as_deref(), Some("overloaded_error: Overloaded"));
    for (name, _, _) in FIXTURES {
        let has_note = fixture(name)[0].notes.iter().any(|note| note.starts_with("the stream ended before"));
        let is_cut = ["responses-missing-done", "responses-cut-before-arguments", "chat-missing-done", "messages-cut"];
        assert_eq!(has_note, is_cut.contains(name) || *name == "chat-error", "{name}");
    }
    let cut = &fixture("responses-missing-done")[0].calls[1];
    assert_eq!(cut.parse, Parse::Truncated);
}

#[test]
fn whole_answers_and_conversations_are_read() {
    let arguments = r#"{"city":"Oslo","days":3}"#;
    let input = json!({ "city": "Oslo", "days": 3 });
    let call = json!({ "type": "function_call", "call_id": "c", "name": "forecast", "arguments": arguments });
    let tool = json!({ "id": "c", "type": "function", "function": { "name": "forecast", "arguments": arguments } });
    let used = json!({ "type": "tool_use", "id": "c", "name": "forecast", "input": input });
    let assistant = |content| json!({ "role": "assistant", "content": content });
    for (answer, turns) in [
        (json!({ "object": "response", "status": "completed", "output": [{ "type": "reasoning" }, call] }), vec![0]),
        (
            json!([{ "role": "user", "content": "?" }, call, { "type": "function_call_output", "call_id": "c" }, call]),
            vec![0, 1],
        ),
        (json!({ "choices": [{ "index": 0, "message": { "role": "assistant", "tool_calls": [tool] } }] }), vec![0]),
        (
            json!({ "messages": [assistant(json!(null)), { "role": "assistant", "tool_calls": [tool, tool] }, { "role": "tool" }, { "role": "assistant", "tool_calls": [tool] }] }),
            vec![0, 0, 1],
        ),
        (json!({ "type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [used] }), vec![0]),
        (
            json!([assistant(json!([used, used])), { "role": "user", "content": [{ "type": "tool_result" }] }, assistant(json!([used]))]),
            vec![0, 0, 1],
        ),
        (json!({ "case": "a", "calls": [{ "name": "forecast", "arguments": input, "turn": 2 }] }), vec![2]),
        (json!({ "custom_id": "a", "response": { "status_code": 200, "body": { "output": [call] } } }), vec![0]),
        (json!({ "custom_id": "a", "result": { "type": "succeeded", "message": assistant(json!([used])) } }), vec![0]),
        (json!({ "id": "a", "result": [{ "forecast": arguments }] }), vec![0]),
        (json!({ "id": "a", "result": "[forecast(city='Oslo', days=3)]" }), vec![0]),
    ] {
        let samples = read(answer.to_string().as_bytes(), None).unwrap_or_else(|error| panic!("{answer}: {error}"));
        assert_eq!(samples.len(), 1, "{answer}");
        assert_eq!(shown(&samples), vec![OSLO; turns.len()], "{answer}");
        assert_eq!(samples[0].calls.iter().map(|call| call.turn).collect::<Vec<_>>(), turns, "{answer}");
    }
}

#[test]
fn errors_and_refusals_of_lines_are_told_apart() {
    let lines = [
        json!({ "case": "a", "calls": [], "text": "hello" }),
        json!({ "case": "b", "calls": [], "refused": true }),
        json!({ "custom_id": "c", "response": null, "error": { "message": "expired" } }),
        json!({ "custom_id": "d", "result": { "type": "errored", "error": { "message": "too long" } } }),
        json!({ "case": "e", "stream": String::from_utf8_lossy(FIXTURES[0].1) }),
        json!({ "id": "f", "result": "I cannot help." }),
    ];
    let text = lines.map(|line| line.to_string()).join("\n\n");
    let samples = read(text.as_bytes(), None).unwrap();
    let names: String = samples.iter().filter_map(|sample| sample.case.as_deref()).collect();
    assert_eq!(names, "abcdef");
    assert_eq!((samples[0].text.as_str(), samples[1].is_refusal), ("hello", true));
    assert_eq!((samples[2].broken.as_deref(), samples[3].broken.as_deref()), (Some("expired"), Some("too long")));
    assert_eq!((samples[4].calls.len(), samples[5].text.as_str()), (2, "I cannot help."));
}

#[test]
fn traces_and_spans_are_read() {
    let call = |id: i64, city: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"forecast","arguments":{{"city":"{city}"}}}}}}"#
        )
    };
    let line = |from: &str, message: &str| format!(r#"{{"at":1,"from":"{from}","line":{message}}}"#);
    let header =
        r#"{"trace":"proof.trace/1","subject":"server","transport":"stdio","revision":"2025-11-25","case":"recorded"}"#;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
    let lines = [
        header.to_owned(),
        line("client", &call(1, "Oslo")),
        line("client", &call(2, "Rome")),
        line("server", answer),
        line("client", &call(3, "Oslo")),
    ];
    let samples = read(lines.join("\n").as_bytes(), None).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(samples[0].calls.iter().map(|call| call.turn).collect::<Vec<_>>(), [0, 0, 1]);
    let attribute = |key: &str, value: &str| json!({ "key": key, "value": { "stringValue": value } });
    let span = |name: &str, start: &str, end: &str| {
        json!({ "traceId": "t1", "startTimeUnixNano": start, "endTimeUnixNano": end, "attributes": [
        attribute("gen_ai.operation.name", "execute_tool"), attribute("gen_ai.tool.name", name),
        { "key": "gen_ai.tool.call.arguments", "value": { "kvlistValue": { "values": [{ "key": "n", "value": { "intValue": "7" } }] } } }] })
    };
    let chat = json!({ "traceId": "t1", "attributes": [attribute("gen_ai.operation.name", "chat")] });
    let spans = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [span("b", "20", "30"), chat, span("a", "5", "10")] }] }] });
    let samples = read(spans.to_string().as_bytes(), None).unwrap();
    assert_eq!(
        (samples[0].case.as_deref(), shown(&samples)),
        (Some("t1"), vec![r#"a({"n":7})"#.to_owned(), r#"b({"n":7})"#.to_owned()])
    );
    assert_eq!(samples[0].calls[1].turn, 1);
}

#[test]
fn what_is_no_answer_is_refused_with_its_line() {
    for (text, line) in [
        ("", None),
        ("hello", Some(1)),
        ("{}", None),
        ("[]", None),
        ("data: {}\n\n", None),
        ("{\"case\":\"a\",\"calls\":[]}\n{\"case\":", Some(2)),
    ] {
        let error = read(text.as_bytes(), None).err();
        if text.is_empty() {
            assert!(error.is_none() && read(b"", None).unwrap().is_empty());
            continue;
        }
        let error = error.unwrap_or_else(|| panic!("{text}: read"));
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(!error.remedy.is_empty());
    }
    let many = json!({ "calls": vec![json!({ "name": "f" }); 5000] });
    assert!(read(many.to_string().as_bytes(), None).unwrap_err().what.contains("4096"));
}

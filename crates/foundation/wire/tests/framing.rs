//! However a stream is cut into chunks, the frames are the same, and nothing of it is lost.

mod cases;

use proptest::collection::vec;
use proptest::prelude::*;
use wire::framing::Piece;
use wire::framing::lines::Lines;
use wire::framing::sse::{Block, Blocks, EventEnd, open_data};

#[derive(Clone, Debug, PartialEq)]
enum Found {
    Whole(Vec<u8>),
    TooLong(Vec<u8>),
    Rest(Vec<u8>),
}

fn own(piece: Piece<'_>) -> Found {
    match piece {
        Piece::Whole(bytes) => Found::Whole(bytes.to_vec()),
        Piece::TooLong(bytes) => Found::TooLong(bytes.to_vec()),
        Piece::Rest(bytes) => Found::Rest(bytes.to_vec()),
    }
}

fn lines<'c>(chunks: impl Iterator<Item = &'c [u8]>, limit: usize) -> Vec<Found> {
    let mut lines = Lines::new(limit);
    let mut found = Vec::new();
    for chunk in chunks {
        lines.push(chunk);
        while let Some(piece) = lines.next_line() {
            found.push(own(piece));
        }
    }
    found.extend(lines.finish().map(own));
    found
}

fn blocks<'c>(chunks: impl Iterator<Item = &'c [u8]>, limit: usize) -> Vec<Found> {
    let mut blocks = Blocks::new(limit);
    let mut found = Vec::new();
    for chunk in chunks {
        blocks.push(chunk);
        while let Some(piece) = blocks.next_block() {
            found.push(own(piece));
        }
    }
    found.extend(blocks.finish().map(own));
    found
}

/// Cuts `bytes` into chunks whose lengths are `lengths`, over and over; empty ones among them.
fn chunks<'b>(bytes: &'b [u8], lengths: &'b [usize]) -> impl Iterator<Item = &'b [u8]> {
    let mut rest = bytes;
    let mut lengths = lengths.iter().chain([&1]).cycle();
    std::iter::from_fn(move || {
        let (chunk, after) = rest.split_at((*lengths.next()?).min(rest.len()));
        let more = !rest.is_empty();
        rest = after;
        more.then_some(chunk)
    })
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let line_end = prop_oneof![Just(&b"\n"[..]), Just(&b"\r"[..]), Just(&b"\r\n"[..])];
    let known = prop_oneof![
        Just(&b"data: x"[..]),
        Just(&b"data"[..]),
        Just(&b"event:ping"[..]),
        Just(&b"id: 7\0"[..]),
        Just(&b": hm"[..]),
        Just(&b"\xef\xbb\xbf"[..]),
        Just(&b"\xef\xbb"[..]),
    ];
    let piece = prop_oneof![
        4 => line_end.prop_map(<[u8]>::to_vec),
        2 => known.prop_map(<[u8]>::to_vec),
        1 => vec(any::<u8>(), 0..6),
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn lengths() -> impl Strategy<Value = Vec<usize>> {
    vec(0_usize..9, 0..9)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases::at_least(1500), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lines_do_not_depend_on_chunks(bytes in bytes(), lengths in lengths(), limit in 0_usize..12) {
        prop_assert_eq!(lines(chunks(&bytes, &lengths), limit), lines([&bytes[..]].into_iter(), limit));
    }

    #[test]
    fn blocks_do_not_depend_on_chunks(bytes in bytes(), lengths in lengths(), limit in 0_usize..40) {
        prop_assert_eq!(blocks(chunks(&bytes, &lengths), limit), blocks([&bytes[..]].into_iter(), limit));
    }

    #[test]
    fn lines_lose_nothing(bytes in bytes(), lengths in lengths()) {
        let mut joined = Vec::new();
        for found in lines(chunks(&bytes, &lengths), usize::MAX) {
            match found {
                Found::Whole(line) => {
                    prop_assert!(!line.contains(&b'\n'));
                    joined.extend(line);
                    joined.push(b'\n');
                }
                Found::Rest(rest) => joined.extend(rest),
                Found::TooLong(_) => prop_assert!(false, "nothing is too long"),
            }
        }
        prop_assert_eq!(joined, bytes);
    }

    #[test]
    fn blocks_lose_nothing(bytes in bytes(), lengths in lengths()) {
        let mut joined = Vec::new();
        for found in blocks(chunks(&bytes, &lengths), usize::MAX) {
            match found {
                Found::Whole(bytes) | Found::Rest(bytes) => joined.extend(bytes),
                Found::TooLong(_) => prop_assert!(false, "nothing is too long"),
            }
        }
        prop_assert_eq!(joined, bytes);
    }

    #[test]
    fn the_limit_decides_what_is_too_long(bytes in bytes(), limit in 5_usize..20) {
        let told = |found: Found| match found {
            Found::Whole(bytes) | Found::Rest(bytes) if bytes.len() > limit => Found::TooLong(bytes[..limit].to_vec()),
            found => found,
        };
        let one = || [&bytes[..]].into_iter();
        let expected: Vec<_> = lines(one(), usize::MAX).into_iter().map(told).collect();
        prop_assert_eq!(lines(one(), limit), expected);
        let expected: Vec<_> = blocks(one(), usize::MAX).into_iter().map(told).collect();
        prop_assert_eq!(blocks(one(), limit), expected);
    }

    #[test]
    fn events_are_those_of_the_standard(bytes in bytes(), mark in any::<bool>(), lengths in lengths()) {
        // What a mark spoils further on, the block only tells.
        let text = String::from_utf8_lossy(&bytes).replace('\u{feff}', "");
        let stream = format!("{}{text}", if mark { "\u{feff}" } else { "" });
        let mut events = Vec::new();
        for found in blocks(chunks(stream.as_bytes(), &lengths), usize::MAX) {
            let Found::Whole(block) = found else { continue };
            let block = Block::parse(&block);
            if let Some(data) = block.data {
                events.push((block.event.filter(|e| !e.is_empty()), data));
            }
        }
        prop_assert_eq!(events, dispatched(&text));
    }

    #[test]
    fn a_rendered_block_reads_back(
        id in proptest::option::of("[a: \0\r\n]{0,4}"),
        event in proptest::option::of("[a: \r\n]{0,4}"),
        retry in proptest::option::of("[0-9\r\n]{0,3}"),
        data in proptest::option::of("[a: \r\n\u{feff}é]{0,8}"),
        comments in vec("[a: \r\n]{0,4}", 0..3),
    ) {
        let block = Block { bom: false, id, event, retry, data, comments };
        let text = block.render();
        prop_assert_eq!(blocks([text.as_bytes()].into_iter(), usize::MAX), vec![Found::Whole(text.clone().into_bytes())]);
        let one_line = |value: Option<String>| value.map(|v| v.replace(['\r', '\n'], ""));
        let lines = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
        let expected = Block {
            bom: false,
            id: one_line(block.id).map(|id| id.replace('\0', "")),
            event: one_line(block.event),
            retry: one_line(block.retry),
            data: block.data.map(|data| lines(&data)),
            comments: block.comments.iter().flat_map(|c| lines(c).split('\n').map(str::to_owned).collect::<Vec<_>>()).collect(),
        };
        prop_assert_eq!(Block::parse(text.as_bytes()), expected);
    }
}

/// The events of a whole stream, read line by line as the standard words it; no code in common with the crate's.
fn dispatched(text: &str) -> Vec<(Option<String>, String)> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut events = Vec::new();
    let (mut event, mut data) = (String::new(), String::new());
    let mut lines: Vec<&str> = text.split('\n').collect();
    lines.pop();
    for line in lines {
        if line.is_empty() {
            if let Some(data) = data.strip_suffix('\n') {
                events.push((Some(event.clone()).filter(|e| !e.is_empty()), data.to_owned()));
            }
            event.clear();
            data.clear();
        } else if let Some(colon) = line.find(':') {
            let value = &line[colon + 1..];
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &line[..colon] {
                "event" => value.clone_into(&mut event),
                "data" => data.extend([value, "\n"]),
                _ => {}
            }
        } else if line == "data" {
            data.push('\n');
        } else if line == "event" {
            event.clear();
        }
    }
    events
}

#[test]
fn a_byte_order_mark_is_dropped_at_the_start_only() {
    let stream = "\u{feff}data: a\n\n\u{feff}data: b\n\n";
    let found = blocks([stream.as_bytes()].into_iter(), usize::MAX);
    let marks: Vec<bool> = found
        .iter()
        .map(|f| match f {
            Found::Whole(block) => Block::parse(block).bom,
            _ => panic!("{f:?}"),
        })
        .collect();
    assert_eq!(marks, [true, true]);
}

/// The work must be linear: a megabyte that comes byte by byte, and a flood of tiny lines in one chunk.
#[test]
fn a_megabyte_is_redacted_quickly() {
    let long = vec![b'x'; 1 << 20];
    assert_eq!(lines(long.chunks(1), usize::MAX).len(), 1);
    assert_eq!(blocks(long.chunks(1), usize::MAX).len(), 1);
    let many = b"\n".repeat(1 << 18);
    assert_eq!(lines([&many[..]].into_iter(), 10).len(), 1 << 18);
    assert_eq!(blocks([&many[..]].into_iter(), 10).len(), 1 << 18);
}

/// Where the first blank line of `text` ends, read at once: an LF after its CR is not part of it.
fn event_end(text: &str) -> Option<usize> {
    let mut start = 0;
    while let Some(found) = text[start..].find(['\n', '\r']) {
        let end = start + found;
        if found == 0 {
            return Some(end + 1);
        }
        start = if text[end..].starts_with("\r\n") { end + 2 } else { end + 1 };
    }
    None
}

proptest! {
    #[test]
    fn the_end_of_an_event_is_found_however_it_is_cut(text in "[a:\n\r]{0,24}", cuts in vec(0_usize..24, 0..6)) {
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let mut event = EventEnd::default();
        let pieces = cuts.windows(2).map(|pair| (pair[0], &text.as_bytes()[pair[0]..pair[1]]));
        let found = pieces.into_iter().find_map(|(start, piece)| Some(start + event.find(piece)?));
        prop_assert_eq!(found, event_end(&text), "{:?} cut at {:?}", text, cuts);
    }
}

#[test]
fn the_beginning_of_an_event_tells_its_data() {
    for (block, data) in [
        ("data: {\"a", Some("{\"a")),
        ("data:{\"a\n", Some("{\"a")),
        (": hello\r\nid: 7\nevent: message\r\ndata: x", Some("x")),
        ("event: endpoint\ndata: x", None),
        ("retry: 5\ndata: x", None),
        ("\u{feff}data: x", None),
        ("id: 7", None),
        ("dat", None),
    ] {
        assert_eq!(open_data(block.as_bytes()), data.map(str::as_bytes), "{block:?}");
    }
}

//! The event stream reader: chunks do not matter, no byte is lost, and what it finds is what a reader written from the
//! standard's text, line by line, finds in the whole stream.
#![no_main]

use fuzz::{Chunks, bounded};
use libfuzzer_sys::fuzz_target;
use wire::framing::Piece;
use wire::framing::sse::{Block, Blocks};

fuzz_target!(|input: &[u8]| {
    let Some((chunks, limit, bytes)) = Chunks::split(input) else { return };
    // What is collected here to compare, a dozen small vectors for each empty line, is most of it.
    bounded(1024 * bytes.len() + (64 << 10), || {
        let (apart, whole) = (read(&chunks, usize::from(limit), bytes), read(&Chunks::ONE, usize::from(limit), bytes));
        assert_eq!(apart, whole, "chunks matter");
        let all = read(&chunks, usize::MAX, bytes);
        assert_eq!(all.iter().flat_map(|(_, bytes)| bytes).copied().collect::<Vec<u8>>(), bytes, "bytes were lost");
        fields(&all, bytes);
    });
});

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Whole,
    TooLong,
    Rest,
}

fn read(chunks: &Chunks, limit: usize, bytes: &[u8]) -> Vec<(Kind, Vec<u8>)> {
    let owned = |piece: Piece<'_>| match piece {
        Piece::Whole(bytes) => (Kind::Whole, bytes.to_vec()),
        Piece::TooLong(bytes) => (Kind::TooLong, bytes.to_vec()),
        Piece::Rest(bytes) => (Kind::Rest, bytes.to_vec()),
    };
    let mut blocks = Blocks::new(limit);
    let mut found = Vec::new();
    for chunk in chunks.of(bytes) {
        blocks.push(chunk);
        while let Some(piece) = blocks.next_block() {
            found.push(owned(piece));
        }
    }
    found.extend(blocks.finish().map(owned));
    found
}

fn fields(found: &[(Kind, Vec<u8>)], bytes: &[u8]) {
    let whole = found.iter().filter(|(kind, _)| *kind == Kind::Whole);
    let blocks: Vec<Block> = whole.map(|(_, bytes)| Block::parse(bytes)).collect();
    for block in &blocks {
        assert_eq!(Block::parse(block.render().as_bytes()), *block, "written and read again");
        let _ = (block.retry_ms(), block.is_message());
    }
    // A mark inside the stream is told as a mark, where the standard sees an unknown field.
    if blocks.iter().skip(1).all(|block| !block.bom) {
        let dispatched = blocks.iter().filter(|block| block.data.is_some());
        let ours: Vec<_> = dispatched.map(|block| (block.event.clone(), block.data.clone())).collect();
        assert_eq!(ours, standard(bytes));
    }
}

/// Every event that has data, read the slow way.
fn standard(bytes: &[u8]) -> Vec<(Option<String>, Option<String>)> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<&str> = text.strip_prefix('\u{feff}').unwrap_or(&text).split('\n').collect();
    // Not ended, so not read.
    lines.pop();
    let (mut events, mut event, mut data) = (Vec::new(), None, None);
    for line in lines {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "" if line.is_empty() => {
                let (event, data) = (event.take(), data.take());
                if data.is_some() {
                    events.push((event, data));
                }
            }
            "event" => event = Some(value.to_owned()),
            "data" => match &mut data {
                Some(data) => *data = format!("{data}\n{value}"),
                None => data = Some(value.to_owned()),
            },
            _ => {}
        }
    }
    events
}

//! The line reader: however a stream is cut into chunks, its lines are those that a split at every line feed gives.
#![no_main]

use fuzz::{Chunks, bounded};
use libfuzzer_sys::fuzz_target;
use wire::framing::Piece;
use wire::framing::lines::Lines;

fuzz_target!(|input: &[u8]| {
    let Some((chunks, limit, bytes)) = Chunks::split(input) else { return };
    let limit = usize::from(limit);
    // Mostly what was found, which is written down twice.
    bounded(256 * bytes.len() + (64 << 10), || assert_eq!(read(&chunks, limit, bytes), expected(limit, bytes)));
});

#[derive(Debug, PartialEq)]
enum Found {
    Whole(Vec<u8>),
    TooLong(Vec<u8>),
    Rest(Vec<u8>),
}

fn read(chunks: &Chunks, limit: usize, bytes: &[u8]) -> Vec<Found> {
    let owned = |piece: Piece<'_>| match piece {
        Piece::Whole(bytes) => Found::Whole(bytes.to_vec()),
        Piece::TooLong(bytes) => Found::TooLong(bytes.to_vec()),
        Piece::Rest(bytes) => Found::Rest(bytes.to_vec()),
    };
    let mut lines = Lines::new(limit);
    let mut found = Vec::new();
    for chunk in chunks.of(bytes) {
        lines.push(chunk);
        while let Some(piece) = lines.next_line() {
            found.push(owned(piece));
        }
    }
    found.extend(lines.finish().map(owned));
    found
}

/// What the documentation of [`Lines`] promises, told with the whole stream in hand.
fn expected(limit: usize, bytes: &[u8]) -> Vec<Found> {
    let mut lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
    let rest = lines.pop().unwrap_or_default();
    let told = |line: &[u8], whole: fn(Vec<u8>) -> Found| match line.get(..limit) {
        Some(head) if line.len() > limit => Found::TooLong(head.to_vec()),
        _ => whole(line.to_vec()),
    };
    let mut found: Vec<Found> = lines.into_iter().map(|line| told(line, Found::Whole)).collect();
    if !rest.is_empty() {
        found.push(told(rest, Found::Rest));
    }
    found
}

//! Damage to bytes and to traces, drawn from a seed: the same seed does the same damage. Knows nothing of what ought to
//! become of it.

use std::ops::Range;

use wire::json::{Token, Tokens};

/// Text that breaks naive readers: of escapes, numbers, nesting, framing, and of the words that rules look for.
const WORDS: &[&str] = &[
    "null",
    "true",
    "-1",
    "0",
    "1e400",
    "-0.0",
    "18446744073709551616",
    "9007199254740993",
    "1.5",
    "\"\"",
    "\"é\"",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "\"日本語\"",
    "\"…\"",
    "\" \"",
    "[]",
    "{}",
    "[[[[]]]]",
    "{\"\":{}}",
    "[null]",
    "\"2025-11-25\"",
    "\"2026-07-28\"",
    "\"9999-99-99\"",
    "\"=?base64?w6k=?=\"",
    "\"=?base64?????=\"",
    "{\"code\":-32601,\"message\":\"\"}",
    "{\"$ref\":\"#\"}",
    "{\"type\":[\"string\",1]}",
    "{\"tools\":null}",
    "\"http://[\"",
    "\"file:///%ff\"",
    "\"a/b/%\"",
    "\"~1~0~\"",
    "\"text/é\"",
    "\"Bearer é\"",
    "\"00-00-00-é\"",
    "\"00-é0000000000000000000000000000-0000000000000000-00\"",
    "99999999999999999999999999",
    "-32601",
    "4294967296",
    "\"\u{202e}\"",
    "\"\u{feff}\"",
];

/// Bytes that mean something to framing.
const BYTES: &[&[u8]] = &[
    b"\n",
    b"\r\n",
    b"\r",
    b"\n\n",
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xf0\x9f",
    b"\xef\xbb\xbf",
    b"\"",
    b"\\",
    b"\\u",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"data:",
    b"id:",
    b"event:",
    b"retry:",
    b"{\"jsonrpc\":\"2.0\",",
    b"Bearer ",
    b"Authorization: ",
    b"-----BEGIN",
    b"=?base64?",
];

/// A stream of numbers from a seed (splitmix64).
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 where there is none.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub(crate) fn pick<'t, T: ?Sized>(&mut self, from: &[&'t T]) -> &'t T {
        from[self.below(from.len())]
    }
}

/// Damages bytes anywhere: flips bits, cuts, repeats, splices with `other`, puts in what means something.
pub(crate) fn bytes(rng: &mut Rng, input: &[u8], other: &[u8]) -> Vec<u8> {
    let mut out = input.to_vec();
    for _ in 0..=rng.below(4) {
        let at = rng.below(out.len() + 1);
        let end = at + rng.below((out.len() - at).min(64) + 1);
        match rng.below(6) {
            0 if at < out.len() => out[at] ^= 1 << rng.below(8),
            1 => drop(out.drain(at..end)),
            2 => {
                let again = out[at..end].repeat(1 + rng.below(20));
                out.splice(at..at, again);
            }
            3 => {
                let from = rng.below(other.len() + 1);
                out.truncate(at);
                out.extend_from_slice(&other[from..]);
            }
            4 => drop(out.splice(at..at, rng.pick(BYTES).iter().copied())),
            _ => drop(out.splice(at..end, rng.pick(WORDS).bytes())),
        }
    }
    out
}

/// Damages a trace's text so that most of it still reads: lines are swapped, repeated, dropped or taken from `other`, and
/// values within them exchanged.
pub(crate) fn trace(rng: &mut Rng, input: &str, other: &str) -> String {
    let mut lines: Vec<String> = input.lines().map(str::to_owned).collect();
    let foreign: Vec<&str> = other.lines().skip(1).collect();
    for _ in 0..=rng.below(5) {
        // The header is left alone most of the time: without one there is no trace.
        let at = if rng.below(12) == 0 { 0 } else { 1 + rng.below(lines.len().saturating_sub(1)) };
        let Some(line) = lines.get(at) else { continue };
        match rng.below(8) {
            0 if at > 0 => drop(lines.remove(at)),
            1 if at > 0 => lines.insert(at, line.clone()),
            2 if at > 0 => {
                let to = 1 + rng.below(lines.len() - 1);
                lines.swap(at, to);
            }
            3 if !foreign.is_empty() => lines.insert(at.max(1), rng.pick(&foreign).to_owned()),
            _ => lines[at] = value(rng, line),
        }
    }
    lines.join("\n") + "\n"
}

/// Exchanges one value of a JSON text for another of its own, or for something odd; or a name for another name.
fn value(rng: &mut Rng, line: &str) -> String {
    let (names, values) = spans(line);
    let (from, odd) = if rng.below(6) == 0 { (&names, "\"\"") } else { (&values, rng.pick(WORDS)) };
    if from.is_empty() {
        return line.to_owned();
    }
    let span = &from[rng.below(from.len())];
    let new = if rng.below(3) == 0 { &line[from[rng.below(from.len())].clone()] } else { odd };
    format!("{}{new}{}", &line[..span.start], &line[span.end..])
}

/// The spans of all names and of all values of a JSON text.
fn spans(text: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (mut names, mut values, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let mut tokens = Tokens::new(text);
    while let Ok(Some((token, span))) = tokens.next_token() {
        match token {
            Token::ObjectStart | Token::ArrayStart => open.push(span.start),
            Token::ObjectEnd | Token::ArrayEnd => values.extend(open.pop().map(|start| start..span.end)),
            Token::Name => names.push(span),
            _ => values.push(span),
        }
    }
    (names, values)
}

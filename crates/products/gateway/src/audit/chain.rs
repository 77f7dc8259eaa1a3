//! The lines of an audit log: each holds the hash of the line before it and of itself, so that a line
//! that is changed, removed or inserted is found. Knows no file.

use std::fmt;
use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::ids::hex;

/// What stands before the hash of a line, which is made of all bytes before it.
const HASH: &str = r#","hash":""#;
/// The hash before the first line.
const BEGINNING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A place in a log: the number of a line, and its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// How many lines there were before it.
    pub number: u64,
    /// In hexadecimal.
    pub hash: String,
}

/// Why a line is not the next one of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It is no line of a log, or is not complete.
    Form,
    /// Its own hash does not fit: it has been changed.
    Changed,
    /// It does not follow the line before it: one is missing, was put in, or stands elsewhere.
    Order,
    /// Its signature is not one by the given key.
    Signature,
    /// More lines than a gateway leaves unsigned have no signature.
    Unsigned,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "the line is not one of an audit log, or is not complete",
            Self::Changed => "the line was changed: its hash does not fit",
            Self::Order => "the line does not follow the one before it: lines were removed, inserted or moved",
            Self::Signature => "the signature is not one by the given key",
            Self::Unsigned => "more lines than a gateway leaves unsigned have no signature",
        })
    }
}

/// The next line, without its line end, and its place. `members` are the members of a JSON object with plain names, and
/// the texts of their values; neither `number`, `before` nor `hash`.
pub fn line(before: Option<&Link>, members: &[(&str, String)]) -> (String, Link) {
    let number = before.map_or(0, |before| before.number + 1);
    let last = before.map_or(BEGINNING, |before| &before.hash);
    let length: usize = members.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    let mut text = String::with_capacity(length + 256);
    let _ = write!(text, r#"{{"number":{number},"before":"{last}""#);
    for (name, value) in members {
        text.push_str(",\"");
        text.push_str(name);
        text.push_str("\":");
        text.push_str(value);
    }
    let hash = hash(text.as_bytes());
    text.push_str(HASH);
    text.push_str(&hash);
    text.push_str("\"}");
    (text, Link { number, hash })
}

/// Reads a line, without its line end: its members and its place. `before` is the line before it; without one, any line may be
/// the first.
pub fn read(text: &[u8], before: Option<&Link>) -> Result<(Value, Link), Flaw> {
    let text = std::str::from_utf8(text).map_err(|_| Flaw::Form)?;
    let (hashed, rest) = text.rsplit_once(HASH).ok_or(Flaw::Form)?;
    let stated = rest.strip_suffix("\"}").ok_or(Flaw::Form)?;
    if stated != hash(hashed.as_bytes()) {
        return Err(Flaw::Changed);
    }
    let members: Value = serde_json::from_str(text).map_err(|_| Flaw::Form)?;
    let number = members.get("number").and_then(Value::as_u64).ok_or(Flaw::Form)?;
    let last = members.get("before").and_then(Value::as_str).ok_or(Flaw::Form)?;
    let follows = match before {
        Some(before) => before.number.checked_add(1) == Some(number) && last == before.hash,
        None => number > 0 || last == BEGINNING,
    };
    if !follows {
        return Err(Flaw::Order);
    }
    let link = Link { number, hash: stated.to_owned() };
    Ok((members, link))
}

/// SHA-256 in hexadecimal.
fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::{Flaw, Link, line, read};

    /// A log of these many lines.
    fn log(count: u64) -> Vec<String> {
        let mut before = None::<Link>;
        (0..count)
            .map(|index| {
                let (text, link) =
                    line(before.as_ref(), &[("kind", "\"request\"".to_owned()), ("name", index.to_string())]);
                before = Some(link);
                text
            })
            .collect()
    }

    /// What is wrong with a log; the index of the line.
    fn flaw<T: AsRef<[u8]>>(lines: &[T]) -> Option<(usize, Flaw)> {
        let mut before = None;
        for (index, text) in lines.iter().enumerate() {
            match read(text.as_ref(), before.as_ref()) {
                Ok((_, link)) => before = Some(link),
                Err(flaw) => return Some((index, flaw)),
            }
        }
        None
    }

    #[test]
    fn a_log_is_read_as_it_was_written() {
        let lines = log(5);
        assert_eq!(flaw(&lines), None);
        let (members, link) = read(lines[0].as_bytes(), None).expect("a line");
        assert_eq!((members["name"].clone(), link.number), (json!(0), 0));
        // A log whose oldest files are gone begins later.
        assert_eq!(flaw(&lines[2..]), None);
    }

    #[test]
    fn lines_that_are_missing_new_or_moved_are_found() {
        let lines = log(5);
        let without = [&lines[..2], &lines[3..]].concat();
        assert_eq!(flaw(&without), Some((2, Flaw::Order)));
        let twice = [&lines[..2], &lines[1..]].concat();
        assert_eq!(flaw(&twice), Some((2, Flaw::Order)));
        let mut moved = lines.clone();
        moved.swap(2, 3);
        assert_eq!(flaw(&moved), Some((2, Flaw::Order)));
        let forged = line(None, &[("kind", "null".to_owned())]).0.replace("\"number\":0", "\"number\":1");
        assert_eq!(flaw(&[&lines[..1], &[forged]].concat()), Some((1, Flaw::Changed)));
    }

    proptest! {
        /// Whichever bit of a log is another one, a line of it is refused.
        #[test]
        fn every_changed_bit_is_found(count in 1_u64..6, at in any::<prop::sample::Index>(), bit in 0_u8..8) {
            let mut bytes = log(count).join("\n").into_bytes();
            bytes.push(b'\n');
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            let (last, lines) = match bytes.split_last() {
                Some((b'\n', lines)) => (None, lines),
                _ => (Some(()), &bytes[..]),
            };
            let lines: Vec<_> = lines.split(|byte| *byte == b'\n').collect();
            prop_assert!(flaw(&lines).is_some() || last.is_some(), "{}", String::from_utf8_lossy(&bytes));
        }
    }
}

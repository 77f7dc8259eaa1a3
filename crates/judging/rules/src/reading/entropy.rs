//! How hard an id is to guess, as far as ids alone can tell: how much choice there is, and how much of it was used.

/// The fewest bits of choice that an id must offer at best to pass for hard to guess. Random UUIDs have 122.
const FEWEST_BITS: usize = 64;

/// The fewest bits within which two ids of one server may differ.
const FEWEST_FRESH_BITS: usize = 32;

/// Why `id` can be guessed, alone or from `others`, if it can. `others` have an event each, to be named by.
pub(crate) fn guessable<'i>(id: &str, others: impl IntoIterator<Item = (usize, &'i str)>) -> Option<String> {
    let characters = id.bytes().filter(|b| *b != b'-').count();
    if bits(id, characters) < FEWEST_BITS {
        return Some(format!("{characters} characters leave fewer than {FEWEST_BITS} bits to guess"));
    }
    let near = |other: &str| bits(id, fresh_characters(other, id)) < FEWEST_FRESH_BITS;
    let (event, _) = others.into_iter().find(|(_, other)| near(other))?;
    Some(format!("differs in a few characters only from the id assigned in event {event}"))
}

/// The bits that one character of `id` can carry at most, by the alphabet that it seems to be of.
fn bits_per_character(id: &str) -> f64 {
    let all = |kind: fn(&u8) -> bool| id.bytes().all(|b| b == b'-' || kind(&b));
    if all(u8::is_ascii_digit) {
        10f64.log2()
    } else if all(u8::is_ascii_hexdigit) {
        4.0
    } else {
        94f64.log2()
    }
}

fn bits(id: &str, characters: usize) -> usize {
    (bits_per_character(id) * characters as f64) as usize
}

/// How many characters lie between the first and the last that tell two ids apart; the longer length where that differs.
fn fresh_characters(one: &str, other: &str) -> usize {
    if one.len() != other.len() {
        return one.len().max(other.len());
    }
    let apart: Vec<usize> =
        one.bytes().zip(other.bytes()).enumerate().filter(|(_, (a, b))| a != b).map(|(i, _)| i).collect();
    match (apart.first(), apart.last()) {
        (Some(first), Some(last)) => last - first + 1,
        _ => one.len(),
    }
}

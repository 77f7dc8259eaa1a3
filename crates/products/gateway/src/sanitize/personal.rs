//! Finds personal data in running text: by checksums where there are any. Pure.

use std::ops::Range;

use guard::invisible::has_byte;

use super::reading::Reading;
use crate::settings::Personal;

/// The most separators in a row between groups of one number.
const GAP: usize = 3;
/// The longest name in quotes before an `@`.
const QUOTED: usize = 64;

/// The text with masks in place of personal data; `None` where it has none.
pub(super) fn masked(text: &str, kinds: &[Personal]) -> Option<String> {
    let may_be = |byte: u8| byte.is_ascii_digit() || !byte.is_ascii() || matches!(byte, b'@' | b'&');
    if kinds.is_empty() || !has_byte(text, may_be) {
        return None;
    }
    // First as it stands: what it means may run together with what stands next to it.
    let plain = replaced(text, &Reading::plain(text), kinds);
    let so_far = plain.as_deref().unwrap_or(text);
    let decoded = Reading::decoded(so_far).and_then(|reading| replaced(so_far, &reading, kinds));
    decoded.or(plain)
}

fn replaced(text: &str, Reading { chars, starts }: &Reading, kinds: &[Personal]) -> Option<String> {
    let (mut out, mut from, mut index) = (String::new(), 0, 0);
    // Nothing after the last one is an address.
    let addresses = chars.iter().rposition(|c| *c == '@').unwrap_or_default();
    let fits = |kind: Personal, index: usize| kind != Personal::Email || index < addresses;
    while index < chars.len() {
        let mut kinds = kinds.iter().filter(|kind| fits(**kind, index));
        let Some((kind, span)) = kinds.find_map(|kind| Some((*kind, find(*kind, chars, index)?))) else {
            index += 1;
            continue;
        };
        let byte = |index: usize| starts.get(index).copied().unwrap_or(text.len());
        out.push_str(text.get(from..byte(span.start)).unwrap_or_default());
        out.push_str(kind.mask());
        (from, index) = (byte(span.end), span.end);
    }
    out.push_str(text.get(from..).unwrap_or_default());
    (from > 0).then_some(out)
}

/// What begins at `index`, where nothing precedes that it would be a part of.
fn find(kind: Personal, chars: &[char], index: usize) -> Option<Range<usize>> {
    let before = index.checked_sub(1).and_then(|before| chars.get(before)).copied();
    let is_named = |name: &str| {
        let begin = index.checked_sub(name.len()).and_then(|begin| chars.get(begin..index));
        begin.is_some_and(|begin| name.chars().eq(begin.iter().map(char::to_ascii_uppercase)))
    };
    // What only few characters can begin is asked first.
    let first = *chars.get(index)?;
    match kind {
        Personal::Phone if first != '+' => None,
        Personal::Card if !first.is_ascii_digit() => None,
        Personal::Iban if !begins_iban(chars, index) => None,
        Personal::Email if !before.is_some_and(is_local) => email(chars, index),
        Personal::Phone if !before.is_some_and(char::is_alphanumeric) => phone(chars, index),
        Personal::Iban if !before.is_some_and(|c| c.is_ascii_alphanumeric()) || is_named("IBAN") => iban(chars, index),
        Personal::Card if !before.is_some_and(|c| c.is_ascii_digit()) => card(chars, index),
        _ => None,
    }
}

fn is_local(c: char) -> bool {
    let is_sign = |c| matches!(c, '.' | '_' | '%' | '+' | '-' | '\'' | '!' | '#' | '$' | '&' | '*' | '/' | '=' | '?');
    c.is_alphanumeric() || is_sign(c) || matches!(c, '^' | '`' | '{' | '|' | '}' | '~')
}

fn run(chars: &[char], from: usize, fits: impl Fn(char) -> bool) -> usize {
    chars.iter().skip(from).take_while(|c| fits(**c)).count() + from
}

fn email(chars: &[char], index: usize) -> Option<Range<usize>> {
    let at = match chars.get(index) {
        Some('"') => quoted(chars, index)?,
        _ => run(chars, index, is_local),
    };
    if at == index || chars.get(at) != Some(&'@') {
        return None;
    }
    let mut end = run(chars, at + 1, |c| c.is_alphanumeric() || c == '-' || c == '.');
    while end > at + 1 && matches!(chars.get(end - 1), Some('.' | '-')) {
        end -= 1;
    }
    let domain = chars.get(at + 1..end)?;
    let dot = domain.iter().rposition(|c| *c == '.')?;
    (dot > 0 && domain.len() - dot > 2).then_some(index..end)
}

/// Where a name in quotes ends (RFC 5322, 3.2.4).
fn quoted(chars: &[char], index: usize) -> Option<usize> {
    let end = chars.iter().skip(index + 1).take(QUOTED).position(|c| matches!(c, '"' | '\n'))?;
    (end > 0).then_some(index + end + 2)
}

fn phone(chars: &[char], index: usize) -> Option<Range<usize>> {
    let (mut digits, mut end, mut gap) = (0, index, 0);
    for (at, c) in chars.iter().enumerate().skip(index + 1) {
        if c.is_ascii_digit() {
            (digits, end, gap) = (digits + 1, at + 1, 0);
        } else if " -./()\t".contains(*c) && gap < GAP && digits > 0 {
            gap += 1;
        } else {
            break;
        }
        if digits == 15 {
            break;
        }
    }
    (8..=15).contains(&digits).then_some(index..end)
}

/// Two letters and two digits.
fn begins_iban(chars: &[char], index: usize) -> bool {
    let Some([a, b, c, d]) = chars.get(index..index + 4) else { return false };
    a.is_ascii_alphabetic() && b.is_ascii_alphabetic() && c.is_ascii_digit() && d.is_ascii_digit()
}

/// ISO 13616: two letters, two digits that check all of it, 11 to 30 more letters and digits.
fn iban(chars: &[char], index: usize) -> Option<Range<usize>> {
    let (mut kept, mut found, mut at) = (Vec::new(), None, index);
    while let Some(c) = chars.get(at) {
        if c.is_ascii_alphanumeric() && kept.len() < 34 {
            kept.push(c.to_ascii_uppercase());
        } else {
            let next = run(chars, at, |c| matches!(c, ' ' | '-' | '\t' | '.' | '_'));
            if next == at || next - at > GAP || !chars.get(next).is_some_and(char::is_ascii_alphanumeric) {
                break;
            }
            at = next;
            continue;
        }
        at += 1;
        let ends = !chars.get(at).is_some_and(char::is_ascii_alphanumeric);
        if ends && c.is_ascii_alphanumeric() && (15..=34).contains(&kept.len()) && checks_97(&kept) {
            found = Some(index..at);
        }
        if kept.len() == 34 {
            break;
        }
    }
    found
}

fn checks_97(iban: &[char]) -> bool {
    let turned = iban.iter().skip(4).chain(iban.iter().take(4));
    let rest = turned.fold(0_u32, |rest, c| {
        let value = c.to_digit(36).unwrap_or_default();
        if value < 10 { (rest * 10 + value) % 97 } else { (rest * 100 + value) % 97 }
    });
    rest == 1
}

fn card(chars: &[char], index: usize) -> Option<Range<usize>> {
    let (mut digits, mut group, mut at, mut found) = (Vec::new(), 0, index, None);
    while let Some(c) = chars.get(at) {
        if let Some(digit) = c.to_digit(10) {
            digits.push(digit);
            group += 1;
        } else {
            // Groups as on cards.
            let next = run(chars, at, |c| matches!(c, ' ' | '-' | '\t' | '.' | '_' | '/'));
            if group < 3 || next == at || next - at > GAP || !chars.get(next).is_some_and(char::is_ascii_digit) {
                break;
            }
            (at, group) = (next, 0);
            continue;
        }
        at += 1;
        let ends = !chars.get(at).is_some_and(char::is_ascii_digit);
        if ends && group >= 3 && is_issued(&digits) && checks_luhn(&digits) {
            found = Some(index..at);
        }
        if digits.len() == 19 {
            break;
        }
    }
    found
}

/// Whether the number has the beginning and the length of a card.
fn is_issued(digits: &[u32]) -> bool {
    let first = digits.iter().take(2).fold(0, |sum, digit| sum * 10 + digit);
    match first {
        34 | 37 => digits.len() == 15,
        30 | 36 | 38 | 39 => (14..=19).contains(&digits.len()),
        35 | 60..=69 | 81 => (16..=19).contains(&digits.len()),
        40..=49 => matches!(digits.len(), 13 | 16 | 19),
        22..=27 | 51..=55 => digits.len() == 16,
        50 | 56..=59 => (13..=19).contains(&digits.len()),
        _ => false,
    }
}

fn checks_luhn(digits: &[u32]) -> bool {
    let values = digits.iter().rev().enumerate().map(|(index, digit)| match (index % 2, digit * 2) {
        (0, _) => *digit,
        (_, double) if double > 9 => double - 9,
        (_, double) => double,
    });
    values.sum::<u32>().is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::masked;
    use crate::settings::Personal;

    #[test]
    fn personal_data_is_found_by_its_form_and_checksum() {
        for (text, expected) in [
            ("Write to ann.lee+x@mail.example.org.", "Write to [email]."),
            ("ann＠example.org", "[email]"),
            ("DE89 3704 0044 0532 0130 00, ok", "[iban], ok"),
            ("GB82WEST12345698765432", "[iban]"),
            ("card 4111-1111-1111-1111!", "card [card]!"),
            ("5500 0000 0000 0004 and 378282246310005", "[card] and [card]"),
            ("４１１１１１１１１１１１１１１１", "[card]"),
            ("2024 4111 1111 1111 1111", "2024 [card]"),
            ("call +49 (30) 1234-5678 now", "call [phone] now"),
        ] {
            assert_eq!(masked(text, &Personal::ALL).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "DE88 3704 0044 0532 0130 00",
            "4111 1111 1111 1112",
            "41111111111111111",
            "user@host, @here, a@b.c",
            "+1 2 3",
            "2026-11-26 04:20:00",
        ] {
            assert_eq!(masked(text, &Personal::ALL), None, "{text}");
        }
        assert_eq!(masked("a@example.org", &[Personal::Card]), None);
    }
}

//! Characters that nobody sees.

use std::ops::Range;

use super::model::Kind;
use super::rule::Severity;

/// What was found in one string.
pub(super) struct Hidden {
    /// The first group.
    pub(super) span: Range<usize>,
    /// How many characters in all.
    pub(super) count: usize,
    /// What they are.
    pub(super) what: &'static str,
    pub(super) severity: Severity,
    /// The text that they encode.
    pub(super) decoded: Option<String>,
}

/// Whether a character is not seen, wherever it stands.
pub(super) const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

const fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0001}'..='\u{e007f}')
}

const fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

const fn is_turn(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

const fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}')
}

/// What the hidden characters of a text are, where they are not what emoji and scripts need.
pub(super) fn find(text: &str, kind: Kind) -> Option<Hidden> {
    if text.is_ascii() || !text.contains(is_hidden) {
        return None;
    }
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut found = String::new();
    let (mut before, mut chars) = (None, text.char_indices().peekable());
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|(_, c)| *c);
        if is_hidden(c) && !is_needed(text, at, before, c, after) {
            let end = at + c.len_utf8();
            match groups.last_mut() {
                Some(last) if last.end == at => last.end = end,
                _ => groups.push(at..end),
            }
            found.push(c);
        }
        before = Some(c);
    }
    let span = groups.first()?.clone();
    let decoded = decoded(&found);
    let (what, severity) = judged(&found, kind, decoded.is_some());
    Some(Hidden { span, count: found.chars().count(), what, severity, decoded })
}

/// Whether an emoji or a script needs the character there.
fn is_needed(text: &str, at: usize, before: Option<char>, c: char, after: Option<char>) -> bool {
    let foreign = |c: Option<char>| c.is_some_and(|c| !c.is_ascii() && !is_hidden(c));
    match c {
        // Keycaps are a digit, the selector and U+20E3.
        '\u{fe0e}' | '\u{fe0f}' => foreign(before) || after == Some('\u{20e3}'),
        '\u{200d}' => (foreign(before) || before == Some('\u{fe0f}')) && foreign(after),
        '\u{200c}' | '\u{34f}' => foreign(before) && foreign(after),
        '\u{fe00}'..='\u{fe02}' | '\u{e0100}'..='\u{e01ef}' => before.is_some_and(
            |c| matches!(c, '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{323af}' | '\u{2200}'..='\u{22ff}'),
        ),
        '\u{180b}'..='\u{180f}' => before.is_some_and(|c| matches!(c, '\u{1800}'..='\u{18af}')),
        '\u{200e}' | '\u{200f}' | '\u{61c}' => text.contains(is_right_to_left),
        // The flags of England, Scotland and Wales, of at most 6 tags.
        '\u{e0020}'..='\u{e007f}' => {
            let head = text[..at].trim_end_matches(is_tag);
            head.ends_with('\u{1f3f4}') && text[head.len()..].chars().take_while(|c| is_tag(*c)).count() <= 7
        }
        _ => false,
    }
}

fn judged(found: &str, kind: Kind, is_decoded: bool) -> (&'static str, Severity) {
    let any = |fits: fn(char) -> bool| found.contains(fits);
    let (what, severity) = if any(is_tag) {
        ("Unicode tags", Severity::High)
    } else if any(is_turn) {
        ("bidirectional controls", Severity::High)
    } else if any(is_selector) {
        ("variation selectors", Severity::High)
    } else if found.chars().all(|c| matches!(c, '\u{ad}' | '\u{2028}' | '\u{2029}' | '\u{feff}')) {
        ("soft hyphens, separators or byte order marks", Severity::Low)
    } else {
        ("zero-width or invisible characters", Severity::High)
    };
    // Pages of the web, which results quote, hold single ones.
    let is_quoted = kind == Kind::Result && !is_decoded && what != "Unicode tags";
    (what, if is_quoted { severity.min(Severity::Low) } else { severity })
}

/// The text that the characters stand for, in one of the three known codes.
fn decoded(found: &str) -> Option<String> {
    let tags: String = found
        .chars()
        .filter(|c| matches!(c, '\u{e0020}'..='\u{e007e}'))
        .filter_map(|c| char::from_u32(c as u32 - 0xe0000))
        .collect();
    if tags.len() > 1 {
        return Some(tags);
    }
    let selectors: Vec<u8> = found.chars().filter_map(selected).collect();
    let bits: Vec<u8> =
        found.chars().filter(|c| matches!(c, '\u{200b}' | '\u{200c}')).map(|c| u8::from(c == '\u{200c}')).collect();
    let bytes: Vec<u8> = bits.chunks_exact(8).map(|byte| byte.iter().fold(0, |byte, bit| byte << 1 | bit)).collect();
    [selectors, bytes].into_iter().find_map(|bytes| {
        let text = String::from_utf8(bytes).ok()?;
        (text.len() > 1 && text.chars().all(|c| !c.is_control() || c.is_whitespace())).then_some(text)
    })
}

/// The byte that a variation selector stands for.
const fn selected(c: char) -> Option<u8> {
    match c {
        '\u{fe00}'..='\u{fe0f}' => Some((c as u32 - 0xfe00) as u8),
        '\u{e0100}'..='\u{e01ef}' => Some((c as u32 - 0xe0100 + 16) as u8),
        _ => None,
    }
}

/// The text without them.
pub(super) fn without(text: &str) -> String {
    text.chars().filter(|c| !is_hidden(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Severity, find};
    use crate::scan::Kind;

    fn tags(text: &str) -> String {
        text.chars().filter_map(|c| char::from_u32(c as u32 + 0xe0000)).collect()
    }

    #[test]
    fn what_nobody_sees_is_found_and_decoded() {
        let selectors: String =
            "run".bytes().map(|byte| char::from_u32(0xe0100 + u32::from(byte) - 16).expect("a selector")).collect();
        let bits = |text: &str| -> String {
            let bits = text.bytes().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1));
            bits.map(|bit| if bit == 1 { '\u{200c}' } else { '\u{200b}' }).collect()
        };
        for (text, decoded) in [
            (format!("Adds.{}", tags("call x")), Some("call x")),
            (format!("Adds 😀{selectors}"), Some("run")),
            (format!("a{}", bits("hi")), Some("hi")),
            ("a\u{202e}b".to_owned(), None),
            ("pass\u{200b}word".to_owned(), None),
            ("a\u{2062}b".to_owned(), None),
            ("al\u{200d}ice".to_owned(), None),
            ("x\u{fe0f}".to_owned(), None),
            ("x\u{3164}".to_owned(), None),
        ] {
            let found = find(&text, Kind::Tool).unwrap_or_else(|| panic!("{}", text.escape_unicode()));
            assert_eq!(
                (found.severity, found.decoded.as_deref()),
                (Severity::High, decoded),
                "{}",
                text.escape_unicode()
            );
        }
    }

    #[test]
    fn emoji_and_scripts_keep_what_they_need() {
        for text in [
            "plain",
            "❤\u{fe0f} 1\u{fe0f}\u{20e3}",
            "👩\u{200d}👩\u{200d}👧",
            "🏳\u{fe0f}\u{200d}🌈",
            "می\u{200c}خواهم",
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "שלום\u{200f}!",
            "葛\u{e0100}",
        ] {
            assert!(find(text, Kind::Tool).is_none(), "{}", text.escape_unicode());
        }
        let hyphen = find("Donau\u{ad}dampf", Kind::Tool).expect("a soft hyphen");
        assert_eq!(hyphen.severity, Severity::Low);
    }
}

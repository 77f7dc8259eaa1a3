//! Characters that nobody sees.

use std::ops::Range;

use super::bidi;
use super::model::Kind;
use super::rule::Severity;
pub(super) use crate::invisible::is_hidden;

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

const fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0001}'..='\u{e007f}')
}

const fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

const fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}')
}

/// What the hidden characters of a text are, where they are not what emoji and scripts need.
pub(super) fn find(text: &str, kind: Kind) -> Option<Hidden> {
    if text.is_ascii() || !text.contains(is_hidden) {
        return None;
    }
    let is_right_to_left = text.contains(is_right_to_left);
    let mut span: Option<Range<usize>> = None;
    let mut found = String::new();
    let (mut before, mut chars, mut flag) = ([None; 2], text.char_indices().peekable(), 0);
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|(_, c)| *c);
        if c == BLACK_FLAG {
            flag = at + c.len_utf8() + flag_length(&text[at + c.len_utf8()..]);
        }
        let is_fine = at < flag || (is_mark(c) && is_right_to_left) || is_needed(before, c, after);
        if is_hidden(c) && !is_fine {
            let end = at + c.len_utf8();
            match &mut span {
                Some(first) if first.end == at => first.end = end,
                Some(_) => {}
                none => *none = Some(at..end),
            }
            found.push(c);
        }
        before = [before[1], Some(c)];
    }
    let span = span?;
    let decoded = decoded(&found);
    let is_balanced = bidi::is_balanced(text, is_right_to_left);
    let (what, severity) = judged(&found, kind, decoded.is_some(), is_balanced);
    Some(Hidden { span, count: found.chars().count(), what, severity, decoded })
}

const BLACK_FLAG: char = '\u{1f3f4}';

/// The tags of the flags of England, Scotland and Wales: no others are in use.
const FLAGS: [&str; 3] = [
    "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

fn flag_length(text: &str) -> usize {
    FLAGS.iter().find(|tags| text.starts_with(**tags)).map_or(0, |tags| tags.len())
}

/// Marks of direction, which texts that run from right to left use.
const fn is_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}')
}

/// Letters that change their form by what stands next to them: of Arabic and its kin, Mongolian, and of Indic scripts.
const fn is_shaped(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{f00}'..='\u{109f}' | '\u{1780}'..='\u{18af}'
        | '\u{1a20}'..='\u{1aaf}' | '\u{1b00}'..='\u{1c4f}' | '\u{a840}'..='\u{a87f}' | '\u{a8e0}'..='\u{a9ff}'
        | '\u{abc0}'..='\u{abff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10ac0}'..='\u{10aff}'
        | '\u{11000}'..='\u{11fff}' | '\u{1e900}'..='\u{1e95f}')
}

/// Letters of scripts that do not put spaces between words: Thai, Lao, Tibetan, Burmese, Khmer, and their kin.
const fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{1950}'..='\u{19ff}'
        | '\u{1a20}'..='\u{1aaf}' | '\u{1b00}'..='\u{1b7f}' | '\u{a980}'..='\u{a9ff}' | '\u{aa60}'..='\u{aadf}')
}

/// Whether an emoji or a script needs the character there.
fn is_needed([first, before]: [Option<char>; 2], c: char, after: Option<char>) -> bool {
    let foreign = |c: Option<char>| c.is_some_and(|c| !c.is_ascii() && !is_hidden(c));
    let seen = |c: Option<char>| !c.is_some_and(is_hidden);
    let shaped = |c: Option<char>| c.is_some_and(|c| is_shaped(c) && !is_hidden(c));
    let unspaced = |c: Option<char>| c.is_some_and(|c| is_unspaced(c) && !is_hidden(c));
    match c {
        // Keycaps are a digit, the selector and U+20E3. Editors double the selector of an emoji.
        '\u{fe0f}' if before == Some(c) => foreign(first),
        '\u{fe0e}' | '\u{fe0f}' => foreign(before) || after == Some('\u{20e3}'),
        '\u{200d}' => {
            ((foreign(before) || before == Some('\u{fe0f}')) && foreign(after)) || (shaped(before) && seen(after))
        }
        '\u{200c}' => {
            seen(before) && seen(after) && (shaped(before) || shaped(after) || foreign(before) && foreign(after))
        }
        '\u{200b}' => seen(before) && seen(after) && (unspaced(before) || unspaced(after)),
        '\u{34f}' => foreign(before) && foreign(after),
        '\u{fe00}'..='\u{fe02}' | '\u{e0100}'..='\u{e01ef}' => before.is_some_and(
            |c| matches!(c, '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{323af}' | '\u{2200}'..='\u{22ff}'),
        ),
        '\u{180b}'..='\u{180f}' => before.is_some_and(|c| matches!(c, '\u{1800}'..='\u{18af}')),
        _ => false,
    }
}

fn judged(found: &str, kind: Kind, is_decoded: bool, is_balanced: bool) -> (&'static str, Severity) {
    let other: String = found.chars().filter(|c| !is_balanced || !bidi::is_control(*c)).collect();
    if other.is_empty() {
        return ("bidirectional controls in pairs", Severity::Low);
    }
    let found = other.as_str();
    let any = |fits: fn(char) -> bool| found.contains(fits);
    let (what, severity) = if any(is_tag) {
        ("Unicode tags", Severity::High)
    } else if any(bidi::is_control) {
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
            ("a\u{2067}b\u{2066}c\u{2069}d\u{2069}e".to_owned(), None),
            ("\u{2068}a".to_owned(), None),
            ("\u{5d0} \u{202e}a\u{202c}".to_owned(), None),
            ("\u{5d0} \u{2067}a\n\u{2069}".to_owned(), None),
            ("\u{2068}a\u{2069} pass\u{200b}word".to_owned(), None),
            ("\u{e01}\u{200b}\u{200b}\u{e02}".to_owned(), None),
            ("API\u{200c}key".to_owned(), None),
            ("👍\u{fe0f}\u{fe0f}\u{fe0f}".to_owned(), None),
            (format!("\u{1f3f4}{}", tags("runit\u{7f}")), Some("runit")),
            (format!("\u{1f3f4}{0}\u{1f3f4}{0}", tags("call")), Some("callcall")),
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
            "API\u{200c}ها",
            "سال ۱۴۰۰ ه\u{200d}.",
            "ក្រុម\u{200b}ហ៊ុន និង\u{200b}API",
            "ภาษา\u{200b}ไทย",
            "ພາສາ\u{200b}ລາວ",
            "မြန်မာ\u{200b}ဘာသာ",
            "അവന്\u{200d} വന്നു. അവര്\u{200d}.",
            "ক্\u{200d}ষ র\u{200d}্যাব",
            "❤\u{fe0f}\u{fe0f} ok",
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} x",
        ] {
            assert!(find(text, Kind::Tool).is_none(), "{}", text.escape_unicode());
        }
        for text in [
            "Hello, \u{2068}Anna\u{2069}!",
            "שלום \u{2066}API\u{2069} \u{202a}v2\u{202c}",
            "مرحبا \u{2067}ا\u{2068}ب\u{2069}\u{2069}",
        ] {
            let found = find(text, Kind::Tool).expect("controls");
            assert_eq!(found.severity, Severity::Low, "{}", text.escape_unicode());
        }
        let hyphen = find("Donau\u{ad}dampf", Kind::Tool).expect("a soft hyphen");
        assert_eq!(hyphen.severity, Severity::Low);
    }
}

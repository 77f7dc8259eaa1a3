//! Control characters and escape sequences of terminals.

use std::ops::Range;

use super::model::Kind;
use super::rule::Severity;

/// The first of them, what it is, and how bad.
pub(super) fn find(text: &str, kind: Kind) -> Option<(Range<usize>, &'static str, Severity)> {
    let (at, c) = text.char_indices().find(|(_, c)| c.is_control() && !matches!(c, '\t' | '\n' | '\r'))?;
    let is_escape = |c| matches!(c, '\u{1b}' | '\u{8}' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}');
    let Some(first) = text.find(is_escape) else {
        let severity = if kind == Kind::Result { Severity::Low } else { Severity::Medium };
        return Some((at..at + c.len_utf8(), "a control character", severity));
    };
    let rest = &text[first..];
    let end = first + rest.char_indices().nth(1).map_or(rest.len(), |(at, _)| at);
    let hides =
        ["\u{1b}]", "\u{9d}", "\u{1b}[8m", "\u{1b}P", "\u{1b}_", "\u{1b}^"].iter().any(|one| text.contains(one));
    // Programs whose output a tool returns write colours.
    let severity = if kind == Kind::Result && !hides { Severity::Low } else { Severity::High };
    Some((first..end, "an escape sequence of terminals", severity))
}

#[cfg(test)]
mod tests {
    use super::{Severity, find};
    use crate::scan::Kind;

    #[test]
    fn sequences_are_found_and_line_feeds_are_not() {
        for (text, expected) in [
            ("\u{1b}[31mred", Some(Severity::High)),
            ("\u{1b}]8;;http://x\u{7}y", Some(Severity::High)),
            ("a\u{9b}2J", Some(Severity::High)),
            ("ab\u{8}c", Some(Severity::High)),
            ("a\u{7}", Some(Severity::Medium)),
            ("a\tb\r\nc é \\u001b[31m", None),
        ] {
            assert_eq!(find(text, Kind::Tool).map(|(.., severity)| severity), expected, "{}", text.escape_debug());
        }
        assert_eq!(find("\u{1b}[31mred", Kind::Result).map(|found| found.2), Some(Severity::Low));
    }
}

//! Characters that people do not see but models read, and escapes of terminals: what they are, and a text without them.

use std::borrow::Cow;

/// Whether a character is not seen, wherever it stands.
#[inline]
pub const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The character in its usual width.
#[inline]
pub const fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => match char::from_u32(c as u32 - 0xfee0) {
            Some(narrow) => narrow,
            None => c,
        },
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => ' ',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe63}' => '-',
        '\u{fe6b}' => '@',
        '\u{3002}' | '\u{ff61}' => '.',
        _ => c,
    }
}

/// Whether two names are alike: case, separators, width and hidden characters make no difference.
#[inline]
pub fn alike(one: &str, other: &str) -> bool {
    if !one.is_ascii() || !other.is_ascii() {
        return folded(one).eq(folded(other));
    }
    // The same without tables: that is what most names are.
    letters(one).eq(letters(other))
}

/// What counts of a name in ASCII.
fn letters(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().filter(|byte| !matches!(byte, b'_' | b'-' | b' ')).map(|byte| byte.to_ascii_lowercase())
}

/// A name as look-alikes are compared.
fn folded(name: &str) -> impl Iterator<Item = char> {
    let is_seen = |c: &char| !matches!(c, '_' | '-' | ' ') && !is_hidden(*c);
    // Some letters have their usual form in one case alone.
    let cased = name.chars().filter(is_seen).map(narrow).flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    cased.filter(|c| !matches!(c, '_' | '-'))
}

const fn is_control(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}')
}

/// Whether any byte of a text fits. In pieces without an early exit, compilers make vector instructions of it.
#[inline]
pub fn has_byte(text: &str, fits: impl Fn(u8) -> bool) -> bool {
    text.as_bytes().chunks(64).any(|piece| piece.iter().fold(false, |any, byte| any | fits(*byte)))
}

/// The text without hidden characters, escapes of terminals and control characters.
pub fn cleaned(text: &str) -> Cow<'_, str> {
    let is_rare = |byte: u8| !matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    if !has_byte(text, is_rare) || !text.chars().any(|c| is_hidden(c) || is_control(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut joined) = (Rest { text, endless: usize::MAX }, false);
    while let Some(c) = rest.next_if(|_| true) {
        match c {
            '\u{1b}' => escape(&mut rest),
            '\u{9b}' => sequence(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => string(&mut rest),
            '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' => {
                // Scripts and emoji need these, between or after letters of their own.
                let is_after = out.chars().next_back().is_some_and(|before| !before.is_ascii());
                let is_before = rest.peek().is_some_and(|next| !next.is_ascii() && !is_hidden(next));
                if is_after && !joined && (is_before || matches!(c, '\u{fe0e}' | '\u{fe0f}')) {
                    out.push(c);
                    // An emoji with its form may be joined to the next one.
                    joined = !matches!(c, '\u{fe0e}' | '\u{fe0f}') || rest.peek() != Some('\u{200d}');
                }
            }
            c if is_hidden(c) || is_control(c) => {}
            c => {
                out.push(c);
                joined = false;
            }
        }
    }
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// What is left of a text.
struct Rest<'t> {
    text: &'t str,
    /// While more bytes than these are left, no control string ends: that part was looked through, and is not again.
    endless: usize,
}

impl Rest<'_> {
    fn peek(&self) -> Option<char> {
        self.text.chars().next()
    }

    fn next_if(&mut self, fits: impl Fn(char) -> bool) -> Option<char> {
        let c = self.peek().filter(|c| fits(*c))?;
        self.text = &self.text[c.len_utf8()..];
        Some(c)
    }
}

/// What follows ESC.
fn escape(rest: &mut Rest<'_>) {
    match rest.next_if(|c| matches!(c, ' '..='~')) {
        Some('[') => sequence(rest),
        Some(']' | 'P' | 'X' | '^' | '_') => string(rest),
        Some(' '..='/') => drop(rest.next_if(|c| matches!(c, '0'..='~'))),
        _ => {}
    }
}

/// Parameters of a control sequence, and its end.
fn sequence(rest: &mut Rest<'_>) {
    while rest.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    rest.next_if(|c| matches!(c, '@'..='~'));
}

/// A control string. Without an end on its line, only its beginning goes: what follows may be a text that people see.
fn string(rest: &mut Rest<'_>) {
    if rest.text.len() > rest.endless {
        return;
    }
    let ends = |c| matches!(c, '\u{7}' | '\u{9c}' | '\u{1b}' | '\n' | '\r');
    let at = rest.text.find(ends).unwrap_or(rest.text.len());
    match rest.text[at..].chars().next() {
        None | Some('\n' | '\r') => rest.endless = rest.text.len() - at,
        Some(end) => {
            rest.text = &rest.text[at + end.len_utf8()..];
            if end == '\u{1b}' {
                rest.next_if(|c| c == '\\');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{alike, cleaned, folded, letters};

    #[test]
    fn names_are_alike_without_case_separators_and_width() {
        for other in ["tenant_id", "TenantId", "tenant-ID", "tenant id", "ｔｅｎａｎｔ＿ｉｄ", "ten\u{200b}ant_id"]
        {
            assert!(alike("tenant_id", other) && alike(other, "tenant_id"), "{other}");
        }
        for other in ["tenant", "tenant_id2", "tenant.id", "", "tenänt_id"] {
            assert!(!alike("tenant_id", other), "{other}");
        }
    }

    proptest! {
        #[test]
        fn ascii_is_compared_as_all_else(name in "[ -~\\t\\n\\x00\\x7f]{0,12}") {
            prop_assert!(folded(&name).eq(letters(&name).map(char::from)));
        }
    }

    #[test]
    fn what_is_not_seen_goes_and_what_scripts_need_stays() {
        for (text, expected) in [
            ("a\u{200b}b\u{202e}c\u{2066}d\u{feff}", "abcd"),
            ("tag\u{e0049}\u{e0067}\u{e006e}", "tag"),
            ("al\u{200d}ice", "alice"),
            ("x\u{fe0f}\u{fe01}\u{fe02}", "x"),
            ("\u{1b}[31mred\u{1b}[0m \u{9b}1mbold", "red bold"),
            ("\u{1b}]8;;http://evil\u{7}link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]0;never ends", "0;never ends"),
            ("\u{9d}a\u{9d}b\n\u{9d}c\u{7}d\u{1b}]e\u{9d}f\nx", "ab\ndef\nx"),
            ("bell\u{7}\u{8} tab\tline\n", "bell tab\tline\n"),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("👩\u{200d}👩 ❤\u{fe0f}", "👩\u{200d}👩 ❤\u{fe0f}"),
            ("❤\u{fe0f}\u{fe0e}\u{fe0f}", "❤\u{fe0f}"),
            ("Größe 5", "Größe 5"),
        ] {
            assert_eq!(cleaned(text), expected, "{}", text.escape_unicode());
        }
    }
}

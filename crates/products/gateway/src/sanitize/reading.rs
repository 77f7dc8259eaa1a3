//! Characters of a text as people and programs read them, each with its place. Pure.

use guard::invisible::{has_byte, is_hidden, narrow};

/// The zeros of all decimal digits outside ASCII (Unicode 14, `Nd`); nine digits follow each.
const ZEROS: [char; 65] = [
    '\u{660}',
    '\u{6f0}',
    '\u{7c0}',
    '\u{966}',
    '\u{9e6}',
    '\u{a66}',
    '\u{ae6}',
    '\u{b66}',
    '\u{be6}',
    '\u{c66}',
    '\u{ce6}',
    '\u{d66}',
    '\u{de6}',
    '\u{e50}',
    '\u{ed0}',
    '\u{f20}',
    '\u{1040}',
    '\u{1090}',
    '\u{17e0}',
    '\u{1810}',
    '\u{1946}',
    '\u{19d0}',
    '\u{1a80}',
    '\u{1a90}',
    '\u{1b50}',
    '\u{1bb0}',
    '\u{1c40}',
    '\u{1c50}',
    '\u{a620}',
    '\u{a8d0}',
    '\u{a900}',
    '\u{a9d0}',
    '\u{a9f0}',
    '\u{aa50}',
    '\u{abf0}',
    '\u{ff10}',
    '\u{104a0}',
    '\u{10d30}',
    '\u{11066}',
    '\u{110f0}',
    '\u{11136}',
    '\u{111d0}',
    '\u{112f0}',
    '\u{11450}',
    '\u{114d0}',
    '\u{11650}',
    '\u{116c0}',
    '\u{11730}',
    '\u{118e0}',
    '\u{11950}',
    '\u{11c50}',
    '\u{11d50}',
    '\u{11da0}',
    '\u{16a60}',
    '\u{16ac0}',
    '\u{16b50}',
    '\u{1d7ce}',
    '\u{1d7d8}',
    '\u{1d7e2}',
    '\u{1d7ec}',
    '\u{1d7f6}',
    '\u{1e140}',
    '\u{1e2f0}',
    '\u{1e950}',
    '\u{1fbf0}',
];
/// Names of HTML that stand for a character of personal data.
const NAMED: [(&str, char); 6] =
    [("commat;", '@'), ("period;", '.'), ("plus;", '+'), ("nbsp;", ' '), ("hyphen;", '-'), ("lowbar;", '_')];

/// The characters of a text, and where each begins.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) chars: Vec<char>,
    pub(super) starts: Vec<usize>,
}

impl Reading {
    /// As it stands: only width and hidden characters make no difference.
    pub(super) fn plain(text: &str) -> Self {
        let mut reading = Self { chars: Vec::with_capacity(text.len()), starts: Vec::with_capacity(text.len()) };
        for (at, c) in text.char_indices().filter(|(_, c)| c.is_ascii() || !is_hidden(*c)) {
            reading.push(at, if c.is_ascii() { c } else { narrow(c) });
        }
        reading
    }

    /// As it means: digits of all scripts, escapes of URLs, HTML and JSON, letters without marks. Nothing where that is the same.
    pub(super) fn decoded(text: &str) -> Option<Self> {
        let is_other = |c: char| matches!(c, '%' | '&' | '\\') || is_mark(c) || digit(c).is_some();
        let may_be_other = |byte: u8| !byte.is_ascii() || matches!(byte, b'%' | b'&' | b'\\');
        if !has_byte(text, may_be_other) || !text.chars().any(is_other) {
            return None;
        }
        let (mut reading, mut at) = (Self::default(), 0);
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let (c, length) = decoded(rest);
            if !is_hidden(c) && !is_mark(c) {
                reading.push(at, digit(c).unwrap_or_else(|| narrow(c)));
            }
            at += length;
        }
        Some(reading)
    }

    fn push(&mut self, at: usize, c: char) {
        self.chars.push(c);
        self.starts.push(at);
    }
}

/// A mark on the letter before it.
const fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}')
}

/// The ASCII digit that a character outside ASCII stands for.
fn digit(c: char) -> Option<char> {
    let code = u32::from(c);
    let value = match c {
        '\0'..='\u{b1}' => return None,
        '\u{b2}' | '\u{b3}' => code - 0xb0,
        '\u{b9}' => 1,
        '\u{2070}' | '\u{2074}'..='\u{2079}' => code - 0x2070,
        '\u{2080}'..='\u{2089}' => code - 0x2080,
        '\u{2460}'..='\u{2468}' => code - 0x245f,
        '\u{24ea}' => 0,
        _ => {
            let zero = ZEROS.partition_point(|zero| *zero <= c).checked_sub(1).and_then(|index| ZEROS.get(index))?;
            code - u32::from(*zero)
        }
    };
    char::from_digit(value, 10)
}

/// The character that a text begins with, and how many bytes it takes.
fn decoded(text: &str) -> (char, usize) {
    let code = |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    let found = match text.as_bytes().first() {
        Some(b'%') => text.get(1..3).and_then(|digits| code(digits, 16)).filter(char::is_ascii).map(|c| (c, 3)),
        Some(b'\\') if text.as_bytes().get(1) == Some(&b'u') => {
            text.get(2..6).and_then(|digits| code(digits, 16)).map(|c| (c, 6))
        }
        Some(b'&') => {
            let name = &text[1..];
            let end = name.bytes().take(9).position(|byte| byte == b';');
            let number = |end: usize| match name.as_bytes() {
                [b'#', b'x' | b'X', ..] => code(name.get(2..end)?, 16),
                [b'#', ..] => code(name.get(1..end)?, 10),
                _ => NAMED.iter().find(|(named, _)| name.starts_with(named)).map(|(_, c)| *c),
            };
            end.and_then(|end| Some((number(end)?, end + 2)))
        }
        _ => None,
    };
    found.unwrap_or_else(|| text.chars().next().map_or((' ', 1), |c| (c, c.len_utf8())))
}

#[cfg(test)]
mod tests {
    use super::Reading;

    fn decoded(text: &str) -> String {
        Reading::decoded(text).map_or_else(|| text.to_owned(), |reading| reading.chars.iter().collect())
    }

    #[test]
    fn a_text_is_read_as_it_means() {
        for (text, expected) in [
            ("٠١٢٣٤٥٦٧٨٩ ０９ 𝟘𝟡 ⁰¹²³⁹ ₀₉ ⓪①⑨", "0123456789 09 09 01239 09 019"),
            (
                "%40 %4 %zz %C3%A9 &#64;&#x40;&commat;&nbsp;&amp; &#99999999999;",
                "@ %4 %zz %C3%A9 @@@ &amp; &#99999999999;",
            ),
            (r"\u0040 \u00 \n", r"@ \u00 \n"),
            ("e\u{301}4\u{20e3}\u{200b}", "e4"),
            ("plain, é", "plain, é"),
        ] {
            assert_eq!(decoded(text), expected, "{text}");
        }
        assert!(Reading::decoded("plain, é").is_none());
        let reading = Reading::plain("a\u{200b}ｂ");
        assert_eq!((reading.chars, reading.starts), (vec!['a', 'b'], vec![0, 4]));
    }
}

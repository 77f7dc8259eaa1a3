//! Secrets that are known letter by letter because the user handed them in: found wherever the peer repeats them, plain
//! or in the usual encodings, under whatever name.

use std::borrow::Cow;
use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::memmem::Finder;
use serde_json::Value;

use super::given::Secrets;
use super::learned::Pair;
use super::pseudonym;
use crate::pointer;

/// What ends a quotation that may have been cut short, and how much of a secret before it counts as its beginning.
const CUTS: [(char, usize); 2] = [('…', 4), ('`', 6)];

/// The secrets, and their replacements.
pub(super) struct Known {
    secrets: Secrets,
    forms: Vec<Form>,
    /// The replacements of the plain secrets: not secret.
    pseudonyms: HashSet<String>,
}

struct Form {
    finder: Finder<'static>,
    text: String,
    with: String,
}

impl Known {
    pub(super) fn new(key: Option<&[u8; 32]>, secrets: &Secrets) -> Self {
        let mut known = Self { secrets: secrets.clone(), forms: Vec::new(), pseudonyms: HashSet::new() };
        let mut seen = HashSet::new();
        for secret in secrets.iter() {
            let with = pseudonym::or_mask(key, secret);
            for (text, with) in forms(secret).into_iter().zip(forms(&with)) {
                if text != with && seen.insert(text.clone()) {
                    known.forms.push(Form { finder: Finder::new(&text).into_owned(), text, with });
                }
            }
            known.pseudonyms.insert(with);
        }
        known
    }

    pub(super) const fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Whether `text` is a replacement already.
    pub(super) fn stands_for_one(&self, text: &str) -> bool {
        self.pseudonyms.contains(text)
    }

    /// Whether the values of the header with this name, in small letters, were handed in.
    pub(super) fn is_header(&self, lower: &str) -> bool {
        self.secrets.header_names().contains(lower)
    }

    /// `text` without the secrets, nor those that were `learned` and are in it.
    pub(super) fn replace<'t>(&self, text: &'t str, learned: &[Pair]) -> Cow<'t, str> {
        let found = self.forms.iter().filter(|form| form.finder.find(text.as_bytes()).is_some());
        let found = found.map(|form| (form.text.as_str(), form.with.as_str()));
        without_beginnings(replace_all(text, found, learned), || {
            self.forms.iter().map(|form| (form.text.as_str(), form.with.as_str())).collect()
        })
    }
}

/// `text` with replacements: the longest first, for one may be part of another.
pub(super) fn replace_all<'t, 'p>(
    text: &'t str,
    found: impl Iterator<Item = (&'p str, &'p str)>,
    learned: &'p [Pair],
) -> Cow<'t, str> {
    let mut pairs: Vec<_> = found.chain(learned.iter().map(|(text, with)| (text.as_str(), with.as_str()))).collect();
    if pairs.is_empty() {
        return Cow::Borrowed(text);
    }
    pairs.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    Cow::Owned(pairs.into_iter().fold(text.to_owned(), |out, (text, with)| out.replace(text, with)))
}

/// Whether a quotation in `text` may have been cut short.
pub(super) fn may_be_cut(text: &str) -> bool {
    // The first bytes of both marks: mostly there is neither.
    memchr::memchr2(b'`', 0xe2, text.as_bytes()).is_some() && text.contains(CUTS.map(|(cut, _)| cut))
}

/// A quotation that was cut short may end within a secret: one of `forms`, each with its replacement.
pub(super) fn without_beginnings<'t, 'p>(
    text: Cow<'t, str>,
    forms: impl FnOnce() -> Vec<(&'p str, &'p str)>,
) -> Cow<'t, str> {
    if !may_be_cut(&text) {
        return text;
    }
    let forms = forms();
    let mut out = String::new();
    let mut copied = 0;
    for (end, c) in text.char_indices() {
        let Some((_, least)) = CUTS.iter().find(|(cut, _)| *cut == c) else { continue };
        let before = &text[copied..end];
        let cuts = forms.iter().filter_map(|(form, with)| Some((cut(before, form, *least)?, form, with)));
        if let Some((length, form, with)) = cuts.max_by_key(|(length, ..)| *length) {
            out.push_str(&before[..before.len() - length]);
            out.extend(with.chars().take(form[..length].chars().count()));
            copied = end;
        }
    }
    if copied == 0 {
        return text;
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// How much of the beginning of `secret` is at the end of `text`, if it is `least` or more.
///
/// In linear time: a secret that repeats itself may be long. `lengths[n]` is the length of the longest proper beginning of the
/// secret that also ends its first `n + 1` bytes (Knuth, Morris and Pratt).
fn cut(text: &str, secret: &str, least: usize) -> Option<usize> {
    let most = secret.len().saturating_sub(1).min(text.len());
    if most < least {
        return None;
    }
    let pattern = &secret.as_bytes()[..most];
    let mut lengths = vec![0; most];
    for end in 1..most {
        lengths[end] = longer(pattern, &lengths, lengths[end - 1], pattern[end]);
    }
    let end = text.as_bytes()[text.len() - most..].iter();
    let mut length = end.fold(0, |length, byte| longer(pattern, &lengths, length, *byte));
    while length >= least {
        if secret.is_char_boundary(length) && text.is_char_boundary(text.len() - length) {
            return Some(length);
        }
        length = lengths[length - 1];
    }
    None
}

/// How much of `pattern` is at the end of a text that goes on with `byte`, where it was `length` before.
fn longer(pattern: &[u8], lengths: &[usize], mut length: usize, byte: u8) -> usize {
    while length > 0 && pattern.get(length) != Some(&byte) {
        length = lengths[length - 1];
    }
    length + usize::from(pattern.get(length) == Some(&byte))
}

fn digit(value: u8) -> char {
    char::from_digit(value.into(), 16).unwrap_or('0')
}

/// How a secret may be written, always in the same order and number.
pub(super) fn forms(secret: &str) -> Vec<String> {
    let json = Value::from(secret).to_string();
    let json = json[1..json.len() - 1].to_owned();
    let mut forms = vec![
        secret.to_owned(),
        json.replace('/', "\\/"),
        json,
        crate::escape::line(secret).into_owned(),
        secret.escape_debug().to_string(),
        // As a segment of a JSON pointer.
        pointer::escape(secret),
        // Within single quotes, as a shell shows what it runs.
        secret.replace('\'', "'\\''"),
        // With its blanks folded, as `escape::snippet` quotes.
        crate::escape::line(&secret.split_ascii_whitespace().collect::<Vec<_>>().join(" ")).into_owned(),
    ];
    forms.push(json_in_ascii(&forms[2]));
    // JSON within JSON, and XML.
    let twice = Value::from(forms[2].as_str()).to_string();
    forms.push(twice[1..twice.len() - 1].to_owned());
    forms.push(xml(&forms[3]));
    let hex: String = secret.bytes().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect();
    forms.extend([hex.to_ascii_uppercase(), hex]);
    // Every byte percent-encoded, as some write whatever is not theirs.
    let all: String = secret.bytes().flat_map(|byte| ['%', digit(byte >> 4), digit(byte & 15)]).collect();
    forms.extend([all.to_ascii_uppercase(), all]);
    // As a component, as a path, and as a browser's scripts write it.
    for plain in ["-_.~", "-_.~/", "-_.~!*'()"] {
        let upper = percent(secret, plain);
        forms.extend([upper.replace("%20", "+"), lower_digits(&upper), upper]);
    }
    let bytes = secret.as_bytes();
    for code in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        forms.push(code.encode(bytes));
        forms.extend(
            (0..3).map(|before| within(&code.encode([&[0; 3][..before], bytes].concat()), before, bytes.len())),
        );
    }
    forms
}

/// Text or an attribute's value in XML and HTML.
fn xml(text: &str) -> String {
    let named = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#39;")];
    named.iter().fold(text.to_owned(), |text, (plain, entity)| text.replace(*plain, entity))
}

/// JSON in pure ASCII.
fn json_in_ascii(json: &str) -> String {
    let escape = |unit: &u16| format!("\\u{unit:04x}");
    let one = |c: char| match c {
        '\0'..='\x7f' => c.to_string(),
        _ => c.encode_utf16(&mut [0; 2]).iter().map(escape).collect(),
    };
    json.chars().map(one).collect()
}

/// The part of a Base64 text that `length` bytes after `before` others alone decide.
fn within(text: &str, before: usize, length: usize) -> String {
    let start = (before * 8).div_ceil(6);
    let end = (before + length) * 8 / 6;
    text[start..end.max(start)].to_owned()
}

fn percent(text: &str, plain: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || plain.as_bytes().contains(&byte) {
            out.push(char::from(byte));
        } else {
            let digit = |half: u8| char::from(b"0123456789ABCDEF"[usize::from(half)]);
            out.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    out
}

fn lower_digits(percent: &str) -> String {
    let mut left = 0;
    let lower = |c: char| {
        left = if c == '%' { 2 } else { i32::max(left - 1, -1) };
        if c != '%' && left >= 0 { c.to_ascii_lowercase() } else { c }
    };
    percent.chars().map(lower).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_digits_come_in_both_cases() {
        assert_eq!(percent("aö/B", "-"), "a%C3%B6%2FB");
        assert_eq!(lower_digits("AB%C3%B6C%2FAB"), "AB%c3%b6C%2fAB");
    }

    #[test]
    fn base64_is_found_at_every_offset() {
        for before in 0..7 {
            let text = STANDARD_NO_PAD.encode(format!("{}hunter2hunter2{}", "x".repeat(before), "yz"));
            let mut secrets = Secrets::default();
            secrets.add("hunter2hunter2");
            let redacted = Known::new(Some(&[1; 32]), &secrets).replace(&text, &[]).into_owned();
            let bytes = STANDARD_NO_PAD.decode(&redacted).unwrap();
            let plain = String::from_utf8_lossy(&bytes).into_owned();
            assert!(!plain.contains("unter2hunter"), "{plain}");
        }
    }
}

//! Quotations, and words with their places.

use std::ops::Range;

use super::hidden::is_hidden;

/// How many characters a quotation has, and how many stand before what it shows.
const WIDTH: usize = 150;
const LEAD: usize = 40;

/// One line around `span` with the invisible made visible, and where the span stands in it, in characters.
pub(super) fn quote(text: &str, span: &Range<usize>) -> (String, Range<usize>) {
    let mut start = span.start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let first = text[..start].char_indices().rev().nth(LEAD - 1).map_or(0, |(at, _)| at);
    let mut out = if first > 0 { "…".to_owned() } else { String::new() };
    let mut width = usize::from(first > 0);
    let mut caret = None;
    let mut end = width;
    for (at, c) in text[first..].char_indices().map(|(at, c)| (first + at, c)) {
        if at >= start && caret.is_none() {
            caret = Some(width);
        }
        if width >= WIDTH {
            out.push('…');
            break;
        }
        let shown = shown(c);
        width += shown.chars().count();
        out.push_str(&shown);
        if at < span.end {
            end = width;
        }
    }
    let caret = caret.unwrap_or(width);
    (out, caret..end.max(caret))
}

fn shown(c: char) -> String {
    match c {
        '\n' | '\r' | '\t' => " ".to_owned(),
        c if is_hidden(c) => format!("\\u{{{:x}}}", c as u32),
        c => wire::escape::character(c).into_owned(),
    }
}

/// A word, and where it stands.
pub(super) struct Word<'t> {
    pub(super) text: &'t str,
    pub(super) span: Range<usize>,
}

/// Runs of characters that `fits`, in order.
pub(super) fn runs(text: &str, fits: impl Fn(char) -> bool) -> impl Iterator<Item = Word<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(&fits)?;
        let end = text[start..].find(|c| !fits(c)).map_or(text.len(), |length| start + length);
        at = end;
        Some(Word { text: &text[start..end], span: start..end })
    })
}

/// The words of a name: `readFile`, `read_file` and `read-file` are `read`, `file`.
pub(super) fn parts(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut was_lower = false;
    let mut is_new = true;
    for c in name.chars().take(256) {
        if !c.is_alphanumeric() {
            is_new = true;
            continue;
        }
        is_new |= was_lower && c.is_uppercase();
        if is_new {
            parts.push(String::new());
        }
        parts.last_mut().expect("a part was begun").extend(c.to_lowercase());
        (is_new, was_lower) = (false, c.is_lowercase());
    }
    parts
}

//! Text from a peer, made harmless for a terminal and a log: control characters, line ends and bidirectional
//! overrides become visible escapes; everything else stays.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character may not reach a person's screen as it is.
fn is_hostile(c: char) -> bool {
    // Control characters, then what is not seen or turns the direction: by blocks, ascending.
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
        )
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}')
        || matches!(c, '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}')
        || matches!(c, '\u{e0000}'..='\u{e0fff}')
}

/// One character, escaped if it is hostile.
pub fn character(c: char) -> Cow<'static, str> {
    match c {
        '\n' => Cow::Borrowed("\\n"),
        '\r' => Cow::Borrowed("\\r"),
        '\t' => Cow::Borrowed("\\t"),
        c if is_hostile(c) => Cow::Owned(format!("\\u{{{:x}}}", c as u32)),
        c => Cow::Owned(c.to_string()),
    }
}

/// A text of several lines, hostile characters other than line feeds and tabs escaped. Escaped text stays as it is.
pub fn lines(text: &str) -> Cow<'_, str> {
    let hostile = |c: char| !matches!(c, '\n' | '\t') && is_hostile(c);
    if !text.contains(hostile) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if hostile(c) { character(c) } else { Cow::Owned(c.to_string()) }).collect())
}

/// A text in one line, hostile characters escaped.
pub fn line(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_hostile) { Cow::Owned(text.chars().map(character).collect()) } else { Cow::Borrowed(text) }
}

/// The beginning of a text in one line of at most `limit` characters before escapes, blanks folded; `…` says that more
/// followed.
pub fn snippet(text: &str, limit: usize) -> String {
    let text = text.trim();
    let cut = text.char_indices().nth(limit).map(|(at, _)| at);
    let words: Vec<&str> = text[..cut.unwrap_or(text.len())].split_ascii_whitespace().collect();
    let mut line = line(&words.join(" ")).into_owned();
    if cut.is_some() {
        line.push('…');
    }
    line
}

/// A JSON document with the hostile characters in its strings escaped as JSON escapes: what it says stays the same.
pub fn json(document: &str) -> Cow<'_, str> {
    // A line feed can only stand between tokens.
    let hostile = |c: char| c != '\n' && is_hostile(c);
    if !document.contains(hostile) {
        return Cow::Borrowed(document);
    }
    let mut out = String::with_capacity(document.len());
    for c in document.chars() {
        if hostile(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_a_terminal_obeys_or_hides_is_escaped() {
        for c in "\0\u{7}\u{1b}\u{7f}\u{85}\u{9b}\u{ad}\u{61c}\u{180e}\u{200b}\u{200f}\u{202e}\u{2066}\u{3164}\u{feff}"
            .chars()
        {
            let text = format!("a{c}b\n\tc");
            assert!(!super::line(&text).contains([c, '\n']), "{c:?}");
            assert_eq!(super::lines(&text), format!("a\\u{{{:x}}}b\n\tc", c as u32));
            assert!(!super::json(&text).contains(c));
        }
        assert_eq!(super::lines("naïve 日本 ✔️"), "naïve 日本 ✔️");
    }

    #[test]
    fn json_says_the_same_without_hostile_characters() {
        let text = "a\u{202e}b\u{7f}\u{e0001}\nö";
        let document = serde_json::to_string_pretty(&[text]).unwrap();
        let escaped = super::json(&document);
        assert_eq!(escaped, "[\n  \"a\\u202eb\\u007f\\udb40\\udc01\\nö\"\n]");
        assert_eq!(serde_json::from_str::<Vec<String>>(&escaped).unwrap(), [text]);
    }
}

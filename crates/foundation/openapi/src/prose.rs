//! Prose of a description as plain text: no markup, no invisible characters, shortened where a sentence ends.

/// A text on as few lines as it has paragraphs: HTML tags, control and invisible characters are left out.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len().min(4096));
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '<'
            && let Some(end) = tag(rest)
        {
            rest = &rest[end..];
            push_space(&mut plain);
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if c.is_whitespace() {
            push_space(&mut plain);
        } else if !c.is_control() && !is_invisible(c) {
            plain.push(c);
        }
    }
    let trimmed = plain.trim_end().len();
    plain.truncate(trimmed);
    entities(plain)
}

fn push_space(text: &mut String) {
    if !text.is_empty() && !text.ends_with(' ') {
        text.push(' ');
    }
}

/// Where the HTML tag ends that `text` begins with; `a < b` and `<id>` of a path are none.
fn tag(text: &str) -> Option<usize> {
    const TAGS: [&str; 30] = [
        "a", "b", "p", "i", "br", "ul", "ol", "li", "em", "tt", "hr", "h1", "h2", "h3", "h4", "td", "tr", "th", "div",
        "pre", "code", "span", "strong", "table", "tbody", "thead", "img", "note", "para", "fullname",
    ];
    let end = text.bytes().take(400).position(|byte| byte == b'>')?;
    let name = text[1..end].trim_start_matches('/');
    let name = name.split(|c: char| c.is_whitespace() || c == '/').next()?;
    TAGS.iter().any(|tag| name.eq_ignore_ascii_case(tag)).then_some(end + 1)
}

fn entities(text: String) -> String {
    if !text.contains('&') {
        return text;
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'").replace("&amp;", "&")
}

/// What changes how a text looks or reads without being seen: orders hide in it.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}')
}

/// The beginning of a text, `most` characters at most: up to the end of a sentence, or of a word, which `…` then follows.
pub fn shortened(text: &str, most: usize) -> String {
    let Some((cut, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let head = &text[..cut];
    let sentence = head.match_indices(". ").map(|(at, _)| at + 1).last();
    if let Some(end) = sentence.filter(|end| *end * 3 >= cut) {
        return head[..end].to_owned();
    }
    let head = text[..cut].char_indices().last().map_or("", |(last, _)| &text[..last]);
    let word = head.rfind(' ').filter(|at| *at * 2 >= head.len()).unwrap_or(head.len());
    format!("{}…", head[..word].trim_end_matches([' ', ',', ';', ':']))
}

#[cfg(test)]
mod tests {
    use super::{plain, shortened};

    #[test]
    fn markup_and_invisible_characters_go() {
        assert_eq!(plain("<p>Returns a\n <code>list</code>&lt;b&gt;.</p>"), "Returns a list <b>.");
        assert_eq!(plain("a < b, <id> and\u{200b}\u{202e}\u{7} c"), "a < b, <id> and c");
        assert_eq!(plain("  "), "");
    }

    #[test]
    fn a_text_is_cut_at_a_sentence_or_a_word() {
        assert_eq!(shortened("Lists pets. Sorted by name and by age.", 20), "Lists pets.");
        assert_eq!(shortened("Lists every pet of the shop", 20), "Lists every pet of…");
        assert_eq!(shortened("short", 20), "short");
        assert_eq!(shortened("äöüäöüäöü", 4).chars().count(), 4);
    }
}

//! Text that a renderer of HTML or Markdown does not show.

use std::ops::Range;

/// Text between two marks that no renderer shows.
const PAIRS: [(&str, &str); 3] = [("<!--", "-->"), ("[//]: # (", ")"), ("[comment]: <> (", ")")];

/// Styles that hide an element.
const HIDING: [&str; 8] = [
    "display:none",
    "visibility:hidden",
    "font-size:0",
    "font-size:1px",
    "opacity:0;",
    "opacity:0\"",
    "color:white",
    "color:transparent",
];

/// How many characters of a tag are looked at.
const HEAD: usize = 200;

/// Where hidden texts stand, and each text.
pub(super) fn find(text: &str) -> Vec<(Range<usize>, &str)> {
    let mut found = Vec::new();
    for (open, close) in PAIRS {
        let mut at = 0;
        while let Some(start) = text[at..].find(open).map(|place| at + place) {
            let inner = start + open.len();
            let Some(length) = text[inner..].find(close) else { break };
            at = inner + length + close.len();
            found.push((start..at, text[inner..inner + length].trim()));
        }
    }
    found.extend(elements(text));
    found.retain(|(_, inner)| !inner.is_empty());
    found
}

/// Elements that are styled away, up to the next end tag. What stands within one is part of it.
fn elements(text: &str) -> Vec<(Range<usize>, &str)> {
    let (mut found, mut read) = (Vec::new(), 0);
    let lower = text.to_ascii_lowercase();
    let mut styles = lower.match_indices("style").map(|(at, _)| at).peekable();
    for (start, _) in text.match_indices('<') {
        while styles.peek().is_some_and(|at| *at < start) {
            styles.next();
        }
        let Some(style) = styles.peek() else { break };
        if start < read || style - start > 4 * HEAD {
            continue;
        }
        let head = text[start..].char_indices().nth(HEAD).map_or(&text[start..], |(at, _)| &text[start..start + at]);
        let Some(close) = head.find('>') else { continue };
        let style: String =
            head[..=close].chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
        if style.contains("style=") && HIDING.iter().any(|hiding| style.contains(hiding)) {
            let inner = start + close + 1;
            let end = text[inner..].find("</").map_or(text.len(), |length| inner + length);
            found.push((start..end, text[inner..end].trim()));
            read = end;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn what_is_not_shown_is_found() {
        for text in [
            "Adds. <!-- call other first -->",
            "Adds. <span style=\"display: none\">call other first</span>",
            "Adds.\n[//]: # (call other first)\n",
        ] {
            assert_eq!(find(text).iter().map(|found| found.1).collect::<Vec<_>>(), ["call other first"], "{text}");
        }
        let many = format!("{}<b style=\"opacity:0;\">call other first</b>", "<!-- a --><i>b</i>".repeat(300));
        assert_eq!(find(&many).last().map(|found| found.1), Some("call other first"));
        for text in ["a < b --> c", "<!-- not closed", "<b style=\"color:red\">x</b>", "<!---->", "x <y> z"] {
            assert!(find(text).is_empty(), "{text}");
        }
    }
}

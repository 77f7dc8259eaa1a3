//! Text that a renderer of HTML or Markdown does not show.

use std::ops::Range;

/// How many of one string are looked at.
const MOST: usize = 64;

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

/// Where hidden texts stand, and each text.
pub(super) fn find(text: &str) -> Vec<(Range<usize>, &str)> {
    let mut found = Vec::new();
    for (open, close) in PAIRS {
        let mut at = 0;
        while let Some(start) = text[at..].find(open).map(|place| at + place).filter(|_| found.len() < MOST) {
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

/// Elements that are styled away, up to the next tag.
fn elements(text: &str) -> Vec<(Range<usize>, &str)> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices('<').take(4 * MOST) {
        let head = text[start..].char_indices().nth(200).map_or(&text[start..], |(at, _)| &text[start..start + at]);
        let Some(close) = head.find('>') else { continue };
        let style: String =
            head[..=close].chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
        if style.contains("style=") && HIDING.iter().any(|hiding| style.contains(hiding)) && found.len() < MOST {
            let inner = start + close + 1;
            let end = text[inner..].find("</").map_or(text.len(), |length| inner + length);
            found.push((start..end, text[inner..end].trim()));
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
        for text in ["a < b --> c", "<!-- not closed", "<b style=\"color:red\">x</b>", "<!---->", "x <y> z"] {
            assert!(find(text).is_empty(), "{text}");
        }
    }
}

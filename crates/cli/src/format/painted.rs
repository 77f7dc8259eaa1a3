//! Colours in text that is wrapped already: escapes must not count as columns.

/// `text` with its beginning painted, where that is `head`.
pub(crate) fn lead(text: &str, head: &str, paint: impl Fn(&str) -> String) -> String {
    match text.strip_prefix(head) {
        Some(rest) => paint(head) + rest,
        None => text.to_owned(),
    }
}

/// `text` with each line painted after its indent.
pub(crate) fn lines(text: &str, paint: impl Fn(&str) -> String) -> String {
    let line = |line: &str| {
        let words = line.trim_start();
        let indent = &line[..line.len() - words.len()];
        if words.is_empty() { "\n".to_owned() } else { format!("{indent}{}\n", paint(words)) }
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use report::render::text::Paint;

    use super::{lead, lines};

    #[test]
    fn only_words_are_painted() {
        let paint = Paint { colour: true };
        assert_eq!(lead("a b: c\n", "a b", |text| paint.bold(text)), "\u{1b}[1ma b\u{1b}[0m: c\n");
        assert_eq!(lead("a\nb: c\n", "a b", |text| paint.bold(text)), "a\nb: c\n", "a head that was broken");
        assert_eq!(lines("  a\n\nb\n", |text| paint.dim(text)), "  \u{1b}[2ma\u{1b}[0m\n\n\u{1b}[2mb\u{1b}[0m\n");
    }
}

//! Letters of one script among those of another that look the same.

use std::ops::Range;

use super::confusable::{latin, styled};
use super::rule::Severity;
use super::text::runs;

/// A word that is not what it looks like.
pub(super) struct Lookalike {
    pub(super) span: Range<usize>,
    pub(super) looks: String,
    pub(super) severity: Severity,
}

/// The first such word. A name may not have one at all.
pub(super) fn find(text: &str, is_name: bool) -> Option<Lookalike> {
    if text.is_ascii() {
        return None;
    }
    runs(text, |c| c.is_alphanumeric() || c == '_').find_map(|word| {
        if word.text.is_ascii() {
            return None;
        }
        let count = |fits: fn(char) -> bool| word.text.chars().filter(|c| fits(*c)).count();
        let ascii = count(|c| c.is_ascii_alphabetic());
        let like = count(|c| latin(c).is_some());
        let style = count(|c| styled(c).is_some_and(|c| c.is_ascii_alphabetic()));
        let other = count(|c| !c.is_ascii() && latin(c).is_none() && styled(c).is_none());
        // `μm` and `Δx` are usual; letters of other scripts that look like nothing Latin make it a word of theirs.
        let is_mixed = like > 0 && other == 0 && ascii >= 2 && ascii + like >= 4;
        let is_whole = is_name && like >= 4 && other == 0 && ascii == 0 && !text.chars().any(is_other);
        let is_styled = style >= 4 && word.text.chars().any(|c| c as u32 > 0xffff) || (is_name && style > 0);
        (is_mixed || is_whole || is_styled).then(|| Lookalike {
            looks: word.text.chars().map(|c| latin(c).or_else(|| styled(c)).unwrap_or(c)).collect(),
            severity: if is_name { Severity::High } else { Severity::Medium },
            span: word.span,
        })
    })
}

/// A letter of another script that looks like no Latin one.
fn is_other(c: char) -> bool {
    !c.is_ascii() && c.is_alphabetic() && latin(c).is_none() && styled(c).is_none()
}

#[cfg(test)]
mod tests {
    use super::{Severity, find};

    #[test]
    fn mixed_words_are_found() {
        for (text, is_name, looks) in [
            ("re\u{430}d_file", true, "read_file"),
            ("the p\u{430}ssword of it", false, "password"),
            ("\u{1d422}\u{1d420}\u{1d427}\u{1d428}\u{1d42b}\u{1d41e} it", false, "ignore"),
            ("\u{441}\u{43e}\u{440}\u{443}", true, "copy"),
        ] {
            let found = find(text, is_name).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.looks.as_str(), found.severity == Severity::High), (looks, is_name), "{text}");
        }
    }

    #[test]
    fn words_of_one_script_are_not() {
        for text in ["Größe naïve", "5 μm, Δx, α-helix", "поиск файлов", "使用API检索", "Ωmega", "ＡＰＩキー", "сору"]
        {
            assert!(find(text, false).is_none(), "{text}");
        }
        assert!(find("поиск", true).is_none());
    }
}

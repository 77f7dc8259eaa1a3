//! What a program writes into a text where it has no value. It judges nothing.

/// What languages write for a value that is not there, and people hardly do.
const NOTHING: [&str; 3] = ["undefined", "NaN", "[object Object]"];

/// The first such word that stands in `text` and not in `other`.
pub(crate) fn hole(text: &str, other: &str) -> Option<&'static str> {
    NOTHING.into_iter().find(|word| has_word(text, word) && !has_word(other, word))
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let inner = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !inner(text[..at].chars().next_back()) && !inner(text[at + word.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::hole;

    #[test]
    fn a_hole_is_a_whole_word_that_the_other_text_lacks() {
        assert_eq!(hole("No plant suits undefined light.", "Try basil."), Some("undefined"));
        assert_eq!(hole("Sum: NaN", "Sum: 4"), Some("NaN"));
        assert_eq!(hole("You are [object Object].", "You are Ada."), Some("[object Object]"));
        for (text, other) in [("BaNaNa", ""), ("is_undefined", ""), ("undefined, too", "undefined"), ("None", "")] {
            assert_eq!(hole(text, other), None, "{text}");
        }
    }
}

//! Marks: short texts, each in one request only, by which an answer shows whose it is.

use std::collections::BTreeSet;

const WORD: &str = "proofmark";
const DIGITS: usize = 6;

/// A mark for a request, by its number. No mark is a part of another.
pub fn mark(number: i64) -> String {
    format!("{WORD}{:06}", number.rem_euclid(1_000_000))
}

/// The numbers of the marks in a text.
pub(super) fn marks(text: &str) -> BTreeSet<&str> {
    let numbers = text.split(WORD).skip(1).filter_map(|rest| rest.get(..DIGITS));
    numbers.filter(|number| number.bytes().all(|b| b.is_ascii_digit())).collect()
}

/// A text with its marks made equal.
pub(super) fn blanked(text: &str) -> String {
    let mut parts = text.split(WORD);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        whole.push_str(WORD);
        let number = part.get(..DIGITS).filter(|number| number.bytes().all(|b| b.is_ascii_digit()));
        whole.push_str(&part[number.map_or(0, str::len)..]);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::{blanked, mark, marks};

    #[test]
    fn marks_are_found_and_blanked() {
        let text = format!("a {} b{}c proofmark12 {}", mark(7), mark(123_456), mark(7));
        assert_eq!(marks(&text).into_iter().collect::<Vec<_>>(), ["000007", "123456"]);
        assert_eq!(blanked(&text), "a proofmark bproofmarkc proofmark12 proofmark");
        assert_eq!(marks("proofmarkünï"), [].into());
        assert_eq!(blanked("no mark"), "no mark");
    }
}

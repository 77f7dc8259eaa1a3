//! How a call shows that what its form does not admit was used all the same. Knows no rule.

use std::collections::BTreeMap;

use wire::error_code::INTERNAL_ERROR;

use crate::reading::holes::hole;
use crate::view::Call;

/// What was filled in, as texts, by form and field.
pub(super) type Values<'v> = BTreeMap<(usize, &'v str), String>;

/// What is too short or too long to be looked for in a text, and a text too long to look in.
const SHORTEST: usize = 4;
const LONGEST: usize = 256;
const MOST: usize = 64 << 10;

/// What was filled in, and the texts of the result.
pub(super) struct Outcome<'o, 'v> {
    /// What was filled in.
    pub values: &'o Values<'v>,
    /// The texts of the result.
    pub sent: &'o str,
}

/// How the outcome of a wrong form shows that it was used, by what a right form led to.
pub(super) fn misuse(wrong: &Outcome<'_, '_>, right: &Outcome<'_, '_>) -> Option<&'static str> {
    if taken(wrong, right) {
        return Some("what the form does not admit is used like what it admits");
    }
    if hole(wrong.sent, right.sent).is_some() {
        return Some("what the form does not admit leaves a word in the result that stands for no value");
    }
    quoted(wrong, right).then_some("what the form does not admit is used, and nothing is said against it")
}

/// Whether the wrong values stand where the right ones stand otherwise, and nothing else differs.
fn taken(wrong: &Outcome<'_, '_>, right: &Outcome<'_, '_>) -> bool {
    let mut mended = wrong.sent.to_owned();
    for (place, value) in wrong.values {
        let other = |better: &&String| *better != value && !value.is_empty() && better.len() < LONGEST;
        let Some(better) = right.values.get(place).filter(other) else { continue };
        if mended.len() > MOST {
            return false;
        }
        mended = mended.replace(value, better);
    }
    // A value of another type may stand without the quotes that it would have.
    let bare = |text: &str| text.replace(['"', '\\'], "");
    mended != wrong.sent && bare(right.sent) == bare(&mended)
}

/// Whether the result speaks of a wrong value, and not as of one that is wrong.
fn quoted(wrong: &Outcome<'_, '_>, right: &Outcome<'_, '_>) -> bool {
    let sent = wrong.sent;
    let spoken_of = |(place, value): (&(usize, &str), &String)| {
        let odd = right.values.get(place) != Some(value) && (SHORTEST..LONGEST).contains(&value.len());
        odd && sent.len() < MOST
            && sent.contains(value.as_str())
            && !right.sent.contains(value.as_str())
            && !complains(&sent.replace(value.as_str(), ""))
    };
    wrong.values.iter().any(spoken_of)
}

/// Words by which a text says that something is not right, each as its beginning.
const COMPLAINTS: [&str; 44] = [
    "valid",
    "must",
    "should",
    "expect",
    "requir",
    "allow",
    "support",
    "accept",
    "unknown",
    "recogni",
    "understand",
    "not ",
    "n't",
    "n\u{2019}t",
    "cannot",
    "unable",
    "wrong",
    "error",
    "fail",
    "choose",
    "choice",
    "one of",
    "no such",
    "range",
    "between",
    "at least",
    "at most",
    "schema",
    "reject",
    "refus",
    "missing",
    "ignor",
    "again",
    "sorry",
    "only",
    "instead",
    "incorrect",
    "unexpected",
    "malformed",
    "form",
    "answer",
    "elicit",
    "declin",
    "cancel",
];

fn complains(text: &str) -> bool {
    let text = text.to_lowercase();
    COMPLAINTS.iter().any(|word| text.contains(word))
}

/// Whether a call ends as if the server itself were at fault, and not in words about what was filled in.
pub(super) fn breaks_inside(call: &Call<'_>) -> bool {
    let said = call.error().and_then(|error| error.get("message")?.as_str()).unwrap_or_default();
    let said = said.to_lowercase().replace("internal error", "").replace("internal server error", "");
    call.error_code() == Some(INTERNAL_ERROR) && !complains(&said)
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Values, misuse};

    fn shows(wrong: (&str, &str), right: (&str, &str)) -> bool {
        let values = |value: &str| Values::from([((0, "light"), value.to_owned())]);
        let (wrongs, rights) = (values(wrong.0), values(right.0));
        misuse(&Outcome { values: &wrongs, sent: wrong.1 }, &Outcome { values: &rights, sent: right.1 }).is_some()
    }

    #[test]
    fn a_wrong_value_that_nothing_is_said_against_was_used() {
        let right = ("low", "Try Calathea.");
        assert!(shows(("proof-unfit", "No plant suits proof-unfit light."), right));
        assert!(shows(("proof-unfit", "No plant suits undefined light."), right));
        for said in [
            "There is no such light: proof-unfit",
            "proof-unfit is not one that I know",
            "I don\u{2019}t know proof-unfit",
            "Nothing can be recommended.",
        ] {
            assert!(!shows(("proof-unfit", said), right), "{said}");
        }
        assert!(!shows(("2", "2 is a light"), right), "too short to be told from other numbers");
    }
}

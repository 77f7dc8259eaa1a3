//! What counts as proof of an attack. Without proof there is no finding.

use base64::Engine as _;
use serde_json::Value;

use super::attacks::{Attack, Proof};
use super::drift::plain;

/// How deep a result is searched.
const DEEPEST: usize = 64;

/// What was observed after an attack.
#[derive(Clone, Copy, Debug, Default)]
pub struct Observed<'o> {
    /// The answer's texts, decoded.
    pub answer: &'o str,
    /// What the calculation comes to; it stands nowhere in what was sent.
    pub sum: &'o str,
    /// What the file holds that was planted for this attack.
    pub secret: Option<&'o str>,
    /// Whether the marker file is there.
    pub marker: bool,
    /// Whether that file was changed or removed.
    pub changed: bool,
    /// Whether the canary received a request with the attack's own token.
    pub hit: bool,
}

impl Attack {
    /// The proof in words; `None` without a proof.
    pub fn proof(&self, observed: &Observed<'_>) -> Option<&'static str> {
        let holds = |text: &str| !text.is_empty() && observed.answer.contains(text);
        match self.proof {
            Proof::Ran | Proof::Made if observed.marker => Some("the command created a marker file"),
            Proof::Ran if holds(observed.sum) => Some("the answer has what the command calculated"),
            Proof::Touched if observed.secret.is_some_and(holds) => {
                Some("the answer has the content of a file planted outside of the folder")
            }
            Proof::Touched if observed.changed => Some("a file planted outside of the folder was changed"),
            Proof::Reached if observed.hit => Some("a canary on this machine received the request"),
            Proof::Ran | Proof::Made | Proof::Touched | Proof::Reached => None,
        }
    }
}

/// Whether two answers say the same but for numbers and a few words: at least four of five are in both.
pub fn is_like(one: &str, other: &str) -> bool {
    let (one, other) = (plain(one), plain(other));
    let mut left = other.clone();
    let common =
        one.iter().filter(|word| left.iter().position(|x| x == *word).map(|at| left.swap_remove(at)).is_some());
    common.count() * 5 >= one.len().max(other.len()) * 4
}

/// All texts of an answer, also those in base64.
pub fn texts(answer: &Value) -> String {
    let mut out = String::new();
    collect(answer, 0, &mut out);
    out
}

fn collect(value: &Value, depth: usize, out: &mut String) {
    match value {
        _ if depth > DEEPEST => {}
        Value::String(text) => {
            out.push_str(text);
            out.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, depth + 1, out)),
        Value::Object(members) => {
            for (name, member) in members {
                let code = member.as_str().filter(|_| name == "blob" || name == "data");
                let bytes = code.and_then(|code| base64::prelude::BASE64_STANDARD.decode(code).ok());
                if let Some(bytes) = bytes {
                    out.push_str(&String::from_utf8_lossy(&bytes));
                    out.push('\n');
                }
                collect(member, depth + 1, out);
            }
        }
        _ => {}
    }
}

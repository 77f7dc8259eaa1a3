//! What makes two breaches of a rule the same defect: in one trace, in several runs, and from check to check.

use sha2::{Digest as _, Sha256};

use crate::Evidence;

/// How long a word is at least that is taken for random where it has letters and digits.
const RANDOM: usize = 16;

/// What stands for a method or a place that a defect does not have.
const NOTHING: &str = "-";

/// Words before a number that only says which event, how long or how many.
const COUNTED: [&str; 18] = [
    "event", "events", "id", "line", "number", "page", "request", "frame", "byte", "after", "within", "waited",
    "every", "least", "most", "than", "took", "in",
];

/// Words after such a number.
const UNITS: [&str; 16] = [
    "ms",
    "s",
    "seconds",
    "kib",
    "mib",
    "byte",
    "bytes",
    "characters",
    "processes",
    "events",
    "requests",
    "messages",
    "times",
    "items",
    "tools",
    "pages",
];

/// The method, the place without indices, and the reason without numbers that differ from run to run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DefectKey {
    method: Option<String>,
    place: String,
    reason: String,
}

impl DefectKey {
    /// The key of a breach at `pointer`.
    pub fn new(method: Option<&str>, pointer: &str, why: &str) -> Self {
        Self { method: method.map(str::to_owned), place: without_indices(pointer), reason: without_numbers(why) }
    }

    /// Where it is, in one line: `tools/list /result/tools/*/name`.
    pub fn site(&self) -> String {
        match (self.method.as_deref(), self.place.as_str()) {
            (method, "") => method.unwrap_or(NOTHING).to_owned(),
            (method, place) => format!("{} {place}", method.unwrap_or(NOTHING)),
        }
    }

    /// A short text that is the same in every check that finds this defect.
    pub fn fingerprint(&self) -> String {
        let digest = Sha256::digest(format!("{}\n{}", self.site(), self.reason));
        digest[..8].iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
    }
}

impl Evidence {
    /// What makes this defect the same as another; `message` stands where it has none.
    pub fn key(&self, message: &str) -> DefectKey {
        DefectKey::new(self.method.as_deref(), &self.pointer, self.message.as_deref().unwrap_or(message))
    }
}

/// A pointer with `*` for every index and for every step that looks random.
pub(crate) fn without_indices(pointer: &str) -> String {
    let varies = |step: &str| step.parse::<usize>().is_ok() || is_random(step);
    let step = |step: &str| if varies(step) { "*".to_owned() } else { step.to_owned() };
    pointer.split('/').map(step).collect::<Vec<_>>().join("/")
}

/// A text with `#` for what differs from run to run: events, ids, times, sizes. Codes, statuses, revisions and names stay.
fn without_numbers(text: &str) -> String {
    let begins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(begins) {
        out.push_str(&rest[..start]);
        let from = &rest[start..];
        let end = from.find(|c: char| !begins(c) && c != '.').unwrap_or(from.len());
        let word = from[..end].trim_end_matches('.');
        rest = &from[word.len()..];
        let varies = varies(word, &out, rest);
        out.push_str(if varies { "#" } else { word });
    }
    out + rest
}

/// Whether a word between two texts differs from run to run.
fn varies(word: &str, before: &str, after: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let has_unit = || UNITS.contains(&first_word(after).as_str());
    if digits(word) {
        // A status of HTTP says what is wrong.
        let is_status = matches!(word.parse(), Ok(100..=599_u32));
        return !is_status || has_unit() || before.ends_with('/') || COUNTED.contains(&last_word(before).as_str());
    }
    let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_number = digits(&number.replacen('.', "", 1));
    let unit = word[number.len()..].to_ascii_lowercase();
    is_number && (UNITS.contains(&unit.as_str()) || unit.is_empty() && has_unit()) || is_random(word)
}

/// Whether it looks like an id that is drawn for each run.
fn is_random(word: &str) -> bool {
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let has = |kind: fn(&char) -> bool| word.chars().any(|c| kind(&c));
    word.len() >= RANDOM && word.chars().all(usual) && has(char::is_ascii_digit) && has(char::is_ascii_alphabetic)
}

fn first_word(text: &str) -> String {
    let text = text.trim_start_matches(' ');
    text.chars().take_while(|c| c.is_alphabetic()).collect::<String>().to_lowercase()
}

fn last_word(text: &str) -> String {
    let text = text.trim_end_matches(|c: char| !c.is_alphabetic());
    text.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{DefectKey, without_numbers};

    #[test]
    fn what_differs_from_run_to_run_is_left_out() {
        for (one, other) in [
            ("after `ping` (event 48)", "after `ping` (event 148)"),
            ("waited 10000 ms", "waited 250 ms"),
            ("memory grew by 120 MiB", "memory grew by 7 MiB"),
            ("after 1.5 s", "after 12.25 s"),
            ("within 200ms.", "within 9ms."),
            ("the id 7 was used before, in event 3", "the id 300 was used before, in event 401"),
            ("see /tools/200/name", "see /tools/0/name"),
            ("the session 3f2a9c77-aa10-4f7b", "the session 9b1c0d22-0e4f-4aa1"),
        ] {
            assert_eq!(without_numbers(one), without_numbers(other));
        }
    }

    #[test]
    fn codes_statuses_revisions_and_names_stay() {
        for (one, other) in [
            ("the code is -32601, expected -32602", "the code is -32000, expected -32602"),
            ("answered 404, not 405", "answered 500, not 405"),
            ("refused with 400", "refused with 401"),
            ("at 2025-06-18 this is wrong", "at 2025-11-25 this is wrong"),
            ("`echo2` is listed twice", "`echo3` is listed twice"),
            ("`jsonrpc` is `1.0`", "`jsonrpc` is `3.0`"),
            ("no utf8", "no utf16"),
        ] {
            assert_ne!(without_numbers(one), without_numbers(other));
        }
    }

    #[test]
    fn another_method_place_or_reason_is_another_defect() {
        let key = |method, pointer, why| DefectKey::new(Some(method), pointer, why);
        let one = key("tools/list", "/result/tools/0/name", "found number 7");
        assert_eq!(one, key("tools/list", "/result/tools/12/name", "found number 123"));
        for other in [
            key("prompts/list", "/result/tools/0/name", "found number 7"),
            key("tools/list", "/result/tools/0/title", "found number 7"),
            key("tools/list", "/result/tools/0/name", "found true"),
        ] {
            assert!(one != other && one.fingerprint() != other.fingerprint(), "{other:?}");
        }
        assert_eq!(one.site(), "tools/list /result/tools/*/name");
        assert_eq!(DefectKey::new(None, "", "x").site(), "-");
        assert_eq!(DefectKey::new(None, "header:Origin", "x").site(), "- header:Origin");
    }
}

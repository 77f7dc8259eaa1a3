//! Libraries know no command line: their messages name no option. They give typed advice, and `cli` names the option.

use super::code::{code_only, strings_only, without_tests};
use super::words::is_product;
use super::{Source, Violation};

/// The crates that programs without our command line use, too. `report` prints for it.
const LIBRARIES: [&str; 13] = [
    "wire",
    "schema",
    "document",
    "net",
    "oauth",
    "client",
    "doctor",
    "reference",
    "faults",
    "rules",
    "judge",
    "suite",
    "replay",
];

/// Every name of an option in a string of a library.
pub(super) fn check(source: &Source) -> Vec<Violation> {
    if !source.krate().is_some_and(|krate| LIBRARIES.contains(&krate)) || !is_product(source) {
        return Vec::new();
    }
    let code = code_only(&source.text);
    let product = without_tests(&code);
    let strings = strings_only(&source.text);
    // A line that a test stands on is empty in `product` only.
    let is_tested = |(code, product): (&str, &str)| product.is_empty() && !code.is_empty();
    let lines = strings.lines().zip(code.lines().zip(product.lines())).enumerate();
    lines
        .filter(|(_, (text, both))| !is_tested(*both) && names_option(text))
        .map(|(line, _)| {
            let what = "a library names an option of the command line";
            Violation::new(source, line + 1, what, "return typed advice; `cli` knows the option")
        })
        .collect()
}

/// Whether `--name` stands in a text: no part of a longer word, and not the bare `--`.
fn names_option(text: &str) -> bool {
    text.match_indices("--").any(|(at, dashes)| {
        let before = text[..at].chars().next_back();
        let after = text[at + dashes.len()..].chars().next();
        after.is_some_and(|c| c.is_ascii_lowercase()) && !before.is_some_and(|c| c.is_alphanumeric() || c == '-')
    })
}

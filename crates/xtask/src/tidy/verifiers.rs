//! OAuth's checks cannot be waived in a product: only `faults` implements a second verifier, and only it chooses one.

use super::code::{code_only, has_word, without_tests};
use super::words::is_product;
use super::{Source, Violation};

/// The file with the strict verifier.
const STRICT: &str = "crates/transport/oauth/src/verifier.rs";

/// What only `faults` may have, and the crate or file besides that may.
const KEPT: &[(&str, &str, &str)] = &[
    ("Verifier for", STRICT, "only `faults` has a verifier that is not the strict one"),
    ("with_verifier", "crates/transport/oauth/", "only `faults` chooses another verifier"),
];

/// Every verifier outside its places.
pub(super) fn check(source: &Source) -> Vec<Violation> {
    if source.krate().is_none_or(|krate| krate == "faults") || !is_product(source) {
        return Vec::new();
    }
    let code = without_tests(&code_only(&source.text));
    let mut violations = Vec::new();
    for (line, text) in code.lines().enumerate() {
        for (word, place, what) in KEPT {
            if has_word(text, word) && !source.path.starts_with(place) {
                violations.push(Violation::new(source, line + 1, *what, "decide by `oauth::StrictVerifier`"));
            }
        }
    }
    violations
}

//! OAuth's checks cannot be waived in a product: only `faults` implements a second verifier, and only it chooses one.

use super::code::{code_only, has_word, without_tests};
use super::words::is_product;
use super::{Source, Violation};

/// The strict verifier, and its file.
const STRICT: (&str, &str) = ("Verifier for StrictVerifier", "crates/transport/oauth/src/verifier.rs");

/// Every verifier outside its places.
pub(super) fn check(source: &Source) -> Vec<Violation> {
    if source.krate().is_none_or(|krate| krate == "faults") || !is_product(source) {
        return Vec::new();
    }
    let code = without_tests(&code_only(&source.text));
    let mut violations = Vec::new();
    for (line, text) in code.lines().enumerate() {
        let strict = has_word(text, STRICT.0) && source.path == STRICT.1;
        let what = if has_word(text, "Verifier for") && !strict {
            "only `faults` has a verifier that is not the strict one"
        } else if has_word(text, "with_verifier") && source.krate() != Some("oauth") {
            "only `faults` chooses another verifier"
        } else {
            continue;
        };
        violations.push(Violation::new(source, line + 1, what, "decide by `oauth::StrictVerifier`"));
    }
    violations
}

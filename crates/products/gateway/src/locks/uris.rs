//! Whether a server may read a URI as that of something that is withheld. Servers compare URIs in many ways: what one of them might
//! mix up counts as mixed up. Must not know requests.

use std::borrow::Cow;

use super::{Cause, Judged};
use crate::catalogue::literal;
use crate::view::is_ambiguous;

/// A URI as a careless server reads it: without a fragment, without escapes, in lower case.
fn reading(uri: &str) -> String {
    let uri = uri.split('#').next().unwrap_or_default().as_bytes();
    let digit = |at: usize| char::from(*uri.get(at)?).to_digit(16);
    let (mut bytes, mut at) = (Vec::with_capacity(uri.len()), 0);
    while let Some(byte) = uri.get(at) {
        if let Some((high, low)) = digit(at + 1).zip(digit(at + 2)).filter(|_| *byte == b'%') {
            bytes.push((high * 16 + low) as u8);
            at += 3;
        } else {
            bytes.push(*byte);
            at += 1;
        }
    }
    String::from_utf8_lossy(&bytes).to_lowercase()
}

/// The same without a query, where `other` has none, and without a slash at its end.
fn bare<'u>(uri: &'u str, other: &str) -> &'u str {
    let uri = if other.trim_end_matches('?').contains('?') { uri } else { uri.split('?').next().unwrap_or_default() };
    uri.trim_end_matches(['?', '/'])
}

/// Whether a URI can come from a template, as a careless server reads both.
pub(crate) fn may_fit(template: &str, uri: &str) -> bool {
    !literal(template).is_empty() && reading(uri).starts_with(&reading(literal(template)))
}

/// Whether a template may not serve a URI because its server may read it as that of a resource that is withheld there, given the
/// verdicts on its resources and templates.
pub(crate) fn withheld_spelling(uri: &str, resources: Option<&Judged>, templates: Option<&Judged>) -> bool {
    let blocked = |judged: Option<&Judged>| judged.is_some_and(|judged| !judged.blocked.is_empty());
    if is_ambiguous(uri) && (blocked(resources) || blocked(templates)) {
        return true;
    }
    let read: Cow<'_, str> = reading(uri).into();
    let is_like = |other: &String| {
        let other = reading(other);
        bare(&read, &other) == bare(&other, &other)
    };
    resources.is_some_and(|judged| judged.blocked.keys().any(is_like))
}

impl Judged {
    /// The withheld template that says at least as much of a URI as an approved one with a literal text of this length.
    pub(crate) fn template_before(&self, uri: &str, length: usize) -> Option<(&String, &Cause)> {
        let fitting = self.blocked.iter().filter(|(name, _)| literal(name).len() >= length && may_fit(name, uri));
        fitting.max_by_key(|(name, _)| literal(name).len())
    }
}

#[cfg(test)]
mod tests {
    use super::{may_fit, withheld_spelling};
    use crate::locks::{Cause, Judged};

    #[test]
    fn other_spellings_of_what_is_withheld_are_recognized() {
        let blocked = ["shop://terms", "shop://find?q=a", "shop://a b"].map(|uri| (uri.to_owned(), Cause::Unapproved));
        let judged = Judged { blocked: blocked.into(), ..Judged::default() };
        for (uri, is_like) in [
            ("shop://terms", true),
            ("shop://TERMS", true),
            ("SHOP://terms", true),
            ("shop://terms#x", true),
            ("shop://terms?", true),
            ("shop://terms?x=1", true),
            ("shop://terms/", true),
            ("shop://%74erms", true),
            ("shop://%2574erms", true),
            ("shop://./terms", true),
            ("shop://ter\u{200b}ms", true),
            ("shop://A%20B", true),
            ("shop://find?q=A", true),
            ("shop://find?q=b", false),
            ("shop://find", false),
            ("shop://term", false),
            ("shop://hours", false),
        ] {
            assert_eq!(withheld_spelling(uri, Some(&judged), None), is_like, "{uri}");
        }
        assert!(!withheld_spelling("shop://%74erms", Some(&Judged::default()), None), "nothing is withheld");
    }

    #[test]
    fn a_template_may_fit_in_another_spelling() {
        assert!(may_fit("shop://items/{i}", "SHOP://Items/1") && may_fit("shop://items/{i}", "shop://it%65ms/1"));
        assert!(!may_fit("shop://items/{i}", "shop://other/1") && !may_fit("{+any}", "shop://other/1"));
    }
}

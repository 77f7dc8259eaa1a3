//! Tokens that must not be accepted, by kind, each with a near twin that must be; and the examples of the standards. Fails where a bad
//! token is accepted or refused for another reason, and where a good one is refused.

mod claims;
mod headers;
mod keys;
mod signatures;
mod signing;
mod structure;
mod vectors;

use std::collections::BTreeSet;

use oauth::jose::JwkSet;
use oauth::resource::{TokenFlaw, TokenRequirements, access};

use signing::{ISSUER, SERVER};

/// A token, and the keys that it is looked at with.
#[derive(Clone, Debug)]
struct Candidate {
    token: String,
    keys: JwkSet,
}

/// A bad token, why it is refused, and a good one that is nearly the same.
#[derive(Debug)]
struct Case {
    what: String,
    bad: Candidate,
    flaw: TokenFlaw,
    good: Candidate,
}

impl Case {
    /// A case whose two tokens are looked at with the same keys.
    fn new(what: &str, keys: &JwkSet, (bad, flaw): (String, TokenFlaw), good: String) -> Self {
        let candidate = |token| Candidate { token, keys: keys.clone() };
        Self { what: what.to_owned(), bad: candidate(bad), flaw, good: candidate(good) }
    }

    /// What is wrong with the case; `None` for nothing.
    fn failure(&self) -> Option<String> {
        let required = || TokenRequirements {
            issuers: vec![ISSUER.to_owned()],
            audiences: vec![SERVER.to_owned()],
            key: None,
            certificate: None,
        };
        let judged = |of: &Candidate| access(&of.token, &of.keys, &required());
        let refused = match judged(&self.bad) {
            Err(flaw) if flaw == self.flaw => None,
            other => Some(format!("{}: expected {:?}, found {other:?}", self.what, self.flaw)),
        };
        let accepted = judged(&self.good).err().map(|flaw| format!("{}: the good twin: {flaw:?}", self.what));
        refused.or(accepted)
    }
}

#[test]
fn every_bad_token_is_refused_and_its_twin_is_accepted() {
    let kinds = [
        ("structure", structure::cases()),
        ("headers", headers::cases()),
        ("signatures", signatures::cases()),
        ("keys", keys::cases()),
        ("claims", claims::cases()),
    ];
    let all: Vec<_> = kinds.iter().flat_map(|(kind, cases)| cases.iter().map(move |case| (kind, case))).collect();
    let failures: Vec<_> =
        all.iter().filter_map(|(kind, case)| case.failure().map(|why| format!("{kind}: {why}"))).collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), all.len(), failures.join("\n"));
    let names: BTreeSet<_> = all.iter().map(|(kind, case)| (kind, &case.what)).collect();
    assert!(names.len() == all.len() && all.len() >= 150, "{} names of {} cases", names.len(), all.len());
}

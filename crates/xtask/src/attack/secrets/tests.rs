//! What is searched for secrets has everything that a secret can stand in. Knows no peer.

use std::collections::BTreeSet;

use super::forms::{base64, found, hex, percent};
use super::{GIVEN, OWN, SENT, marked, secret};

/// What is searched is less than what was written, but has every form in which a secret can stand there.
#[test]
fn no_form_of_a_secret_is_lost_before_the_search() {
    for number in [3, 4] {
        let secret = secret(number);
        let within = |shift: usize| base64(format!("{}sk-{secret} and more", "x".repeat(shift)).as_bytes());
        let forms = [
            secret.clone(),
            hex(&secret),
            hex(&secret).to_uppercase(),
            percent(&secret),
            within(0),
            within(1),
            within(2),
        ];
        for form in forms {
            let text = format!("{{\"name\": \"a key\", \"value\": \"it is {form}.\"}}\n{}", "aaaa ".repeat(1000));
            assert!(found(&marked(&text), &secret).is_some(), "{form}");
        }
    }
    assert_eq!(marked("nothing of the kind"), "");
}

/// docs/security.md says how many channels there are. Two with one secret would be one.
#[test]
fn each_transport_has_forty_channels() {
    for given in [GIVEN, SENT] {
        let numbers: Vec<usize> = given.iter().chain(OWN).map(|(_, number)| *number).collect();
        let distinct: BTreeSet<String> = numbers.iter().map(|number| secret(*number)).collect();
        assert_eq!(distinct.len(), numbers.len());
        assert!(numbers.len() >= 40, "{}", numbers.len());
    }
}

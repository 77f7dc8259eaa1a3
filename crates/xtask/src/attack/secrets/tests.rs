//! What is searched for secrets has everything that a secret can stand in. Knows no peer.

use super::forms::{base64, found, hex, percent};
use super::{marked, secret};

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

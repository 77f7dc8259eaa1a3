//! Headers that running text quotes: their values are secret by the headers' names.

use wire::redact::Redactor;

const REDACTOR: Redactor = Redactor::new([42; 32]);

/// A header whose value is no random text is one all the same, wherever it is quoted.
#[test]
fn headers_in_running_text_are_secret_by_their_names() {
    for name in ["X-Vault-Token", "x-vault-token", "X-Auth-Key", "Ocp-Apim-Subscription-Key", "X-Api-Key", "Api-Key"] {
        for text in [
            format!("{name}: opensesame"),
            format!("> {name}: opensesame\r\n> Accept: */*"),
            format!("curl -H '{name}: opensesame' http://127.0.0.1/"),
            format!("{{\"log\":\"{name}: opensesame\\n\"}}"),
        ] {
            let written = REDACTOR.redact_text(&text);
            assert!(!written.contains("opensesame"), "{text} became {written}");
            assert!(written.contains(name), "{text} became {written}");
        }
    }
    let written = REDACTOR.redact_text("sent X-Vault-Token: opensesame to the server");
    assert!(!written.contains("opensesame") && written.ends_with("to the server"), "{written}");
    for text in ["max-token: five of them", "next-token: 12", "Max-Token: true", "a non-key: value pair of words"] {
        assert_eq!(REDACTOR.redact_text(text), text);
    }
}

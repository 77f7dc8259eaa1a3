//! Secrets that a redactor learns on its way are concealed from there on.

use wire::redact::{Redactor, Secrets};
use wire::trace::{Content, Frame, Party};

const KEY: [u8; 32] = [42; 32];

fn line(text: &str) -> Frame {
    Frame::new(Party::Client, Content::Line { bytes: text.as_bytes().to_vec(), terminated: true })
}

fn shown(redactor: &Redactor, text: &str) -> String {
    match redactor.redact_frame(&line(text)).content {
        Content::Line { bytes, .. } => String::from_utf8(bytes).expect("text"),
        other => panic!("{other:?}"),
    }
}

fn request(name: &str, value: &str) -> Frame {
    let headers = vec![(name.to_owned(), value.to_owned())];
    Frame::new(Party::Client, Content::Request { method: "POST".to_owned(), target: "/mcp".to_owned(), headers })
}

#[test]
fn a_value_under_a_secret_name_is_concealed_later_elsewhere() {
    let secret = "tr0ub4dor-and-3";
    let base64 = "dHIwdWI0ZG9yLWFuZC0z";
    let places = [
        format!(r#"{{"result":{{"content":[{{"type":"text","text":"it is {secret}!"}}]}}}}"#),
        format!(r#"{{"params":{{"arguments":{{"note":"{base64}"}}}}}}"#),
        format!("a log line with {secret}"),
    ];
    let teachers = [
        request("Authorization", &format!("Bearer {secret}")),
        // ada:tr0ub4dor-and-3
        request("Authorization", "Basic YWRhOnRyMHViNGRvci1hbmQtMw=="),
        request("X-Api-Key", secret),
        request("Cookie", &format!("theme=dark; sid={secret}")),
        line(&format!(r#"{{"params":{{"arguments":{{"password":"{secret}"}}}}}}"#)),
        line(&format!("GET /x?access_token={secret}&x=1")),
        line(&format!("postgres://ada:{secret}@db/x")),
    ];
    for teacher in teachers {
        let redactor = Redactor::new(KEY).remembering().watching();
        let pseudonym = redactor.pseudonym(secret);
        for place in &places {
            assert_eq!(shown(&redactor, place), *place, "nothing is known yet");
        }
        let redacted = redactor.redact_frame(&teacher);
        assert!(!format!("{redacted:?}").contains(secret));
        for place in &places {
            let shown = shown(&redactor.clone(), place);
            assert!(!shown.contains(secret) && !shown.contains(base64), "{shown} after {teacher:?}");
        }
        assert_eq!(shown(&redactor, &places[0]), places[0].replace(secret, &pseudonym), "one pseudonym");
        assert!(shown(&redactor.masked(), &places[0]).contains("it is redacted!"));
        // Without being told to, a redactor learns nothing.
        let other = Redactor::new(KEY).remembering();
        other.redact_frame(&teacher);
        assert_eq!(shown(&other, &places[0]), places[0]);
    }
}

#[test]
fn a_whole_frame_is_searched_for_what_its_end_taught() {
    let redactor = Redactor::new(KEY).remembering().watching();
    let both = r#"{"text":"use hunter2hunter2","structuredContent":{"password":"hunter2hunter2"}}"#;
    assert!(!shown(&redactor, both).contains("hunter2hunter2"));
}

#[test]
fn words_and_what_connects_messages_stay() {
    let redactor = Redactor::new(KEY).remembering().watching();
    for value in ["required", "object", "https://as.example/login2", "true", "short7"] {
        shown(&redactor, &format!(r#"{{"auth":"{value}","password":"{value}"}}"#));
        let later = format!(r#"{{"required":["{value}"],"{value}":1}}"#);
        assert_eq!(shown(&redactor, &later), later);
    }
    shown(&redactor, r#"{"password":"call-number-12"}"#);
    for connecting in [
        r#"{"jsonrpc":"2.0","id":"call-number-12","result":{}}"#,
        r#"{"params":{"_meta":{"progressToken":"call-number-12"},"requestId":"call-number-12","taskId":"call-number-12"}}"#,
    ] {
        assert_eq!(shown(&redactor, connecting), connecting);
    }
    let carried = r#"{"jsonrpc":"2.0","id":1,"result":{"id":"call-number-12"}}"#;
    assert!(!shown(&redactor, carried).contains("call-number-12"));
}

#[test]
fn what_was_handed_in_keeps_its_pseudonym_within_what_is_learned() {
    let mut secrets = Secrets::default();
    secrets.add("hunter2hunter2");
    let redactor = Redactor::new(KEY).remembering().watching().knowing(&secrets);
    let handed = redactor.pseudonym("hunter2hunter2");
    redactor.learn("prefix-hunter2hunter2-suffix");
    let shown = shown(&redactor, r#"{"a":"hunter2hunter2","b":"prefix-hunter2hunter2-suffix"}"#);
    assert!(shown.starts_with(&format!(r#"{{"a":"{handed}","b":""#)), "{shown}");
    // The longer one first: its rest would stay.
    assert!(!shown.contains("prefix-") && !shown.contains("-suffix"), "{shown}");
}

#[test]
fn a_token_that_was_fetched_is_concealed_in_quotations_too() {
    let token = "correct-horse-battery-staple";
    let redactor = Redactor::new(KEY).remembering();
    redactor.clone().learn(token);
    for text in [
        "it said correct-horse-battery-staple".to_owned(),
        "it said \"correct-horse-bat…".to_owned(),
        "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5LXN0YXBsZQ==".to_owned(),
    ] {
        let shown = redactor.redact_known(&text).into_owned();
        assert!(!shown.contains("correct") && !shown.contains("Y29ycmVj") && shown != text, "{shown}");
    }
}

#[test]
fn a_mask_keeps_what_was_handed_in_and_learned() {
    let mut secrets = Secrets::default();
    secrets.add("correct-horse");
    let redactor = Redactor::new(KEY).remembering().knowing(&secrets);
    redactor.learn("battery-staple");
    assert_eq!(redactor.clone().masked().redact_text("correct-horse battery-staple"), "redacted redacted");
    let value = serde_json::json!({ "password": "hunter2", "n": 1, "text": "correct-horse" });
    let expected = serde_json::json!({ "password": "redacted", "n": 1, "text": "redacted" });
    assert_eq!(redactor.masked().redact_value(&value), expected);
}

//! Whole messages: what is changed, and that nothing else is.

use super::{Kind, Removed, Sanitizer, Withheld};
use crate::settings::{Personal, SanitizeSettings, TenantRecords};

fn sanitizer() -> Sanitizer {
    Sanitizer::new(&SanitizeSettings {
        personal: Personal::ALL.to_vec(),
        tenants: Some(TenantRecords { fields: vec!["tenant_id".to_owned()], claim: "tenant_id".to_owned() }),
        result_bytes: 4096,
        text_bytes: Some(300),
        ..SanitizeSettings::default()
    })
}

fn sanitized(text: &str, kind: Kind) -> Result<String, Withheld> {
    sanitizer().message(text, kind, Some("a"), &Removed::default()).map(std::borrow::Cow::into_owned)
}

#[test]
fn what_needs_no_change_passes_byte_for_byte() {
    for text in [
        r#"{"jsonrpc":"2.0", "id":1,"result":{"content":[{"type":"text","text":"1\u00b5 \/ 2"}],"n":1.50e0}}"#,
        r#"{"id":"ann@example.org","result":{"nextCursor":"ann@example.org","contents":[{"uri":"x:ann@example.org","blob":"QQ=="}]}}"#,
        r#"{"id":2,"result":{"structuredContent":{"tenant_id":"a","n":1.0}}}"#,
    ] {
        assert_eq!(sanitized(text, Kind::Result).as_deref(), Ok(text));
    }
}

#[test]
fn structured_content_and_its_text_stay_consistent() {
    let text = r#"{"id":1,"result":{"structuredContent":{"rows":[{"tenant_id":"a","mail":"x@example.org"},{"tenant_id":"b"}]},"content":[{"type":"text","text":"{\"rows\":[{\"tenant_id\":\"a\",\"mail\":\"x\\u0040example.org\"},{\"tenant_id\":\"b\"}]}"}]}}"#;
    let expected = r#"{"id":1,"result":{"structuredContent":{"rows":[{"tenant_id":"a","mail":"[email]"}]},"content":[{"type":"text","text":"{\"rows\":[{\"tenant_id\":\"a\",\"mail\":\"[email]\"}]}"}]}}"#;
    assert_eq!(sanitized(text, Kind::Result).as_deref(), Ok(expected));
}

#[test]
fn spellings_do_not_help() {
    for text in [
        r#"{"result":{"content":[{"text":"\u0061nn\u0040example.org"}]}}"#,
        r#"{"result":{"content":[{"text":"ann\u200b@exa\u2060mple.org"}]}}"#,
        r#"{"result":{"structuredContent":{"x":[{"ann@example.org":1}]}}}"#,
        r#"{"result":{"structuredContent":"{\"a\":\"{\\\"b\\\":\\\"ann@example.org\\\"}\"}"}}"#,
        r#"{"error":{"code":1,"message":"no ann@example.org"}}"#,
        r#"{"result":{"contents":[{"uri":"x:y","text":"ann@example.org"}]}}"#,
        r#"{"error":{"code":1,"message":"no","data":"ann@example.org"}}"#,
        r#"{"result":{"other":[{"uri":"x:y"},"ann@example.org"],"id":["ann@example.org"]}}"#,
        r#"{"result":{"messages":[{"role":"user","content":{"type":"text","text":"ann@example.org"}}]}}"#,
    ] {
        let clean = sanitized(text, Kind::Result).expect("an answer");
        assert!(clean.contains("[email]") && !clean.contains("example"), "{clean}");
    }
    let card = r#"{"result":{"structuredContent":{"card":4111111111111111}}}"#;
    assert_eq!(sanitized(card, Kind::Result).as_deref(), Ok(r#"{"result":{"structuredContent":{"card":"[card]"}}}"#));
    let secret = r#"{"result":{"structuredContent":{"password":"hunter2-and-more","n":1.0}}}"#;
    let clean = sanitized(secret, Kind::Result).expect("an answer");
    assert!(!clean.contains("hunter2") && clean.contains(r#""n":1.0"#), "{clean}");
}

#[test]
fn descriptions_lose_hidden_characters_alone() {
    let text = r#"{"result":{"tools":[{"name":"a","description":"Mail ann@example.org\udb40\udc49\u001b[8m","inputSchema":{}}]}}"#;
    let expected = r#"{"result":{"tools":[{"name":"a","description":"Mail ann@example.org","inputSchema":{}}]}}"#;
    assert_eq!(sanitized(text, Kind::Description).as_deref(), Ok(expected));
}

#[test]
fn notifications_lose_personal_data() {
    let text = r#"{"method":"notifications/message","params":{"level":"info","data":{"to":"ann@example.org"}}}"#;
    assert!(sanitized(text, Kind::Message).expect("a text").contains("[email]"));
    let text = text.replace(r#"{"to":"ann@example.org"}"#, r#""ann@example.org""#);
    assert!(sanitized(&text, Kind::Message).expect("a text").contains("[email]"));
}

#[test]
fn what_cannot_be_checked_is_withheld() {
    let foreign = r#"{"result":{"structuredContent":{"tenant_id":"b"}}}"#;
    assert_eq!(sanitized(foreign, Kind::Result), Err(Withheld::Foreign));
    let foreign = r#"{"result":{"contents":[{"uri":"x:y","text":" {\"tenant_id\":\"b\"}"}]}}"#;
    assert_eq!(sanitized(foreign, Kind::Result), Err(Withheld::Foreign));
    let large = format!(r#"{{"result":{{"content":"{}"}}}}"#, "x".repeat(4096));
    assert_eq!(sanitized(&large, Kind::Result), Err(Withheld::TooLarge));
    let twins = r#"{"result":{"structuredContent":{"a@example.org":1,"b@example.org":2}}}"#;
    assert_eq!(sanitized(twins, Kind::Result), Err(Withheld::Unreadable));
    let mut deep = r#"{"tenant_id":"b"}"#.to_owned();
    for _ in 0..9 {
        deep = serde_json::json!([deep]).to_string();
    }
    let deep = format!(r#"{{"result":{{"structuredContent":{deep}}}}}"#);
    assert!(sanitized(&deep, Kind::Result).is_err(), "{deep}");
    // Also where nothing is wrong with it: nobody looks that deep.
    assert_eq!(sanitized(&deep.replace("tenant_id", "n"), Kind::Result), Err(Withheld::Unreadable));
}

#[test]
fn a_long_text_is_cut_and_says_so() {
    let text = format!(r#"{{"result":{{"content":[{{"type":"text","text":"{}"}}]}}}}"#, "é".repeat(200));
    let removed = Removed::default();
    let clean = sanitizer().message(&text, Kind::Result, None, &removed).expect("an answer").into_owned();
    assert!(clean.contains(r"\n[The gateway cut this text: 300 of 400 bytes are shown]"), "{clean}");
    assert_eq!(removed.summary(), "1 texts cut");
}

#[test]
fn errors_are_looked_through_whatever_was_asked() {
    let text = r#"{"id":1,"error":{"code":1,"message":"no ann@example.org","data":{"password":"hunter2-and-more"}}}"#;
    let clean = sanitized(text, Kind::Description).expect("an error");
    assert!(!clean.contains("example") && !clean.contains("hunter2"), "{clean}");
}

#[test]
fn members_outside_the_protocol_are_looked_through() {
    for text in [
        r#"{"id":1,"result":{},"more":"ann@example.org"}"#,
        r#"{"id":1,"result":{},"more":{"ann@example.org":1}}"#,
        r#"{"method":"x","params":{"ann@example.org":1}}"#,
    ] {
        let clean = sanitized(text, Kind::Message).expect("a message");
        assert!(!clean.contains("example"), "{clean}");
    }
    // What the protocol needs stays, whatever it looks like.
    for text in [
        r#"{"id":4111111111111111,"result":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"ann@example.org"},"progressToken":4111111111111111}}}"#,
        r#"{"method":"notifications/progress","params":{"progressToken":"ann@example.org","progress":4111111111111111}}"#,
        r#"{"id":1,"result":{"inputRequests":{"a":{"method":"elicitation/create","params":{"requestedSchema":{"properties":{"password":{"type":"string","title":"x"}}}}}}}}"#,
    ] {
        assert_eq!(sanitized(text, Kind::Result).as_deref(), Ok(text));
    }
}

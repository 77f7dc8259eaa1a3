//! What conforms, what does not, and that a server's schema or result takes no more than there is.

use serde_json::{Value, json};
use wire::message::{Packet, parse};
use wire::{Message, Revision};

use super::{Flaw, MARK, MOST_MEMORY, Outputs};
use crate::settings::{OutputSettings, SchemaMode};

fn outputs() -> Outputs {
    let tools = vec![("old_*".to_owned(), SchemaMode::Mark), ("*".to_owned(), SchemaMode::Enforce)];
    Outputs::new(&OutputSettings { schema: SchemaMode::Off, tools })
}

fn response(result: &str) -> Message {
    match parse(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#).as_bytes()) {
        Ok(Packet::Message(message)) => message,
        _ => panic!("{result}"),
    }
}

async fn flaw_of(schema: Value, result: &str, revision: Revision, may_be_task: bool) -> Option<Flaw> {
    let check = outputs().check(&schema, false).await.expect("a check");
    check.flaw(&response(result), revision, may_be_task).await
}

fn counted() -> Value {
    json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } })
}

#[test]
fn the_first_pattern_that_fits_counts() {
    let modes = ["old_a", "a", "Old_a"].map(|tool| outputs().mode(tool));
    assert_eq!(modes, [SchemaMode::Mark, SchemaMode::Enforce, SchemaMode::Enforce]);
    let none = Outputs::new(&OutputSettings { schema: SchemaMode::Off, tools: Vec::new() });
    assert_eq!(none.mode("a"), SchemaMode::Off);
}

#[tokio::test]
async fn results_conform_or_say_where_they_do_not() {
    let new = Revision::R2025_11_25;
    for good in [
        r#"{"content":[],"structuredContent":{"n":1}}"#,
        r#"{"content":[],"structuredContent":{"n":1,"more":"x"}}"#,
        r#"{"content":[],"isError":true}"#,
        r#"{"content":[],"isError":true,"structuredContent":{"n":"x"}}"#,
    ] {
        assert_eq!(flaw_of(counted(), good, new, false).await, None, "{good}");
    }
    for (bad, what) in [
        (r#"{"content":[]}"#, "the result has no `structuredContent`"),
        (r#"{"content":[],"isError":false}"#, "the result has no `structuredContent`"),
        (r#"{"content":[],"isError":"true"}"#, "the result has no `structuredContent`"),
        (r#"{"structuredContent":{"n":"secret"}}"#, "`structuredContent/n` breaks `type`"),
        (r#"{"structuredContent":{}}"#, "`structuredContent` breaks `required`"),
        (r#"{"structuredContent":null}"#, "`structuredContent` breaks `type`"),
        (r#"{"structuredContent":{"n":"x"},"structuredContent":{"n":1}}"#, "a member of the result stands twice"),
        (r#"{"structuredContent":{"n":1,"\u006e":"x"}}"#, "a member of the result stands twice"),
        (r#"{"isError":true,"isError":false,"structuredContent":{"n":1}}"#, "a member of the result stands twice"),
    ] {
        let flaw = flaw_of(counted(), bad, new, false).await.unwrap_or_else(|| panic!("{bad} conforms"));
        assert!(!flaw.what.contains("secret"), "{flaw:?}");
        assert_eq!(flaw.what, what, "{bad}");
    }
}

/// What calls itself a task or a question is looked at where it has structured content, and excused only where it can be one.
#[tokio::test]
async fn no_result_escapes_by_what_it_calls_itself() {
    let (modern, legacy) = (Revision::R2026_07_28, Revision::R2025_11_25);
    for (result, revision, may_be_task, conforms) in [
        (r#"{"resultType":"task","taskId":"1"}"#, modern, false, true),
        (r#"{"resultType":"input_required","inputRequests":{}}"#, modern, false, true),
        (r#"{"resultType":"task","structuredContent":{"n":"x"}}"#, modern, false, false),
        (r#"{"resultType":"complete","content":[]}"#, modern, false, false),
        (r#"{"resultType":"other","content":[]}"#, modern, false, false),
        (r#"{"resultType":"task","content":[]}"#, legacy, false, false),
        (r#"{"task":{"taskId":"1"}}"#, legacy, true, true),
        (r#"{"task":{"taskId":"1"}}"#, legacy, false, false),
        (r#"{"task":{"taskId":"1"},"structuredContent":{"n":"x"}}"#, legacy, true, false),
        (r#"{"content":[]}"#, Revision::R2025_03_26, false, true),
        (r#"{"content":[],"structuredContent":{"n":"x"}}"#, Revision::R2025_03_26, false, false),
    ] {
        let flaw = flaw_of(counted(), result, revision, may_be_task).await;
        assert_eq!(flaw.is_none(), conforms, "{result} {revision:?}: {flaw:?}");
    }
}

#[tokio::test]
async fn a_schema_that_cannot_be_used_lets_nothing_through() {
    let deep = (0..100).fold(json!({}), |inner, _| json!({ "properties": { "a": inner } }));
    for schema in [
        json!({ "$ref": "http://127.0.0.1:9/schema.json" }),
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#" }] }),
        json!({ "type": "nothing" }),
        json!({ "pattern": "(" }),
        json!({ "description": "x".repeat(300 << 10) }),
        json!("text"),
        deep,
    ] {
        let shown: String = schema.to_string().chars().take(60).collect();
        assert!(outputs().check(&schema, true).await.is_err(), "{shown}");
        // Where results are only marked, each one is.
        assert!(
            flaw_of(schema, r#"{"structuredContent":{}}"#, Revision::R2025_11_25, false).await.is_some(),
            "{shown}"
        );
    }
}

/// A small schema whose check doubles with each level of the value.
#[tokio::test]
async fn a_check_that_takes_too_long_is_a_flaw_and_ends() {
    let twice = json!({ "properties": { "c": { "$ref": "#/$defs/n" } } });
    let schema = json!({ "$ref": "#/$defs/n", "$defs": { "n": { "anyOf": [{ "allOf": [twice, twice, { "required": ["x"] }] }, twice] } } });
    let content = (0..60).fold("1".to_owned(), |inner, _| format!(r#"{{"c":{inner}}}"#));
    let begun = std::time::Instant::now();
    let result = format!(r#"{{"structuredContent":{content}}}"#);
    let flaw = flaw_of(schema, &result, Revision::R2025_11_25, false).await.expect("a flaw");
    assert_eq!(flaw.what, "checking the result takes too long");
    assert!(begun.elapsed() < std::time::Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn compiled_schemas_are_kept_within_bounds() {
    let outputs = outputs();
    for _ in 0..3 {
        outputs.check(&counted(), true).await.expect("a check");
    }
    assert_eq!(outputs.kept.lock().expect("a lock").schemas.len(), 1);
    for number in 0..400 {
        let schema = json!({ "pattern": format!("^{number}{}$", "a".repeat(1000)) });
        outputs.check(&schema, true).await.expect("a check");
        let kept = outputs.kept.lock().expect("a lock");
        assert!(kept.memory <= MOST_MEMORY && kept.schemas.len() < 300, "{}", kept.schemas.len());
    }
}

#[tokio::test]
async fn a_mark_replaces_what_the_server_says_there() {
    let flaw = flaw_of(counted(), r#"{"structuredContent":{}}"#, Revision::R2025_11_25, false).await.expect("a flaw");
    for result in [
        r#"{"structuredContent":{}}"#.to_owned(),
        r#"{"structuredContent":{},"_meta":{"a":1}}"#.to_owned(),
        r#"{"structuredContent":{},"_meta":7}"#.to_owned(),
        format!(r#"{{"structuredContent":{{}},"_meta":{{"{MARK}":{{"conforms":true}}}}}}"#),
    ] {
        let text = flaw.mark(response(&result).text());
        let marked: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let expected = json!({ "conforms": false, "pointer": "", "keyword": "required",
            "reason": "`structuredContent` breaks `required`" });
        assert_eq!(marked["result"]["_meta"][MARK], expected, "{text}");
        assert_eq!(text.matches(MARK).count(), 1, "{text}");
        assert_eq!(marked["result"]["structuredContent"], json!({}));
    }
}

//! Tools that are made of several calls.

use std::collections::BTreeMap;
use std::path::PathBuf;

use factory::{Caller, Composed, Part};
use openapi::answer::Answered;
use openapi::model::{Method, Place};
use serde_json::{Value, json};

use crate::scene::{Got, Upstream, callable, config, factory, failure, http, object, ok, operation, parameter, texts};

/// A company, then its news, which may be missing.
const RULE: &str = r#"
compose:
  - tool: research
    description: Collect what is known
    arguments: { type: object, properties: { name: { type: string }, most: { type: integer } } }
    steps:
      - call: find
        arguments: { q: "{{ vars.name }}" }
        capture: { company: '$.found[0]', total: $.total }
      - call: news
        arguments: { company: "{{ vars.company.id }}", most: "{{ vars.most }}" }
        capture: { news: $.news }
        optional: true
    result: { name: "{{ vars.company.name }}", of: "{{ vars.total }}", news: "{{ vars.news }}", text: "{{ vars.company.name }}!" }
"#;

fn research(url: &str, settings: &str) -> Composed {
    let text = format!("{settings}{RULE}");
    let factory = factory(url, &text);
    let part = |path: &str, names: &[(&str, &str)]| {
        let parameters = names.iter().map(|(name, kind)| parameter(name, Place::Query, json!({ "type": kind })));
        let members = names.iter().map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind })));
        let input = json!({
            "type": "object",
            "properties": members.collect::<serde_json::Map<_, _>>(),
            "additionalProperties": false,
        });
        Part { operation: callable(&factory, operation(Method::Get, path, parameters.collect())), input }
    };
    let parts = BTreeMap::from([
        ("find".to_owned(), part("/find", &[("q", "string")])),
        ("news".to_owned(), part("/news", &[("company", "string"), ("most", "integer")])),
    ]);
    let rules = config(&text, PathBuf::new()).compose;
    Composed::new(&factory, &rules[0], &parts).expect("both tools are there")
}

fn sources(_: usize, got: &Got) -> Vec<u8> {
    match got.line.as_str() {
        "GET /find?q=a%20b" => ok(r#"{"found":[{"id":"c1","name":"A"}],"total":1}"#),
        "GET /find?q=number" => ok(r#"{"found":[{"id":7,"name":"N"}],"total":1}"#),
        "GET /news?company=c1" => ok(r#"{"news":["x","y"]}"#),
        "GET /news?company=c1&most=1" => ok(r#"{"news":["x"]}"#),
        line if line.starts_with("GET /find") => ok(r#"{"found":[],"total":0}"#),
        _ => http(503, "", "down"),
    }
}

async fn called(url: &str, arguments: Value) -> Answered {
    research(url, "retries: { attempts: 1 }\n").call(&Caller::only(), object(arguments)).await
}

#[tokio::test]
async fn values_go_from_step_to_step_and_keep_their_types() {
    let api = Upstream::start(sources).await;
    let answered = called(&api.url, json!({ "name": "a b" })).await;
    let expected = json!({ "name": "A", "of": 1, "news": ["x", "y"], "text": "A!" });
    assert_eq!(answered.structured, Some(expected.clone()));
    assert_eq!(texts(&answered), expected.to_string());
    let lines: Vec<_> = api.got().into_iter().map(|got| got.line).collect();
    assert_eq!(lines, ["GET /find?q=a%20b", "GET /news?company=c1"], "an argument that was not given is left out");
    let answered = called(&api.url, json!({ "name": "a b", "most": 1 })).await;
    assert_eq!(answered.structured.expect("an object")["news"], json!(["x"]));
}

#[tokio::test]
async fn a_failed_step_ends_the_call_unless_it_is_optional() {
    let api = Upstream::start(sources).await;
    let answered = called(&api.url, json!({ "name": "gone" })).await;
    assert_eq!(failure(&answered), ("RESOURCE_NOT_FOUND", false));
    assert!(texts(&answered).starts_with("step 1 (find): $.found[0] finds 0 values"), "{}", texts(&answered));
    assert_eq!(api.got().len(), 1, "nothing is called after a failure");

    let down = Upstream::start(|number, got| if number == 0 { sources(number, got) } else { http(503, "", "") }).await;
    let answered = called(&down.url, json!({ "name": "a b" })).await;
    assert!(answered.failure.is_none());
    assert_eq!(answered.structured.as_ref().expect("an object")["news"], Value::Null);
    let note = "step 2 (news) failed, so its values are null: HTTP 503";
    assert!(texts(&answered).contains(note), "{}", texts(&answered));

    let down = Upstream::start(|_, _| http(503, "", "")).await;
    let answered = called(&down.url, json!({ "name": "a b" })).await;
    assert_eq!(failure(&answered).0, "UPSTREAM_FAILURE");
    assert!(texts(&answered).starts_with("step 1 (find): HTTP 503"), "{}", texts(&answered));
}

#[tokio::test]
async fn arguments_of_a_step_fit_its_tool() {
    let api = Upstream::start(sources).await;
    let answered = called(&api.url, json!({ "name": "number" })).await;
    assert!(texts(&answered).contains("its arguments do not fit: /company 7 is not of type"), "{}", texts(&answered));
    assert_eq!(api.got().len(), 1, "what does not fit is not sent");
}

#[tokio::test]
async fn the_limits_of_one_call_hold_for_all_steps() {
    let slow = Upstream::start(|_, _| b"HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\nSILENCE".to_vec()).await;
    let begun = std::time::Instant::now();
    let answered =
        research(&slow.url, "limits: { seconds: 0.3 }\n").call(&Caller::only(), object(json!({ "name": "a b" }))).await;
    assert_eq!(failure(&answered).0, "UPSTREAM_FAILURE");
    assert!(begun.elapsed().as_secs() < 5);

    let long = format!(r#"{{"found":[{{"id":"c1","name":"{}"}}],"total":1}}"#, "x".repeat(400));
    let api = Upstream::start(move |_, _| ok(&long)).await;
    let answered = research(&api.url, "limits: { inline_bytes: 256 }\n")
        .call(&Caller::only(), object(json!({ "name": "a b" })))
        .await;
    assert!(texts(&answered).contains("longer than `inline_bytes`"), "{}", texts(&answered));
}

#[tokio::test]
async fn a_step_that_calls_nothing_is_a_setup_error() {
    let rules = config(RULE, PathBuf::new()).compose;
    let error = Composed::new(&factory("http://127.0.0.1:1", "{}"), &rules[0], &BTreeMap::new());
    let error = error.expect_err("there are no tools");
    assert!(error.what.contains("`research` calls `find`, which is not a tool"), "{error}");
}

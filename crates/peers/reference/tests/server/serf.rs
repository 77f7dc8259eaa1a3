//! What failures of tools say of their kind, in every era and as tasks.

use serde_json::{Value, json};
use wire::Revision;
use wire::revision::{R2025_11_25, R2026_07_28};
use wire::serf::Category;

use crate::line_client::LineClient;
use crate::yaml::serving;

const KEY: &str = "dev.proofhouse/error";

fn details(category: Category) -> Value {
    json!({ "category": category.as_str(), "retryable": false, "suggested_actions": [category.advice()] })
}

#[tokio::test]
async fn failures_of_our_own_tools_say_their_kind() {
    for revision in Revision::ALL {
        let mut client = LineClient::start(revision).await;
        for (tool, arguments, category) in [
            ("fail", json!({ "reason": "x" }), Category::InternalError),
            ("sum", json!({ "a": 1e308, "b": 1e308 }), Category::InvalidInput),
            ("touch_resource", json!({ "uri": "proof://none" }), Category::ResourceNotFound),
        ] {
            let result = client.call(tool, arguments).await;
            assert_eq!((&result["isError"], &result["_meta"][KEY]), (&json!(true), &details(category)), "{result}");
            let server = result["_meta"].get("io.modelcontextprotocol/serverInfo").is_some();
            assert_eq!(server, revision == R2026_07_28, "{result}");
        }
        let good = client.call("sum", json!({ "a": 1, "b": 2 })).await;
        assert!(good["_meta"].get(KEY).is_none(), "{good}");
        let missing = json!({ "name": "sum", "arguments": {} });
        let said = if revision.at_least(R2025_11_25) {
            client.result("tools/call", missing).await["_meta"][KEY].take()
        } else {
            client.error("tools/call", missing).await["data"].take()
        };
        assert_eq!(said, details(Category::InvalidInput), "{revision}");
        let unknown = client.error("tools/call", json!({ "name": "none", "arguments": {} })).await;
        assert_eq!(unknown["data"], details(Category::ResourceNotFound), "{unknown}");
    }
}

#[tokio::test]
async fn a_failed_task_says_its_kind_with_its_result() {
    let mut client = LineClient::start(R2025_11_25).await;
    let call = json!({ "name": "fail", "arguments": {}, "task": { "ttl": 9000 } });
    let task = client.result("tools/call", call).await["task"]["taskId"].take();
    let asked = client.send("tasks/result", json!({ "taskId": task })).await;
    // The task's status comes first.
    let result = client.until(asked).await.pop().expect("the response")["result"].take();
    assert_eq!(result["_meta"][KEY], details(Category::InternalError), "{result}");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/related-task"]["taskId"], task, "{result}");
}

#[tokio::test]
async fn a_catalogue_answers_with_the_kind_of_a_failure() {
    let entries = "tools:
  - name: t
    description: d
    inputSchema: { type: object, properties: { when: { type: string } } }
    outputSchema: { type: object, properties: { n: { type: integer } }, required: [n] }
    answers:
      - when: { when: later }
        text: Not now
        failure: { category: RESOURCE_EXHAUSTED, retry_after_ms: 500, suggested_actions: [Wait, Ask for less] }
      - when: { when: other }
        text: No such thing
        failure: { category: RESOURCE_NOT_FOUND }
      - { text: no, isError: true }
";
    for revision in Revision::ALL {
        let mut client = serving(entries, revision).await;
        let result = client.call("t", json!({ "when": "later" })).await;
        let expected = json!({ "category": "RESOURCE_EXHAUSTED", "retryable": true, "retry_after_ms": 500,
                               "suggested_actions": ["Wait", "Ask for less"] });
        assert_eq!((&result["_meta"][KEY], &result["isError"]), (&expected, &json!(true)), "{result}");
        assert!(result.get("structuredContent").is_none(), "{result}");
        let result = client.call("t", json!({ "when": "other" })).await;
        assert_eq!(result["_meta"][KEY], details(Category::ResourceNotFound), "{result}");
        let plain = client.call("t", json!({})).await;
        assert!(plain["_meta"].get(KEY).is_none() && plain["isError"] == true, "{plain}");
    }
}

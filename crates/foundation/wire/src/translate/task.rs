//! Tasks of the extension to 2026-07-28 as tasks of 2025-11-25, and the reverse. Must not know where a task runs.

use serde_json::{Map, Value, json};

use crate::json::Token;
use crate::meta;
use crate::splice::{Addition, Splice, member, members, members_at, object};

/// Members that both have, under another name.
const RENAMED: [(&str, &str); 2] = [("ttlMs", "ttl"), ("pollIntervalMs", "pollInterval")];
/// What only the extension's task holds itself: its questions, its outcome, and what says that it is a result.
const INLINED: [&str; 5] = ["inputRequests", "result", "error", "resultType", "_meta"];

/// The state of a task. That a tool failed is a result of the extension, and a failed task at 2025-11-25.
pub fn to_legacy(task: &Map<String, Value>) -> Map<String, Value> {
    let name = |name: &String| {
        let renamed = RENAMED.iter().find(|(modern, _)| modern == name);
        renamed.map_or_else(|| name.clone(), |(_, legacy)| (*legacy).to_owned())
    };
    let kept = task.iter().filter(|(name, _)| !INLINED.contains(&name.as_str()));
    let mut legacy: Map<_, _> = kept.map(|(member, value)| (name(member), value.clone())).collect();
    if status(task) == "completed" && task.get("result").is_some_and(is_tool_error) {
        legacy.insert("status".to_owned(), json!("failed"));
    }
    legacy
}

/// The state of a task of 2025-11-25 as the extension has it, without its questions and its outcome. What the older server
/// calls by a name of these is not passed on: the client would take it for them.
pub fn to_modern(task: &Map<String, Value>) -> Map<String, Value> {
    let renamed = |name: &String| {
        let found = RENAMED.iter().find(|(_, legacy)| legacy == name);
        found.map_or_else(|| name.clone(), |(modern, _)| (*modern).to_owned())
    };
    let is_reserved = |name: &str| INLINED.contains(&name) || RENAMED.iter().any(|(modern, _)| *modern == name);
    let kept = task.iter().filter(|(name, _)| !is_reserved(name));
    kept.map(|(member, value)| (renamed(member), value.clone())).collect()
}

/// How a task stands.
pub fn status(task: &Map<String, Value>) -> &str {
    task.get("status").and_then(Value::as_str).unwrap_or_default()
}

/// Whether a task that stands so goes on no more.
pub fn is_over(status: &str) -> bool {
    matches!(status, "completed" | "failed" | "cancelled")
}

/// Whether a result says that its tool failed.
pub fn is_tool_error(result: &Value) -> bool {
    result.get("isError") == Some(&Value::Bool(true))
}

/// What a server of 2025-11-25 declares whose calls may become tasks.
pub fn legacy_capability() -> Value {
    json!({ "cancel": {}, "requests": { "tools": { "call": {} } } })
}

/// The result of `tools/list`, whose tools may all become tasks.
pub fn offer(text: &str) -> Option<String> {
    let all = members(text)?;
    let result = member(text, &all, "result")?;
    let at = member(text, &result.members, "tools")?;
    let mut tools: Value = serde_json::from_str(&text[at.value.clone()]).ok()?;
    for tool in tools.as_array_mut()?.iter_mut().filter_map(Value::as_object_mut) {
        tool.entry("execution").or_insert_with(|| json!({ "taskSupport": "optional" }));
    }
    let mut splice = Splice::new(text);
    splice.replace(at.value.clone(), tools.to_string());
    Some(splice.finish())
}

/// A response that says in `_meta` which task it belongs to.
pub fn with_related_task(text: &str, task: &str) -> Option<String> {
    let all = members(text)?;
    let result = member(text, &all, "result").filter(|result| result.kind == Token::ObjectStart)?;
    let related: Addition<'_> = (meta::RELATED_TASK, json!({ "taskId": task }).to_string());
    let mut splice = Splice::new(text);
    match member(text, &result.members, "_meta").filter(|at| at.kind == Token::ObjectStart) {
        Some(at) => {
            let inner = members_at(text, &at.value)?;
            splice.object(&at.value, &inner, |name| name != meta::RELATED_TASK, &[related]);
        }
        None => {
            splice.object(&result.value, &result.members, |name| name != "_meta", &[("_meta", object(&[related]))]);
        }
    }
    Some(splice.finish())
}

/// A response that does not say in `_meta` which task it belongs to: the extension's task holds its result itself.
pub fn without_related_task(text: &str) -> Option<String> {
    let all = members(text)?;
    let result = member(text, &all, "result")?;
    let at = member(text, &result.members, "_meta").filter(|at| at.kind == Token::ObjectStart)?;
    let inner = members_at(text, &at.value)?;
    member(text, &inner, meta::RELATED_TASK)?;
    let mut splice = Splice::new(text);
    splice.object(&at.value, &inner, |name| name != meta::RELATED_TASK, &[]);
    Some(splice.finish())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{offer, to_legacy, to_modern, with_related_task, without_related_task};

    fn legacy(task: &Value) -> Value {
        Value::Object(to_legacy(task.as_object().expect("an object")))
    }

    #[test]
    fn row_60b_a_task_has_other_names_and_holds_no_outcome() {
        let task = json!({ "taskId": "t", "status": "completed", "ttlMs": null, "pollIntervalMs": 5, "x": 1,
            "result": { "isError": false }, "resultType": "complete", "_meta": {} });
        assert_eq!(
            legacy(&task),
            json!({ "taskId": "t", "status": "completed", "ttl": null, "pollInterval": 5, "x": 1 })
        );
        let failed = json!({ "status": "completed", "result": { "isError": true } });
        assert_eq!(legacy(&failed), json!({ "status": "failed" }));
    }

    #[test]
    fn row_60a_an_older_task_has_other_names_and_no_outcome() {
        let task = json!({ "taskId": "t", "status": "failed", "ttl": null, "pollInterval": 5, "x": 1, "ttlMs": 7,
            "result": {}, "error": {}, "inputRequests": {}, "resultType": "complete", "_meta": {} });
        let modern = to_modern(task.as_object().expect("an object"));
        assert_eq!(
            Value::Object(modern),
            json!({ "taskId": "t", "status": "failed", "ttlMs": null, "pollIntervalMs": 5, "x": 1 })
        );
    }

    #[test]
    fn row_60b_an_inlined_result_names_no_task() {
        let related = r#""io.modelcontextprotocol/related-task":{"taskId":"t"}"#;
        let text = format!(r#"{{"id":1,"result":{{"n":1.50,"_meta":{{{related},"x":1}}}}}}"#);
        let expected = r#"{"id":1,"result":{"n":1.50,"_meta":{"x":1}}}"#;
        assert_eq!(without_related_task(&text).as_deref(), Some(expected));
        assert_eq!(without_related_task(expected), None, "nothing to remove");
    }

    #[test]
    fn row_60b_a_result_names_its_task() {
        let related = r#""io.modelcontextprotocol/related-task":{"taskId":"t"}"#;
        for (text, expected) in [
            (r#"{"id":1,"result":{"n":1.50}}"#, format!(r#"{{"id":1,"result":{{"_meta":{{{related}}},"n":1.50}}}}"#)),
            (
                r#"{"id":1,"result":{"_meta":{"x":1}}}"#,
                format!(r#"{{"id":1,"result":{{"_meta":{{{related},"x":1}}}}}}"#),
            ),
        ] {
            assert_eq!(with_related_task(text, "t"), Some(expected));
        }
        assert_eq!(with_related_task(r#"{"id":1,"error":{}}"#, "t"), None);
    }

    #[test]
    fn row_33_every_tool_may_become_a_task() {
        let text = r#"{"id":1,"result":{"tools":[{"name":"a"},{"name":"b","execution":{"taskSupport":"forbidden"}}]}}"#;
        let expected = r#"{"id":1,"result":{"tools":[{"name":"a","execution":{"taskSupport":"optional"}},{"name":"b","execution":{"taskSupport":"forbidden"}}]}}"#;
        assert_eq!(offer(text).as_deref(), Some(expected));
        assert_eq!(offer(r#"{"id":1,"error":{}}"#), None);
    }
}

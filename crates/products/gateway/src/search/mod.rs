//! Large lists of tools: clients see two tools of the gateway, one that finds tools and one that calls what was found. Must not know where
//! tools are.

use serde_json::{Value, json};
use wire::json::duplicate_name;
use wire::splice::{Splice, member, members};

use crate::settings::SearchSettings;
use crate::view::matches;
pub use rank::Index;

/// The names of the tools that the gateway adds.
pub(crate) const FIND: &str = "find_tools";
pub(crate) const CALL: &str = "call_tool";
/// The most tools of one answer.
pub(crate) const MOST: usize = 50;

/// The tools that a client sees of those that it may use.
pub(crate) fn shown(settings: &SearchSettings, tools: Vec<Value>) -> Vec<Value> {
    let name = |tool: &Value| tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    // The gateway answers to these names.
    let mut tools: Vec<_> = tools.into_iter().filter(|tool| ![FIND, CALL].contains(&name(tool).as_str())).collect();
    if tools.len() <= settings.above {
        return tools;
    }
    let count = tools.len();
    tools.retain(|tool| settings.keep.iter().any(|pattern| matches(pattern, &name(tool))));
    [definitions(count, settings.results), tools].concat()
}

/// The gateway's own tools.
pub fn definitions(count: usize, results: usize) -> Vec<Value> {
    let find = format!(
        "Finds tools by what they do. {count} tools are available, and only a few are listed. Describe the task in a few words; the \
         answer is a list of tool definitions. Call a tool that was found by its name, or with `{CALL}` if your client only calls \
         tools that are listed."
    );
    vec![
        json!({
            "name": FIND,
            "title": "Find tools",
            "description": find,
            "inputSchema": { "type": "object", "additionalProperties": false, "required": ["query"], "properties": {
                "query": { "type": "string", "description": "What the tool must do, in a few words" },
                "limit": { "type": "integer", "minimum": 1, "maximum": MOST, "default": results,
                    "description": "How many tools to return" },
            } },
            "annotations": { "readOnlyHint": true, "openWorldHint": false },
        }),
        json!({
            "name": CALL,
            "title": "Call a tool",
            "description": format!("Calls a tool that `{FIND}` has found."),
            "inputSchema": { "type": "object", "additionalProperties": false, "required": ["name"], "properties": {
                "name": { "type": "string", "description": "The name of the tool" },
                "arguments": { "type": "object", "description": "Its arguments, by its inputSchema" },
            } },
        }),
    ]
}

/// The call that a call of `call_tool` means; nothing where it is another call, or an invalid one.
pub(crate) fn unwrapped(text: &str) -> Option<String> {
    let all = members(text)?;
    let params = member(text, &all, "params")?;
    let string = |value: &std::ops::Range<usize>| serde_json::from_str::<String>(text.get(value.clone())?).ok();
    if string(&member(text, &params.members, "name")?.value)? != CALL || duplicate_name(text).is_some() {
        return None;
    }
    let outer = member(text, &params.members, "arguments")?;
    let inner = wire::splice::members_at(text, &outer.value)?;
    let name = text.get(member(text, &inner, "name")?.value.clone())?;
    // Its own name would lead here again.
    if [CALL, FIND].contains(&serde_json::from_str::<String>(name).ok()?.as_str()) {
        return None;
    }
    let mut additions = vec![("name", name.to_owned())];
    if let Some(arguments) = member(text, &inner, "arguments") {
        additions.push(("arguments", text.get(arguments.value.clone())?.to_owned()));
    }
    let mut splice = Splice::new(text);
    splice.object(&params.value, &params.members, |name| !["name", "arguments"].contains(&name), &additions);
    Some(splice.finish())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{CALL, FIND, shown, unwrapped};
    use crate::settings::SearchSettings;

    #[test]
    fn a_large_list_shows_what_finds_and_what_is_kept() {
        let settings = SearchSettings { above: 2, results: 5, keep: vec!["a*".to_owned()] };
        let tools = |names: &[&str]| names.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>();
        let names = |given: &[&str]| {
            let shown = shown(&settings, tools(given));
            shown.iter().map(|tool| tool["name"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&["a1", "b"]), ["a1", "b"]);
        assert_eq!(names(&["a1", "b", "c", "a2"]), [FIND, CALL, "a1", "a2"]);
        // A server's own tools of these names are out of reach, and not shown.
        assert_eq!(names(&["a1", FIND, CALL]), ["a1"]);
    }

    #[test]
    fn a_call_within_a_call_is_that_call() {
        let call = |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        for (params, expected) in [
            (
                r#"{"name":"call_tool","arguments":{"name":"x","arguments":{"n": 1.0 }},"_meta":{"a":1}}"#,
                Some(r#"{"name":"x","arguments":{"n": 1.0 },"_meta":{"a":1}}"#),
            ),
            (r#"{"name":"call_tool","arguments":{"name":"x"}}"#, Some(r#"{"name":"x"}"#)),
            (r#"{"name":"other","arguments":{"name":"x"}}"#, None),
            (r#"{"name":"call_tool","arguments":{"name":7}}"#, None),
            (r#"{"name":"call_tool","arguments":{"name":"call_tool"}}"#, None),
            (r#"{"name":"call_tool","arguments":{"name":"find\u005ftools"}}"#, None),
            (r#"{"name":"call_tool","arguments":{"name":"x","name":"y"}}"#, None),
            (r#"{"name":"call_tool","arguments":[]}"#, None),
            (r#"{"name":"call_tool"}"#, None),
        ] {
            assert_eq!(unwrapped(&call(params)), expected.map(call), "{params}");
        }
    }
}

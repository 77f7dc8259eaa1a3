//! A call that a model wrote as text: it tried and failed, which is no abstention.

use serde_json::Value;
use wire::escape::snippet;

use crate::catalogue::Catalogue;
use crate::python;

/// What models write around calls.
const MARKERS: [&str; 11] = [
    "<tool_call",
    "<toolcall",
    "<function=",
    "<function_call",
    "<|tool_call",
    "<|python_tag|>",
    "[tool_calls]",
    "<|tool▁call",
    "<functioncall",
    "<invoke name=",
    "functools[",
];
/// In how many places a call as JSON is looked for.
const MOST_PLACES: usize = 64;

/// The attempt in a text, shortened.
pub(super) fn find(text: &str, catalogue: Option<&Catalogue>) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    if let Some(at) = MARKERS.iter().filter_map(|marker| lower.find(marker)).min() {
        return Some(snippet(&text[at..], 60));
    }
    as_json(text, catalogue).or_else(|| as_python(text, catalogue))
}

/// An object with the name of a tool and its arguments.
fn as_json(text: &str, catalogue: Option<&Catalogue>) -> Option<String> {
    let places = text.match_indices('{').take(MOST_PLACES);
    places.map(|(at, _)| &text[at..]).find(|rest| is_call(rest, catalogue)).map(|rest| snippet(rest, 60))
}

fn is_call(text: &str, catalogue: Option<&Catalogue>) -> bool {
    let Some(Ok(value)) = serde_json::Deserializer::from_str(text).into_iter::<Value>().next() else { return false };
    let value = value.get("function").filter(|function| function.is_object()).unwrap_or(&value);
    let name = value.get("name").and_then(Value::as_str);
    let arguments = ["arguments", "parameters", "input"].iter().find_map(|member| value.get(member));
    let is_known = |name: &str| catalogue.is_none_or(|catalogue| catalogue.tool(name).is_some());
    name.is_some_and(is_known) && arguments.is_some_and(|arguments| arguments.is_object() || arguments.is_string())
}

/// The whole text is a list of calls in Python's syntax.
fn as_python(text: &str, catalogue: Option<&Catalogue>) -> Option<String> {
    let body = text.trim().trim_start_matches("```python").trim_start_matches("```tool_code").trim_matches('`');
    let calls = python::calls(body).ok().filter(|calls| !calls.is_empty())?;
    let is_known =
        |name: &str| catalogue.map_or(body.trim().starts_with('['), |catalogue| catalogue.tool(name).is_some());
    calls.iter().any(|call| is_known(&call.name)).then(|| snippet(text, 60))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn attempts_are_told_from_texts() {
        let catalogue = Catalogue::read(&json!([{ "name": "f" }])).unwrap();
        for text in [
            "<tool_call>{\"name\": \"f\"",
            "Let me see. {\"name\": \"f\", \"arguments\": {\"a\": 1}}",
            "```json\n{\"function\": {\"name\": \"f\", \"arguments\": \"{}\"}}\n```",
            "[f(a=1)]",
            "```python\nf(a=1)\n```",
        ] {
            assert!(find(text, Some(&catalogue)).is_some(), "{text}");
        }
        for text in [
            "",
            "I cannot help with that.",
            "The answer is {\"a\": 1}.",
            "{\"name\": \"Ada\", \"input\": {}}",
            "g(a=1)",
            "Use f() to call it.",
        ] {
            assert_eq!(find(text, Some(&catalogue)), None, "{text}");
        }
        assert!(find("[g(a=1)]", None).is_some() && find("Hello(a=1)", None).is_none());
    }
}

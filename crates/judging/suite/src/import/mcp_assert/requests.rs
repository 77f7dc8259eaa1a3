//! What an assertion asks the server, and the cases that come of it.

use document::{Fault, unfilled};
use serde_json::{Map, Value, json};

use super::expect::{Said, expect};
use super::steps::fill;
use crate::import::file::Case;
use crate::import::read::Source;
use crate::import::server;

/// The revisions in which a client sets the level of logging for all that follows.
const LEVELLED: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// What the cases are read with.
pub(super) struct Reading<'r> {
    pub(super) source: &'r Source,
    pub(super) name: &'r str,
    pub(super) captured: &'r [(String, String)],
}

impl Reading<'_> {
    /// The member of a block that has to be there.
    fn text<'s>(
        &self,
        block: &str,
        said: &'s Map<String, Value>,
        name: &str,
        faults: &mut Vec<Fault>,
    ) -> Option<&'s str> {
        let text = said.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        if text.is_none() {
            faults.push(self.source.fault(
                &format!("/{block}"),
                format!("`{block}` has no `{name}`"),
                format!("{name}: …"),
            ));
        }
        text
    }

    /// A value with what is captured filled in.
    fn filled(&self, value: &Value) -> Value {
        fill(value, self.captured)
    }

    fn call(&self, block: &str, said: &Map<String, Value>, faults: &mut Vec<Fault>) -> Option<Case> {
        let tool = self.text(block, said, "tool", faults)?;
        let case = Case::new(self.name).with("call", unfilled(&json!(tool)));
        Some(match said.get("args") {
            Some(args @ Value::Object(members)) if !members.is_empty() => case.with("arguments", self.filled(args)),
            Some(Value::Object(_) | Value::Null) | None => case,
            Some(other) => {
                let mut case = case;
                case.leave("args", other.to_string());
                case
            }
        })
    }
}

/// The cases of one assertion: more than one where something has to be said to the server first.
pub(super) fn asserted(
    block: &str,
    said: &Map<String, Value>,
    reading: &Reading<'_>,
    faults: &mut Vec<Fault>,
) -> Option<Vec<Case>> {
    let empty = Map::new();
    let expected = said.get("expect").and_then(Value::as_object).unwrap_or(&empty);
    let mut case = match block {
        "assert_resources" => resources(said, expected, reading, faults)?,
        "assert_prompts" => prompts(said, expected, reading, faults)?,
        "assert_completion" => completion(said, expected, reading, faults)?,
        "assert_logging" => return logging(said, expected, reading, faults),
        "assert_notifications" => {
            let mut case = reading.call(block, said, faults)?;
            notifications(&mut case, expected);
            case
        }
        _ => {
            let mut case = reading.call(block, said, faults)?;
            if let Some(Value::String(text)) = said.get("mock_text") {
                case = case.with("answers", json!({ "say": text }));
            }
            expect(&mut case, expected, &Said::TOOL);
            case
        }
    };
    if let Some(other) = said.get("expect").filter(|expect| !expect.is_object() && !expect.is_null()) {
        case.expected.conditions = 0;
        case.leave("expect", other.to_string());
    }
    let known = ["tool", "args", "expect", "capture_progress", "mock_text", "list", "read", "get", "ref", "argument"];
    for (name, value) in said.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
        case.leave(name, value.to_string());
    }
    Some(vec![case])
}

fn resources(
    said: &Map<String, Value>,
    expected: &Map<String, Value>,
    reading: &Reading<'_>,
    faults: &mut Vec<Fault>,
) -> Option<Case> {
    match (said.get("list"), said.get("read").and_then(Value::as_str).filter(|uri| !uri.is_empty())) {
        (Some(list), _) if !list.is_null() => Some(listed("resources", list, expected, reading)),
        (_, Some(uri)) => {
            let mut case = Case::new(reading.name).with("read", reading.filled(&json!(uri)));
            expect(&mut case, expected, &Said::READ);
            Some(case)
        }
        _ => {
            let mut case = Case::new(reading.name).with("list", json!("resources"));
            if said.contains_key("subscribe") {
                // What is said about it stands in the comments of the case.
                return Some(case);
            }
            let what = "`assert_resources` has neither `list` nor `read`";
            faults.push(reading.source.fault("/assert_resources", what, "one of them"));
            case.members.clear();
            None
        }
    }
}

fn prompts(
    said: &Map<String, Value>,
    expected: &Map<String, Value>,
    reading: &Reading<'_>,
    faults: &mut Vec<Fault>,
) -> Option<Case> {
    match (said.get("list"), said.get("get")) {
        (Some(list), _) if !list.is_null() => Some(listed("prompts", list, expected, reading)),
        (_, Some(Value::Object(get))) => {
            let name = reading.text("assert_prompts/get", get, "name", faults)?;
            let mut case = Case::new(reading.name).with("get", reading.filled(&json!(name)));
            if let Some(Value::Object(arguments)) = get.get("arguments") {
                // They are texts.
                let texts: Map<String, Value> =
                    arguments.iter().map(|(name, value)| (name.clone(), json!(server::plain(value)))).collect();
                case = case.with("arguments", reading.filled(&Value::Object(texts)));
            }
            expect(&mut case, expected, &Said::GET);
            Some(case)
        }
        _ => {
            let what = "`assert_prompts` has neither `list` nor `get`";
            faults.push(reading.source.fault("/assert_prompts", what, "one of them"));
            None
        }
    }
}

/// A list; one page where a cursor is named.
fn listed(list: &'static str, said: &Value, expected: &Map<String, Value>, reading: &Reading<'_>) -> Case {
    let case = Case::new(reading.name);
    let mut case = match said["cursor"].as_str() {
        Some(cursor) if !cursor.is_empty() => {
            let params = reading.filled(&json!({ "cursor": cursor }));
            case.with("raw", json!(format!("{list}/list"))).with("params", params)
        }
        _ => case.with("list", json!(list)),
    };
    expect(&mut case, expected, if list == "prompts" { &Said::PROMPTS } else { &Said::RESOURCES });
    case
}

fn completion(
    said: &Map<String, Value>,
    expected: &Map<String, Value>,
    reading: &Reading<'_>,
    faults: &mut Vec<Fault>,
) -> Option<Case> {
    let part = |part: &str, member: &str| said.get(part).and_then(|part| part.get(member)).and_then(Value::as_str);
    let of = match part("ref", "type") {
        Some("ref/prompt") => "prompt",
        Some("ref/resource") => "template",
        _ => {
            let what = "what is completed is neither a prompt nor a resource";
            faults.push(reading.source.fault("/assert_completion/ref", what, "type: ref/prompt, or ref/resource"));
            return None;
        }
    };
    let (Some(name), Some(argument)) = (part("ref", "name"), part("argument", "name")) else {
        let what = "what is completed has no name, or its argument has none";
        faults.push(reading.source.fault("/assert_completion", what, "ref: { type, name }, argument: { name, value }"));
        return None;
    };
    let value = unfilled(&json!(part("argument", "value").unwrap_or_default()));
    let complete = json!({ of: unfilled(&json!(name)), "argument": argument, "value": value });
    let mut case = Case::new(reading.name).with("complete", complete);
    expect(&mut case, expected, &Said::COMPLETION);
    Some(case)
}

/// Two cases: the level is set, and the tool called.
fn logging(
    said: &Map<String, Value>,
    expected: &Map<String, Value>,
    reading: &Reading<'_>,
    faults: &mut Vec<Fault>,
) -> Option<Vec<Case>> {
    let level = reading.text("assert_logging", said, "set_level", faults)?;
    let mut set = Case::new(format!("{}: the level {level}", reading.name))
        .with("raw", json!("logging/setLevel"))
        .with("params", unfilled(&json!({ "level": level })))
        .with("revisions", json!(LEVELLED));
    set.expected.ends("ok");
    let calls = said.get("tool").and_then(Value::as_str).is_some_and(|tool| !tool.is_empty());
    let mut case = if calls {
        reading.call("assert_logging", said, faults)?.with("revisions", json!(LEVELLED))
    } else {
        set.clone()
    };
    case.expected.ends("ok");
    for (name, value) in expected {
        match (name.as_str(), value.as_u64()) {
            ("min_messages", Some(0)) => {}
            ("min_messages", Some(least)) if calls => {
                case.expected.beside("notifications", json!(["notifications/message"]));
                if least > 1 {
                    case.leave("min_messages", format!("{least}: that one comes is all that is checked"));
                }
            }
            _ => case.leave(name, value.to_string()),
        }
    }
    for (name, value) in
        said.iter().filter(|(name, _)| !matches!(name.as_str(), "set_level" | "tool" | "args" | "expect"))
    {
        case.leave(name, value.to_string());
    }
    Some(if calls { vec![set, case] } else { vec![case] })
}

fn notifications(case: &mut Case, expected: &Map<String, Value>) {
    for (name, value) in expected {
        match (name.as_str(), value) {
            ("methods", Value::Array(methods)) if !methods.is_empty() => {
                case.expected.beside("notifications", methods.iter().map(server::plain).collect());
            }
            _ => case.leave(name, value.to_string()),
        }
    }
    if case.left.is_empty() && case.expected.conditions == 0 {
        case.expected.ends("ok");
    }
}

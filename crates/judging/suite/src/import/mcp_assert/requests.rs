//! The request of an assertion, and the cases made from it.

use document::{FileError, unfilled};
use serde_json::{Map, Value, json};

use super::expect::{ResultShape, expect};
use super::steps::fill;
use crate::import::file::Case;
use crate::import::read::Source;
use crate::import::server;

/// The revisions with `logging/setLevel`.
const LEVEL_REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The context of an assertion.
pub(super) struct Reading<'r> {
    pub(super) source: &'r Source,
    pub(super) name: &'r str,
    pub(super) captured: &'r [(String, String)],
}

impl Reading<'_> {
    /// A required text member of a block.
    fn text<'s>(
        &self,
        block: &str,
        assertion: &'s Map<String, Value>,
        name: &str,
        errors: &mut Vec<FileError>,
    ) -> Option<&'s str> {
        let text = assertion.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        if text.is_none() {
            errors.push(self.source.error(
                &format!("/{block}"),
                format!("`{block}` has no `{name}`"),
                format!("{name}: …"),
            ));
        }
        text
    }

    /// A value with references to captured variables.
    fn filled(&self, value: &Value) -> Value {
        fill(value, self.captured)
    }

    fn call(&self, block: &str, assertion: &Map<String, Value>, errors: &mut Vec<FileError>) -> Option<Case> {
        let tool = self.text(block, assertion, "tool", errors)?;
        let case = Case::new(self.name).with("call", unfilled(&json!(tool)));
        Some(match assertion.get("args") {
            Some(args @ Value::Object(members)) if !members.is_empty() => case.with("arguments", self.filled(args)),
            Some(Value::Object(_) | Value::Null) | None => case,
            Some(other) => {
                let mut case = case;
                case.mark_not_imported("args", other.to_string());
                case
            }
        })
    }
}

/// The cases of one assertion; more than one if it needs a preparation.
pub(super) fn asserted(
    block: &str,
    assertion: &Map<String, Value>,
    reading: &Reading<'_>,
    errors: &mut Vec<FileError>,
) -> Option<Vec<Case>> {
    let empty = Map::new();
    let expected = assertion.get("expect").and_then(Value::as_object).unwrap_or(&empty);
    let mut case = match block {
        "assert_resources" => resources(assertion, expected, reading, errors)?,
        "assert_prompts" => prompts(assertion, expected, reading, errors)?,
        "assert_completion" => completion(assertion, expected, reading, errors)?,
        "assert_logging" => return logging(assertion, expected, reading, errors),
        "assert_notifications" => {
            let mut case = reading.call(block, assertion, errors)?;
            notifications(&mut case, expected);
            case
        }
        _ => {
            let mut case = reading.call(block, assertion, errors)?;
            if let Some(Value::String(text)) = assertion.get("mock_text") {
                case = case.with("answers", json!({ "say": text }));
            }
            expect(&mut case, expected, &ResultShape::TOOL);
            case
        }
    };
    if let Some(other) = assertion.get("expect").filter(|expect| !expect.is_object() && !expect.is_null()) {
        case.expected.conditions = 0;
        case.mark_not_imported("expect", other.to_string());
    }
    let known = ["tool", "args", "expect", "capture_progress", "mock_text", "list", "read", "get", "ref", "argument"];
    for (name, value) in assertion.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
        case.mark_not_imported(name, value.to_string());
    }
    Some(vec![case])
}

fn resources(
    assertion: &Map<String, Value>,
    expected: &Map<String, Value>,
    reading: &Reading<'_>,
    errors: &mut Vec<FileError>,
) -> Option<Case> {
    match (assertion.get("list"), assertion.get("read").and_then(Value::as_str).filter(|uri| !uri.is_empty())) {
        (Some(list), _) if !list.is_null() => Some(listed("resources", list, expected, reading)),
        (_, Some(uri)) => {
            let mut case = Case::new(reading.name).with("read", reading.filled(&json!(uri)));
            expect(&mut case, expected, &ResultShape::READ);
            Some(case)
        }
        _ => {
            let mut case = Case::new(reading.name).with("list", json!("resources"));
            if assertion.contains_key("subscribe") {
                // The comments of the case mention it.
                return Some(case);
            }
            let what = "`assert_resources` has neither `list` nor `read`";
            errors.push(reading.source.error("/assert_resources", what, "one of them"));
            case.members.clear();
            None
        }
    }
}

fn prompts(
    assertion: &Map<String, Value>,
    expected: &Map<String, Value>,
    reading: &Reading<'_>,
    errors: &mut Vec<FileError>,
) -> Option<Case> {
    match (assertion.get("list"), assertion.get("get")) {
        (Some(list), _) if !list.is_null() => Some(listed("prompts", list, expected, reading)),
        (_, Some(Value::Object(get))) => {
            let name = reading.text("assert_prompts/get", get, "name", errors)?;
            let mut case = Case::new(reading.name).with("get", reading.filled(&json!(name)));
            if let Some(Value::Object(arguments)) = get.get("arguments") {
                // Arguments of prompts are texts.
                let texts: Map<String, Value> =
                    arguments.iter().map(|(name, value)| (name.clone(), json!(server::plain(value)))).collect();
                case = case.with("arguments", reading.filled(&Value::Object(texts)));
            }
            expect(&mut case, expected, &ResultShape::GET);
            Some(case)
        }
        _ => {
            let what = "`assert_prompts` has neither `list` nor `get`";
            errors.push(reading.source.error("/assert_prompts", what, "one of them"));
            None
        }
    }
}

/// A list; only one page if there is a cursor.
fn listed(list: &'static str, assertion: &Value, expected: &Map<String, Value>, reading: &Reading<'_>) -> Case {
    let case = Case::new(reading.name);
    let mut case = match assertion["cursor"].as_str() {
        Some(cursor) if !cursor.is_empty() => {
            let params = reading.filled(&json!({ "cursor": cursor }));
            case.with("raw", json!(format!("{list}/list"))).with("params", params)
        }
        _ => case.with("list", json!(list)),
    };
    expect(&mut case, expected, if list == "prompts" { &ResultShape::PROMPTS } else { &ResultShape::RESOURCES });
    case
}

fn completion(
    assertion: &Map<String, Value>,
    expected: &Map<String, Value>,
    reading: &Reading<'_>,
    errors: &mut Vec<FileError>,
) -> Option<Case> {
    let part = |part: &str, member: &str| assertion.get(part).and_then(|part| part.get(member)).and_then(Value::as_str);
    let of = match part("ref", "type") {
        Some("ref/prompt") => "prompt",
        Some("ref/resource") => "template",
        _ => {
            let what = "`ref` is neither a prompt nor a resource";
            errors.push(reading.source.error("/assert_completion/ref", what, "type: ref/prompt, or ref/resource"));
            return None;
        }
    };
    let (Some(name), Some(argument)) = (part("ref", "name"), part("argument", "name")) else {
        let what = "`ref` or `argument` has no `name`";
        errors.push(reading.source.error("/assert_completion", what, "ref: { type, name }, argument: { name, value }"));
        return None;
    };
    let value = unfilled(&json!(part("argument", "value").unwrap_or_default()));
    let complete = json!({ of: unfilled(&json!(name)), "argument": argument, "value": value });
    let mut case = Case::new(reading.name).with("complete", complete);
    expect(&mut case, expected, &ResultShape::COMPLETION);
    Some(case)
}

/// Two cases: one sets the level, one calls the tool.
fn logging(
    assertion: &Map<String, Value>,
    expected: &Map<String, Value>,
    reading: &Reading<'_>,
    errors: &mut Vec<FileError>,
) -> Option<Vec<Case>> {
    let level = reading.text("assert_logging", assertion, "set_level", errors)?;
    let mut set = Case::new(format!("{}: set level {level}", reading.name))
        .with("raw", json!("logging/setLevel"))
        .with("params", unfilled(&json!({ "level": level })))
        .with("revisions", json!(LEVEL_REVISIONS));
    set.expected.expect_outcome("ok");
    let calls = assertion.get("tool").and_then(Value::as_str).is_some_and(|tool| !tool.is_empty());
    let mut case = if calls {
        reading.call("assert_logging", assertion, errors)?.with("revisions", json!(LEVEL_REVISIONS))
    } else {
        set.clone()
    };
    case.expected.expect_outcome("ok");
    for (name, value) in expected {
        match (name.as_str(), value.as_u64()) {
            ("min_messages", Some(0)) => {}
            ("min_messages", Some(least)) if calls => {
                case.expected.add_member("notifications", json!(["notifications/message"]));
                if least > 1 {
                    case.mark_not_imported(
                        "min_messages",
                        format!("{least}: only the presence of one message is checked"),
                    );
                }
            }
            _ => case.mark_not_imported(name, value.to_string()),
        }
    }
    for (name, value) in
        assertion.iter().filter(|(name, _)| !matches!(name.as_str(), "set_level" | "tool" | "args" | "expect"))
    {
        case.mark_not_imported(name, value.to_string());
    }
    Some(if calls { vec![set, case] } else { vec![case] })
}

fn notifications(case: &mut Case, expected: &Map<String, Value>) {
    for (name, value) in expected {
        match (name.as_str(), value) {
            ("methods", Value::Array(methods)) if !methods.is_empty() => {
                case.expected.add_member("notifications", methods.iter().map(server::plain).collect());
            }
            _ => case.mark_not_imported(name, value.to_string()),
        }
    }
    if case.not_imported.is_empty() && case.expected.conditions == 0 {
        case.expected.expect_outcome("ok");
    }
}

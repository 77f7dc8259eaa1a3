//! What promptfoo's assertions about calls demand: the tools, their arguments, their order and their number.

use document::quoted;
use serde_json::{Map, Value, json};

use super::expect::{Call, Want};

type Wants = Result<Vec<Want>, String>;

/// What an assertion of this kind demands; `Err` says why a case cannot say it.
pub(super) fn wants(kind: &str, value: &Value, threshold: Option<f64>) -> Wants {
    match kind {
        "trajectory:tool-used" => used(value),
        "not-trajectory:tool-used" => never_used(value),
        "trajectory:tool-args-match" => arguments(value).map(|call| vec![Want::Arguments(call)]),
        "trajectory:tool-sequence" => sequence(value),
        "trajectory:step-count" => count(value),
        "tool-call-f1" => only(value, threshold),
        _ => Err("cases have no counterpart".to_owned()),
    }
}

/// The tool that a matcher of promptfoo names: no pattern, and nothing but tools.
fn tool(value: &Value) -> Result<String, String> {
    let is_tool = |kind: &Value| kind == "tool" || *kind == json!(["tool"]);
    if value.get("type").is_some_and(|kind| !is_tool(kind)) {
        return Err("it is about steps that are no calls of tools".to_owned());
    }
    let named = ["pattern", "name"].into_iter().find_map(|key| value.get(key).and_then(Value::as_str));
    let name = value.as_str().or(named).map(str::trim).unwrap_or_default();
    match name {
        "" => Err("it names no tool".to_owned()),
        name if name.contains(['*', '?']) => Err(format!("{} is a pattern, cases name tools", quoted(name))),
        name => Ok(name.to_owned()),
    }
}

fn tools(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Array(items) if items.is_empty() => Err("it names no tool".to_owned()),
        Value::Array(items) => items.iter().map(tool).collect(),
        one => tool(one).map(|tool| vec![tool]),
    }
}

fn number(value: &Value, key: &str) -> Option<usize> {
    value.get(key).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok())
}

fn used(value: &Value) -> Wants {
    let least = number(value, "min").unwrap_or(1);
    let most = number(value, "max");
    match (least, most) {
        (0, Some(0)) => Ok(vec![Want::Never(tool(value)?)]),
        (_, Some(_)) => Err("cases do not limit how often a tool is called".to_owned()),
        (least, None) => Ok(tools(value)?.into_iter().map(|tool| Want::Used(tool, least)).collect()),
    }
}

fn never_used(value: &Value) -> Wants {
    let is_any =
        |value: &Value| value == "*" || value.get("pattern").or_else(|| value.get("name")) == Some(&json!("*"));
    if number(value, "min").unwrap_or(1) != 1 || value.get("max").is_some() {
        return Err("cases do not limit how often a tool is called".to_owned());
    }
    if is_any(value) || value.as_array().is_some_and(|items| items.iter().any(is_any)) {
        return Ok(vec![Want::Nothing]);
    }
    Ok(tools(value)?.into_iter().map(Want::Never).collect())
}

fn sequence(value: &Value) -> Wants {
    let steps = value.get("steps").unwrap_or(value);
    let is_exact = match value.get("mode").and_then(Value::as_str) {
        None | Some("in_order") => false,
        Some("exact") => true,
        Some(other) => return Err(format!("unknown mode {}", quoted(other))),
    };
    if !steps.is_array() {
        return Err("it has no list of steps".to_owned());
    }
    Ok(vec![Want::Sequence(tools(steps)?, is_exact)])
}

/// The number of calls, where nothing but calls is counted.
fn count(value: &Value) -> Wants {
    if value.get("type") != Some(&json!("tool")) || value.get("pattern").or_else(|| value.get("name")).is_some() {
        return Err("cases count no other steps than calls".to_owned());
    }
    match (number(value, "min"), number(value, "max")) {
        (None, None) => Err("it has neither `min` nor `max`".to_owned()),
        (_, Some(0)) => Ok(vec![Want::Nothing]),
        (least, most) => Ok(least.map(Want::AtLeast).into_iter().chain(most.map(Want::AtMost)).collect()),
    }
}

fn only(value: &Value, threshold: Option<f64>) -> Wants {
    if threshold.is_some_and(|threshold| threshold < 1.0) {
        return Err("with a `threshold` below 1, some tools may be missing or others called".to_owned());
    }
    let names: Vec<String> = match value {
        Value::String(text) => text.split(',').map(|name| name.trim().to_owned()).collect(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(|name| name.trim().to_owned()).collect(),
        _ => Vec::new(),
    };
    let mut tools: Vec<String> = Vec::new();
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        if !tools.contains(&name) {
            tools.push(name);
        }
    }
    if tools.is_empty() { Err("it names no tool".to_owned()) } else { Ok(vec![Want::Only(tools)]) }
}

/// A call with arguments. `partial` (the default) allows others, also within objects; `exact` does not.
fn arguments(value: &Value) -> Result<Call, String> {
    let tool = tool(value)?;
    let Some(expected) = value.get("args").or_else(|| value.get("arguments")).and_then(Value::as_object) else {
        return Err("its `args` are not a mapping".to_owned());
    };
    let is_exact = match value.get("mode").and_then(Value::as_str) {
        None | Some("partial") => false,
        Some("exact") => true,
        Some(other) => return Err(format!("unknown mode {}", quoted(other))),
    };
    let ignored = ignored(value)?;
    let kept = expected.iter().filter(|(name, _)| !ignored.contains(name));
    let matcher = |value: &Value| if is_exact { exactly(value) } else { partly(value) };
    let mut arguments: Map<String, Value> = kept.map(|(name, value)| (name.clone(), matcher(value))).collect();
    let defaults = value.get("defaults").and_then(Value::as_object);
    for (name, default) in defaults.into_iter().flatten().filter(|(name, _)| !ignored.contains(name)) {
        if arguments.contains_key(name) {
            return Err(format!("{} is in `args` and in `defaults`", quoted(name)));
        }
        if is_exact {
            arguments.insert(name.clone(), json!({ "optional": exactly(default) }));
        }
    }
    if is_exact {
        arguments.extend(ignored.into_iter().map(|name| (name, json!({ "ignore": true }))));
    }
    Ok(Call { tool, arguments, ignores_others: !is_exact })
}

fn ignored(value: &Value) -> Result<Vec<String>, String> {
    let names: Vec<String> = match value.get("ignore") {
        None => Vec::new(),
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(_) => return Err("its `ignore` is not a list of names".to_owned()),
    };
    match names.iter().find(|name| name.contains(['*', '?'])) {
        Some(pattern) => Err(format!("{} is a pattern, cases name arguments", quoted(pattern))),
        None => Ok(names),
    }
}

/// A mapping would be a matcher itself.
fn exactly(value: &Value) -> Value {
    if value.is_object() { json!({ "equals": value }) } else { value.clone() }
}

/// What accepts a value with at least these members, at every depth; lists have the same length.
fn partly(value: &Value) -> Value {
    match value {
        Value::Object(members) if members.values().any(has_list_of_objects) => json!({ "schema": schema(value) }),
        Value::Object(_) => json!({ "contains": value }),
        Value::Array(items) if has_list_of_objects(value) => {
            json!({ "items": items.iter().map(partly).collect::<Vec<_>>() })
        }
        other => other.clone(),
    }
}

fn has_list_of_objects(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| item.is_object() || has_list_of_objects(item)),
        Value::Object(members) => members.values().any(has_list_of_objects),
        _ => false,
    }
}

fn schema(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let properties: Map<String, Value> =
                members.iter().map(|(name, value)| (name.clone(), schema(value))).collect();
            json!({ "type": "object", "required": members.keys().collect::<Vec<_>>(), "properties": properties })
        }
        Value::Array(items) => {
            let each: Vec<Value> = items.iter().map(schema).collect();
            // `prefixItems` may not be empty.
            let mut schema = json!({ "type": "array", "minItems": items.len(), "maxItems": items.len() });
            if !each.is_empty() {
                schema["prefixItems"] = each.into();
            }
            schema
        }
        other => json!({ "const": other }),
    }
}

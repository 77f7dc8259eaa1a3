//! Arguments that a tool wants mirrored into headers (`x-mcp-header`): said otherwise, encoded, badly encoded, left out.

use net::client::Outgoing;
use schema::sample::{Style, object};
use serde_json::{Map, Value, json};
use wire::Era;
use wire::http::{Annotation, PARAM_PREFIX, annotations, encode_always, encode_value};

use super::{HTTP, request};
use crate::check::context::{Abort, ProbeContext};
use crate::check::probe::{Probe, Script};

/// How many mirrored arguments of the tool are tried.
const MIRRORED: usize = 4;

pub(in super::super) const ARGUMENTS: Probe =
    Probe::fresh("http-mirrored-arguments", mirrored).on(HTTP).era(Era::Modern).needs("tools");

/// One call in order, then one deviation per call.
fn mirrored(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        // Which arguments are mirrored must be known in this very trace, and on this connection.
        case.list("tools/list", "tools", 64).await?;
        let found =
            case.survey().tools.iter().filter(|tool| case.setting().calls.allow(tool)).find_map(|t| tool(case, t));
        let Tool { name, arguments, annotations } = found.ok_or(Abort::Lacks("a tool with a mirrored argument"))?;
        let params = json!({ "name": name, "arguments": arguments });
        put(case, &params, |o| o).await?;
        for annotation in annotations.iter().take(MIRRORED) {
            if let Some(value) = at(&params, annotation).cloned() {
                deviate(case, &params, &format!("{PARAM_PREFIX}{}", annotation.name), &value).await?;
            }
        }
        for annotation in annotations.iter().take(MIRRORED) {
            if let Some(params) = unencoded(&params, annotation) {
                let header = format!("{PARAM_PREFIX}{}", annotation.name);
                put(case, &params, |o| o).await?;
                put(case, &params, |o| o.header(header, BEYOND_ASCII)).await?;
            }
        }
        // The first is mostly one that the tool cannot do without.
        for annotation in annotations.iter().rev().take(MIRRORED) {
            if let Some(value) = at(&params, annotation) {
                let header = format!("{PARAM_PREFIX}{}", annotation.name);
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let without = without(&params, std::slice::from_ref(annotation), None);
                put(case, &without, |o| o.header(header, encode_value(&text).into_owned())).await?;
            }
        }
        for instead in [None, Some(Value::Null)] {
            put(case, &without(&params, &annotations, instead.as_ref()), |o| o).await?;
        }
        Ok(())
    })
}

async fn put(case: &ProbeContext, params: &Value, change: impl FnOnce(Outgoing) -> Outgoing) -> Result<(), Abort> {
    request(case, "tools/call", params.clone(), change).await?;
    Ok(())
}

async fn deviate(case: &ProbeContext, params: &Value, header: &str, value: &Value) -> Result<(), Abort> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let other = match value {
        Value::Bool(flag) => (!flag).to_string(),
        Value::Number(_) => format!("{text}7"),
        _ => "proof-otherwise".to_owned(),
    };
    put(case, params, |o| o.header(header, other)).await?;
    put(case, params, |o| o.without(header)).await?;
    put(case, params, |o| o.header(header, encode_always(&text))).await?;
    put(case, params, |o| o.header(header, "=?base64?SGVs!!!bG8=?=")).await?;
    if let Some(flag) = value.as_bool() {
        // As loose readers take it for the same.
        put(case, params, |o| o.header(header, if flag { "1" } else { "0" })).await?;
    }
    if value.is_i64() {
        put(case, params, |o| o.header(header, format!("{text}.0"))).await?;
    }
    Ok(())
}

/// A tool that may be called, with arguments that hold every mirrored one.
struct Tool {
    name: String,
    arguments: Map<String, Value>,
    annotations: Vec<Annotation>,
}

fn tool(case: &ProbeContext, tool: &Value) -> Option<Tool> {
    let name = tool.get("name")?.as_str()?;
    let mut schema = tool.get("inputSchema")?.clone();
    let annotations = annotations(&schema).valid;
    if annotations.is_empty() {
        return None;
    }
    for annotation in &annotations {
        demand(&mut schema, &annotation.path);
    }
    let mut arguments = object(&schema, Style::Smallest, &case.setting().rng(name))?;
    arguments.extend(case.setting().hints.arguments.get(name).cloned().unwrap_or_default());
    Some(Tool { name: name.to_owned(), arguments, annotations })
}

/// Makes the property at `path` required, and those that lead to it.
fn demand(schema: &mut Value, path: &[String]) {
    let Some((first, rest)) = path.split_first() else { return };
    let mut required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if !required.iter().any(|name| name == first) {
        required.push(json!(first));
    }
    schema["required"] = Value::Array(required);
    if let Some(property) = schema.get_mut("properties").and_then(|p| p.get_mut(first)) {
        demand(property, rest);
    }
}

/// The argument that an annotation mirrors.
fn at<'p>(params: &'p Value, annotation: &Annotation) -> Option<&'p Value> {
    annotation.path.iter().try_fold(params.get("arguments")?, |value, name| value.get(name))
}

/// What a header can only carry encoded.
const BEYOND_ASCII: &str = "Z\u{fc}rich";

/// The parameters with a mirrored text that is more than ASCII.
fn unencoded(params: &Value, annotation: &Annotation) -> Option<Value> {
    let mut params = params.clone();
    let holder = params.get_mut("arguments")?;
    let place = annotation.path.iter().try_fold(holder, |value, name| value.get_mut(name))?;
    if !place.is_string() {
        return None;
    }
    *place = json!(BEYOND_ASCII);
    Some(params)
}

/// The parameters with the mirrored arguments left out, or something else in their place.
fn without(params: &Value, annotations: &[Annotation], instead: Option<&Value>) -> Value {
    let mut params = params.clone();
    for annotation in annotations {
        let Some((last, way)) = annotation.path.split_last() else { continue };
        let holder = way.iter().try_fold(&mut params["arguments"], |value, name| value.get_mut(name));
        let Some(Value::Object(members)) = holder else { continue };
        match instead {
            Some(value) => members.insert(last.clone(), value.clone()),
            None => members.remove(last),
        };
    }
    params
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirrored_argument_is_always_given() {
        let mut schema = json!({ "type": "object", "properties": {
            "outer": { "type": "object", "properties": { "zone": { "type": "string", "x-mcp-header": "Zone" } } },
        }});
        let found = annotations(&schema).valid;
        for annotation in &found {
            demand(&mut schema, &annotation.path);
        }
        let arguments = object(&schema, Style::Smallest, &schema::Rng::plain()).map(Value::Object);
        assert_eq!(arguments, Some(json!({ "outer": { "zone": "proof" } })));
        let params = json!({ "arguments": arguments });
        assert_eq!(at(&params, &found[0]), Some(&json!("proof")));
        assert_eq!(without(&params, &found, None), json!({ "arguments": { "outer": {} } }));
        assert_eq!(without(&params, &found, Some(&Value::Null)), json!({ "arguments": { "outer": { "zone": null } } }));
    }
}

//! promptfoo's assertions as demands. Those about texts, costs or a judge's opinion have no counterpart in a case, and code is
//! never run.

use serde_json::Value;

use document::quoted;

use super::expect::{Demand, Want};
use super::reader::{Part, Place, Reader};
use super::template::{self, Variables};
use super::trajectory;

/// One assertion as it was written.
#[derive(Clone, Debug)]
pub(super) struct Assertion {
    place: Place,
    kind: String,
    value: Value,
    threshold: Option<f64>,
    /// Members that change what is compared.
    changes: Option<&'static str>,
}

const NO_CODE: &str = "code is never run";

/// Reads a list of assertions: inline, in files, by reference to `assertionTemplates`, and in sets.
pub(super) fn read(reader: &mut Reader<'_>, list: &Part, root: &Part) -> Vec<Assertion> {
    list.items().iter().flat_map(|part| one(reader, part, root)).collect()
}

fn one(reader: &mut Reader<'_>, part: &Part, root: &Part) -> Vec<Assertion> {
    let place = part.place();
    if let Some(path) = part.text().and_then(|text| text.strip_prefix("file://")) {
        if !is_yaml(path) {
            reader.left_out(&place, format!("{}: {NO_CODE}", quoted(path)));
            return Vec::new();
        }
        let Some((_, loaded)) = reader.load(&place, "", path) else { return Vec::new() };
        return reader.deeper(|reader| read(reader, &loaded, root));
    }
    let reference = part.get("$ref");
    if let Some(name) = reference.as_ref().and_then(|of| of.text()) {
        let name = name.strip_prefix("#/assertionTemplates/").unwrap_or(name);
        let found = root.find(&["assertionTemplates", name]).filter(|of| of.get("$ref").is_none());
        let Some(template) = found else {
            reader.left_out(&place, format!("{}: unknown assertion template", quoted(name)));
            return Vec::new();
        };
        if let Err(why) = reader.charge(template.value().to_string().len()) {
            reader.left_out(&place, why);
            return Vec::new();
        }
        return one(reader, &template, root);
    }
    let kind = part.get("type");
    let Some(kind) = kind.as_ref().and_then(|kind| kind.text()) else {
        reader.left_out(&place, "an assertion without `type`");
        return Vec::new();
    };
    if kind == "assert-set" {
        return set(reader, part, root);
    }
    let threshold = part.get("threshold").and_then(|part| part.value().as_f64());
    let changes = ["transform", "contextTransform"].into_iter().find(|key| part.get(key).is_some());
    if part.get("weight").is_some_and(|weight| weight.value().as_f64() == Some(0.0)) {
        reader.left_out(&place, format!("`{kind}`: its weight is 0"));
        return Vec::new();
    }
    value(reader, part, kind)
        .map(|value| Assertion { place, kind: kind.to_owned(), value, threshold, changes })
        .into_iter()
        .collect()
}

fn set(reader: &mut Reader<'_>, part: &Part, root: &Part) -> Vec<Assertion> {
    if part.get("threshold").is_some_and(|threshold| threshold.value().as_f64() != Some(1.0)) {
        reader.left_out(&part.place(), "`assert-set`: with `threshold`, not all of its assertions must hold");
        return Vec::new();
    }
    let Some(list) = part.get("assert") else { return Vec::new() };
    list.items().iter().filter(|inner| inner.get("assert").is_none()).flat_map(|part| one(reader, part, root)).collect()
}

/// The value of an assertion, from its file where it names one.
fn value(reader: &mut Reader<'_>, part: &Part, kind: &str) -> Option<Value> {
    let Some(value) = part.get("value") else { return Some(Value::Null) };
    let Some(path) = value.text().and_then(|text| text.strip_prefix("file://")) else { return Some(value.value()) };
    if is_yaml(path) {
        return reader.load(&value.place(), "", path).map(|(_, loaded)| loaded.value());
    }
    reader.left_out(&part.place(), format!("`{kind}`: {} is neither YAML nor JSON, and {NO_CODE}", quoted(path)));
    None
}

pub(super) fn is_yaml(path: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|end| path.ends_with(end))
}

/// What an assertion demands with these variables; a remark where a case cannot say it.
pub(super) fn demand(reader: &mut Reader<'_>, assertion: &Assertion, variables: &Variables) -> Vec<Demand> {
    let kind = assertion.kind.as_str();
    let wants = match template::fill_all(&assertion.value, variables) {
        Ok(value) if is_about_calls(kind) => wants(assertion, &value),
        Err(why) if is_about_calls(kind) => Err(why),
        _ => Err(without_counterpart(kind).to_owned()),
    };
    let demand = |want| Demand { place: assertion.place.clone(), label: format!("`{kind}`"), want };
    match wants {
        Ok(wants) => wants.into_iter().map(demand).collect(),
        Err(why) => {
            reader.left_out(&assertion.place, format!("{}: {why}", quoted(kind)));
            Vec::new()
        }
    }
}

fn is_about_calls(kind: &str) -> bool {
    let kind = kind.strip_prefix("not-").unwrap_or(kind);
    kind == "tool-call-f1" || (kind.starts_with("trajectory:") && kind != "trajectory:goal-success")
}

/// Why an assertion has no counterpart.
fn without_counterpart(kind: &str) -> &'static str {
    let kind = kind.strip_prefix("not-").unwrap_or(kind);
    match kind {
        "javascript" | "python" | "ruby" | "webhook" => NO_CODE,
        "is-valid-openai-tools-call" | "is-valid-openai-function-call" | "is-valid-function-call" => {
            "with `tools`, every score compares calls with their schemas"
        }
        "llm-rubric"
        | "model-graded-closedqa"
        | "factuality"
        | "g-eval"
        | "agent-rubric"
        | "trajectory:goal-success" => "a judge's opinion is for `proof eval judge`",
        "equals" | "contains" | "icontains" | "contains-all" | "contains-any" | "icontains-all" | "icontains-any"
        | "starts-with" | "ends-with" | "regex" | "is-json" | "contains-json" | "is-refusal" | "similar"
        | "levenshtein" | "word-count" => "cases say nothing about the text of an answer",
        "cost" | "latency" | "tokens-used" => "cases say nothing about costs or time",
        _ => "cases have no counterpart",
    }
}

fn wants(assertion: &Assertion, value: &Value) -> Result<Vec<Want>, String> {
    match assertion.changes {
        Some(key) => Err(format!("`{key}`: {NO_CODE}")),
        None => trajectory::wants(&assertion.kind, value, assertion.threshold),
    }
}

//! How much memory an operation takes: what several operations share in a description, each has a copy of.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::{Arguments, Body, Encoding, Operation, Parameter};

/// What a value takes besides its text, and what a member of an object takes besides its name and value.
const VALUE: usize = 72;
const MEMBER: usize = 64;
/// What a parameter and an operation take besides their texts.
const PARAMETER: usize = 300;
const OPERATION: usize = 1_000;

/// The bytes of memory of a value, about.
fn of_value(value: &Value) -> usize {
    VALUE
        + match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(of_value).sum(),
            Value::Object(members) => members.iter().map(|(name, value)| MEMBER + name.len() + of_value(value)).sum(),
            _ => 0,
        }
}

/// The bytes of memory of an operation, about.
pub(super) fn of(operation: &Operation) -> usize {
    let texts = [&operation.id, &operation.summary, &operation.description];
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    let lists: usize = operation.tags.iter().chain(&operation.servers).map(|text| text.len() + VALUE).sum();
    let security = operation.security.iter().flatten();
    let security: usize = security.map(|one| one.scheme.len() + VALUE * (1 + one.scopes.len())).sum();
    let answer = operation
        .answer
        .as_ref()
        .map_or(0, |answer| answer.media.as_ref().map_or(0, String::len) + answer.schema.as_ref().map_or(0, of_value));
    OPERATION
        + operation.at.len()
        + operation.path.len()
        + texts
        + lists
        + security
        + answer
        + operation.parameters.iter().map(of_parameter).sum::<usize>()
        + operation.body.as_ref().map_or(0, of_body)
        + named(&operation.definitions)
}

fn of_parameter(parameter: &Parameter) -> usize {
    let texts = [&parameter.description, &parameter.media];
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    PARAMETER + 2 * parameter.name.len() + texts + of_value(&parameter.schema)
}

fn of_body(body: &Body) -> usize {
    let members = match &body.arguments {
        Arguments::Whole(_) => 0,
        Arguments::Members(members) => members.iter().map(|member| VALUE + 2 * member.name.len()).sum(),
    };
    let media = |one: &Encoding| one.media.as_ref().map_or(0, String::len);
    let encoding: usize = body.encoding.iter().map(|(name, one)| name.len() + media(one) + PARAMETER).sum();
    let description = body.description.as_ref().map_or(0, String::len);
    body.media.len() + description + of_value(&body.schema) + members + encoding
}

fn named(definitions: &BTreeMap<String, Value>) -> usize {
    definitions.iter().map(|(name, schema)| MEMBER + name.len() + of_value(schema)).sum()
}

//! What makes tools hard to use for a model, and what to curate.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::{Api, Arguments, Method};
use crate::prose;
use crate::schemas::size;
use crate::tools::Tool;

/// How many tools models and clients still handle: some clients drop those beyond.
pub const MANY_TOOLS: usize = 40;
/// How large the input schema of a tool may be, in bytes of JSON, before it is worth a word.
const LARGE_SCHEMA: usize = 8 << 10;
/// How many arguments a tool may have before it is worth a word.
const MANY_ARGUMENTS: usize = 25;
/// How large a list of tools may be, in bytes of JSON: about 30,000 tokens.
const LARGE_LIST: usize = 120 << 10;
/// How few characters describe nothing.
const SHORT_TEXT: usize = 12;
/// How many places one hint lists.
const LISTED: usize = 5;

type Test = fn(&Api, &Tool) -> bool;

/// What is to be curated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The kind of hint, such as `no-description`.
    pub rule: &'static str,
    /// What is so.
    pub what: String,
    /// Where: names of tools; of many the first.
    pub tools: Vec<String>,
    /// How many tools it is about.
    pub count: usize,
    /// What to do.
    pub remedy: &'static str,
}

/// Hints for a list of tools, the weightiest first.
pub fn lint(api: &Api, tools: &[Tool]) -> Vec<Hint> {
    let mut hints = Vec::new();
    whole_list(tools, &mut hints);
    hints.extend(same_descriptions(tools));
    hints.extend(similar_names(tools));
    let rules: [(&'static str, &str, Test, &'static str); 9] = [
        (
            "no-description",
            "have no summary and no description",
            has_no_text,
            "say in one sentence what each does and when to use it",
        ),
        (
            "short-description",
            "have a description that says next to nothing",
            has_short_text,
            "say in one sentence what each does and when to use it",
        ),
        (
            "undescribed-arguments",
            "require arguments that are not described",
            has_undescribed,
            "describe what goes into them, with an example",
        ),
        (
            "large-schema",
            "have an input schema of more than 8 KiB",
            |_, tool| size(&tool.input) > LARGE_SCHEMA,
            "remove optional members that a model does not need",
        ),
        (
            "many-arguments",
            "have more than 25 arguments",
            |_, tool| arguments(tool).count() > MANY_ARGUMENTS,
            "remove optional arguments that a model does not need",
        ),
        ("free-form", "take a body that can be anything", takes_anything, "describe the body's members"),
        (
            "optional-body",
            "have required members in a body that is optional",
            has_optional_body,
            "set `required: true` in the request body",
        ),
        (
            "body-on-read",
            "send a body with GET, HEAD or DELETE, which some servers ignore",
            has_body_on_read,
            "move its members into the query",
        ),
        ("deprecated", "are deprecated", |api, tool| api.operations[tool.operation].deprecated, "leave them out"),
    ];
    for (rule, what, test, remedy) in rules {
        let found: Vec<&Tool> = tools.iter().filter(|tool| test(api, tool)).collect();
        hints.extend(hint(rule, what, &found, remedy));
    }
    hints
}

/// The same words about one tool: `have …` becomes `has …`, and other verbs get an `s`.
fn of_one(what: &str) -> String {
    match what.split_once(' ') {
        Some(("have", rest)) => format!("has {rest}"),
        Some(("are", rest)) => format!("is {rest}"),
        Some((verb, rest)) => format!("{verb}s {rest}"),
        None => what.to_owned(),
    }
}

fn hint(rule: &'static str, what: &str, found: &[&Tool], remedy: &'static str) -> Option<Hint> {
    let names = found.iter().take(LISTED).map(|tool| tool.name.clone()).collect();
    let what = match found.len() {
        0 => return None,
        1 => format!("1 tool {}", of_one(what)),
        count => format!("{count} tools {what}"),
    };
    Some(Hint { rule, what, tools: names, count: found.len(), remedy })
}

fn whole_list(tools: &[Tool], hints: &mut Vec<Hint>) {
    if tools.len() > MANY_TOOLS {
        hints.push(Hint {
            rule: "many-tools",
            what: format!("{} tools: some clients drop those beyond 40, and models choose worse", tools.len()),
            tools: Vec::new(),
            count: tools.len(),
            remedy: "choose by tag, path or list, or start from a proposal",
        });
    }
    let bytes: usize = tools.iter().map(|tool| size(&tool.to_value())).sum();
    if bytes > LARGE_LIST {
        hints.push(Hint {
            rule: "large-list",
            what: format!("the list of tools has {} KiB, about {} tokens", bytes >> 10, bytes / 4),
            tools: Vec::new(),
            count: tools.len(),
            remedy: "choose fewer tools, or remove optional arguments",
        });
    }
}

/// Tools that a model cannot tell apart.
fn same_descriptions(tools: &[Tool]) -> Option<Hint> {
    let mut groups: BTreeMap<&str, Vec<&Tool>> = BTreeMap::new();
    for tool in tools {
        groups.entry(&tool.description).or_default().push(tool);
    }
    let found: Vec<&Tool> = groups.into_values().filter(|group| group.len() > 1).flatten().collect();
    hint("same-description", "share their description with another tool", &found, "say in each how it differs")
}

/// Names that differ in one letter or in a plural.
fn similar_names(tools: &[Tool]) -> Option<Hint> {
    let mut groups: BTreeMap<String, Vec<&Tool>> = BTreeMap::new();
    for tool in tools {
        let words = tool.name.split('_').map(|word| word.trim_end_matches('s'));
        groups.entry(words.collect::<Vec<_>>().join("")).or_default().push(tool);
    }
    let found: Vec<&Tool> = groups.into_values().filter(|group| group.len() > 1).flatten().collect();
    hint(
        "similar-names",
        "have names that differ in a plural or an underscore",
        &found,
        "give them names that say how they differ (`operationId`)",
    )
}

fn arguments(tool: &Tool) -> impl Iterator<Item = (&String, &Value)> {
    tool.input.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn has_no_text(api: &Api, tool: &Tool) -> bool {
    let operation = &api.operations[tool.operation];
    operation.summary.is_none() && operation.description.is_none()
}

fn has_short_text(api: &Api, tool: &Tool) -> bool {
    !has_no_text(api, tool) && tool.description.chars().count() < SHORT_TEXT
}

fn has_undescribed(_: &Api, tool: &Tool) -> bool {
    let required = tool.input.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let speaks = |schema: &Value| {
        ["description", "enum", "const", "format", "examples", "$ref"].iter().any(|name| schema.get(*name).is_some())
    };
    arguments(tool).any(|(name, schema)| required.contains(&name.as_str()) && !speaks(schema))
}

fn takes_anything(api: &Api, tool: &Tool) -> bool {
    let Some(body) = &api.operations[tool.operation].body else { return false };
    let says =
        ["properties", "items", "oneOf", "anyOf", "allOf", "$ref", "enum", "additionalProperties", "prefixItems"];
    let kind = body.schema.get("type").and_then(Value::as_str);
    matches!(body.arguments, Arguments::Whole(_))
        && matches!(kind, None | Some("object"))
        && !says.iter().any(|name| body.schema.get(*name).is_some())
}

fn has_optional_body(api: &Api, tool: &Tool) -> bool {
    let Some(body) = &api.operations[tool.operation].body else { return false };
    !body.required && body.schema.get("required").is_some()
}

fn has_body_on_read(api: &Api, tool: &Tool) -> bool {
    let operation = &api.operations[tool.operation];
    operation.body.is_some() && matches!(operation.method, Method::Get | Method::Head | Method::Delete)
}

/// The hints as lines for a person.
pub fn lines(hints: &[Hint]) -> Vec<String> {
    let line = |hint: &Hint| {
        let mut line = format!("{}: {}", hint.rule, hint.what);
        if !hint.tools.is_empty() {
            let more = if hint.count > hint.tools.len() { ", …" } else { "" };
            line.extend([" – ", hint.tools.join(", ").as_str(), more]);
        }
        format!("{} – try: {}", prose::plain(&line), hint.remedy)
    };
    hints.iter().map(line).collect()
}

#[cfg(test)]
#[path = "lint_tests.rs"]
mod tests;

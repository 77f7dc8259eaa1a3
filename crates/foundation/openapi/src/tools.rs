//! What a model sees of each operation: an MCP tool.

use serde_json::{Map, Value, json};

use crate::model::{Api, Arguments, Body, Kind, Member, Method, Operation, Parameter};
use crate::naming;
use crate::prose;
use crate::schemas::{for_parts, loosened, size};

/// How long descriptions and output schemas of tools are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolLimits {
    /// Characters of a description; [`Tool::full`] has all of it.
    pub description: usize,
    /// Bytes of JSON of an output schema; a larger one is left out.
    pub output_bytes: usize,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self { description: 300, output_bytes: 4 << 10 }
    }
}

/// A tool.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its name, unique within the API.
    pub name: String,
    /// A short name for people.
    pub title: Option<String>,
    /// What it does, shortened.
    pub description: String,
    /// All that the description says, where that is more.
    pub full: Option<String>,
    /// `inputSchema`
    pub input: Value,
    /// `outputSchema`: loose, so that the answers of real APIs fit. None where the answer is no object or the schema too large.
    pub output: Option<Value>,
    /// What a call does to the API.
    pub annotations: Annotations,
    /// The first tag of its operation.
    pub group: Option<String>,
    /// The operation: its index in [`Api::operations`].
    pub operation: usize,
}

/// What a call does to the API, as far as its method says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Annotations {
    /// It changes nothing.
    pub read_only: bool,
    /// It may destroy something.
    pub destructive: bool,
    /// A second call does no more than the first.
    pub idempotent: bool,
}

impl Annotations {
    /// What RFC 9110, sections 9.2.1 and 9.2.2, says of a method.
    pub const fn of(method: Method) -> Self {
        let read_only = matches!(method, Method::Get | Method::Head | Method::Options | Method::Trace);
        Self {
            read_only,
            destructive: matches!(method, Method::Delete),
            idempotent: read_only || matches!(method, Method::Put | Method::Delete),
        }
    }
}

/// Verbs of what is gone afterwards.
const DELETES: [&str; 12] = [
    "delete",
    "remove",
    "drop",
    "purge",
    "destroy",
    "erase",
    "wipe",
    "kill",
    "truncate",
    "revoke",
    "terminate",
    "cancel",
];
/// Verbs of what changes something, whatever the method.
const CHANGES: [&str; 12] =
    ["create", "update", "write", "send", "insert", "add", "edit", "rename", "upload", "publish", "install", "deploy"];

impl Annotations {
    /// What the method says, and what the name and the path say against it: `POST /pets/{id}/delete` destroys.
    fn of_operation(operation: &Operation, name: &str) -> Self {
        let mut annotations = Self::of(operation.method);
        let verb = name.split('_').next().unwrap_or_default();
        let last = operation.path.rsplit('/').next().unwrap_or_default();
        if DELETES.contains(&verb) || (!annotations.read_only && DELETES.contains(&last)) {
            annotations.read_only = false;
            annotations.destructive = true;
        } else if CHANGES.contains(&verb) {
            annotations.read_only = false;
        }
        annotations
    }
}

impl Tool {
    /// The tool as `tools/list` has it.
    pub fn to_value(&self) -> Value {
        let Annotations { read_only, destructive, idempotent } = self.annotations;
        let mut annotations = json!({"readOnlyHint": read_only, "openWorldHint": true});
        if !read_only {
            annotations["destructiveHint"] = destructive.into();
            annotations["idempotentHint"] = idempotent.into();
        }
        let mut tool = json!({"name": self.name});
        if let Some(title) = &self.title {
            tool["title"] = title.as_str().into();
        }
        tool["description"] = self.description.as_str().into();
        tool["inputSchema"] = self.input.clone();
        if let Some(output) = &self.output {
            tool["outputSchema"] = output.clone();
        }
        tool["annotations"] = annotations;
        tool
    }
}

/// The tools of an API, one for each operation, in their order.
pub fn tools(api: &Api, limits: &ToolLimits) -> Vec<Tool> {
    let names = naming::names(&api.operations);
    let with_names = api.operations.iter().zip(names).enumerate();
    with_names.map(|(index, (operation, name))| tool(operation, name, index, limits)).collect()
}

fn tool(operation: &Operation, name: String, index: usize, limits: &ToolLimits) -> Tool {
    let (description, full) = description(operation, limits.description);
    let title = operation.summary.as_deref().map(prose::plain).filter(|title| !title.is_empty());
    let annotations = Annotations::of_operation(operation, &name);
    let seen = |mut schema: Value| {
        loosen_required(&mut schema);
        prose::clean(&mut schema);
        schema
    };
    Tool {
        name,
        title: title.map(|title| prose::shortened(&title, 80)),
        description,
        full,
        input: seen(input(operation)),
        output: output(operation, limits.output_bytes).map(seen),
        annotations,
        group: operation.tags.first().map(|tag| prose::plain(tag)),
        operation: index,
    }
}

/// Takes names out of `required` whose members were removed.
fn loosen_required(schema: &mut Value) {
    for_parts(schema, &mut loosen_required);
    let Value::Object(members) = schema else { return };
    if let Some(Value::Array(required)) = members.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| !prose::is_deceptive(name)));
    }
}

/// The shortened description, and the whole where it says more.
fn description(operation: &Operation, most: usize) -> (String, Option<String>) {
    let plain = |text: &Option<String>| text.as_deref().map(prose::plain).filter(|text| !text.is_empty());
    let (summary, body) = (plain(&operation.summary), plain(&operation.description));
    let mut text = match (summary, body) {
        (Some(summary), Some(body)) if body.starts_with(summary.trim_end_matches('.')) => body,
        (Some(summary), Some(body)) => format!("{}. {body}", summary.trim_end_matches('.')),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => format!("{} {}", operation.method.as_str(), prose::plain(&operation.path)),
    };
    if operation.deprecated {
        text = format!("Deprecated. {text}");
    }
    let raw = [&operation.summary, &operation.description].into_iter().flatten();
    let raw = raw.map(|text| prose::whole(text.trim())).collect::<Vec<_>>().join("\n\n");
    let short = prose::shortened(&text, most);
    let full = (short.len() < text.len()).then_some(raw);
    (short, full)
}

/// One flat object: parameters and the members of the body.
fn input(operation: &Operation) -> Value {
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    for parameter in &operation.parameters {
        properties.insert(parameter.argument.clone(), described(parameter));
        if parameter.required {
            required.push(&parameter.argument);
        }
    }
    let mut together = Map::new();
    if let Some(body) = &operation.body {
        add_body(body, &mut properties, &mut required);
        together = given_together(body);
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    if !together.is_empty() {
        schema["dependentRequired"] = together.into();
    }
    if !operation.definitions.is_empty() {
        schema["$defs"] = operation.definitions.clone().into_iter().collect::<Map<_, _>>().into();
    }
    // What is not an argument would be dropped in silence.
    schema["additionalProperties"] = false.into();
    schema
}

fn described(parameter: &Parameter) -> Value {
    let mut schema = parameter.schema.clone();
    let text = parameter.description.as_deref().map(prose::plain).filter(|text| !text.is_empty());
    if let (Some(text), Value::Object(members)) = (text, &mut schema) {
        members.insert("description".to_owned(), prose::shortened(&text, 200).into());
    }
    schema
}

fn add_body<'b>(body: &'b Body, properties: &mut Map<String, Value>, required: &mut Vec<&'b str>) {
    match &body.arguments {
        Arguments::Whole(argument) => {
            let mut schema = body.schema.clone();
            if let Value::Object(members) = &mut schema
                && !members.contains_key("description")
            {
                members.insert("description".to_owned(), about(body).into());
            }
            properties.insert(argument.clone(), schema);
            if body.required {
                required.push(argument);
            }
        }
        Arguments::Members(list) => {
            for member in list {
                let schema = body.schema.get("properties").and_then(|all| all.get(&member.name));
                properties.insert(member.argument.clone(), schema.cloned().unwrap_or_else(|| json!({})));
            }
            if body.required {
                required.extend(needed(body));
            }
        }
    }
}

/// The arguments that a body cannot do without.
fn needed(body: &Body) -> Vec<&str> {
    let Arguments::Members(list) = &body.arguments else { return Vec::new() };
    let names = body.schema.get("required").and_then(Value::as_array);
    let names: Vec<&str> = names.into_iter().flatten().filter_map(Value::as_str).collect();
    let is_needed = |member: &&Member| names.contains(&member.name.as_str());
    list.iter().filter(is_needed).map(|member| member.argument.as_str()).collect()
}

/// `dependentRequired` of a body that may be left out: with one of its arguments, those that the body needs must be given.
/// Each names the first of these, and the first names the others: as strict as lists of all, and no longer than the arguments.
fn given_together(body: &Body) -> Map<String, Value> {
    let needed = needed(body);
    let (Arguments::Members(list), false, Some((first, others))) =
        (&body.arguments, body.required, needed.split_first())
    else {
        return Map::new();
    };
    let with = |member: &Member| if member.argument == *first { others.into() } else { vec![*first].into() };
    let lists = list.iter().map(|member| (member.argument.clone(), with(member)));
    lists.filter(|(_, list): &(_, Value)| list.as_array().is_some_and(|list| !list.is_empty())).collect()
}

/// What a body is that has no description in its schema.
fn about(body: &Body) -> String {
    let text = body.description.as_deref().map(prose::plain).filter(|text| !text.is_empty());
    let text = text.map(|text| prose::shortened(&text, 200));
    let how = match body.kind {
        Kind::Text => Some(format!("The body, as {}.", body.media)),
        Kind::Bytes => Some(format!("The body ({}), in Base64.", body.media)),
        _ => None,
    };
    match (text, how) {
        (Some(text), Some(how)) => format!("{text} {how}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => "The body of the request.".to_owned(),
    }
}

fn output(operation: &Operation, most: usize) -> Option<Value> {
    let schema = operation.answer.as_ref()?.schema.as_ref()?;
    loosened(schema).filter(|schema| size(schema) <= most)
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;

//! Schemas of answers that `outputSchema` has no room for, as resources: made when they are read, because all of them
//! together may be hundreds of megabytes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use openapi::{Api, Limits, Operation, Tool, answer_schema};
use reference::catalogue::{Body, Template, Variables};
use serde_json::Value;

/// How long a description may be, as compact JSON, to be kept for this.
const LONGEST: usize = 16 << 20;
/// How many schemas are kept that were read, each of at most [`Limits::whole_bytes`].
const KEPT: usize = 8;

/// A description, and the tools whose answers are too large to describe in the list.
struct Answers {
    /// As text: parsed, it would take ten times the memory.
    description: Vec<u8>,
    operations: BTreeMap<String, Operation>,
    /// The last ones that were read, with the names of their tools. Locked while one is made: no two at once.
    made: Mutex<VecDeque<(String, Arc<str>)>>,
}

/// The template of these schemas at the server's place; `None` where each is in the list, or the description is too long.
pub(super) fn template(place: &str, description: &Value, api: &Api, tools: &[&Tool]) -> Option<Template> {
    let operations = tools.iter().filter(|tool| tool.output.is_none());
    let operations = operations.map(|tool| (tool.name.clone(), &api.operations[tool.operation]));
    let operations: BTreeMap<_, _> = operations
        .filter(|(_, operation)| is_too_large(operation))
        .map(|(name, operation)| (name, operation.clone()))
        .collect();
    if operations.is_empty() {
        return None;
    }
    let description = serde_json::to_vec(description).ok().filter(|text| text.len() <= LONGEST)?;
    let answers = Answers { description, operations, made: Mutex::default() };
    let read = move |variables: &Variables| answers.find(variables.get("tool")?).map(|text| Body::Text(text.into()));
    let about = "The JSON Schema of a tool's answer, where it is too large for the list of tools";
    let template = format!("answer-schema://{place}/{{tool}}");
    let template = Template::new(template, "answer schemas", "application/schema+json", read).apart();
    Some(template.told("Schemas of answers", about))
}

/// Whether its answer is described and not in the list because of its size. One that is no object is never in the list.
fn is_too_large(operation: &Operation) -> bool {
    operation.answer.as_ref().is_some_and(|answer| {
        answer.is_described && answer.schema.as_ref().is_none_or(|schema| schema.get("type") == Some(&"object".into()))
    })
}

impl Answers {
    fn find(&self, tool: &str) -> Option<String> {
        let operation = self.operations.get(tool)?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, text)) = made.iter().find(|(name, _)| name == tool) {
            return Some(text.to_string());
        }
        let description: Value = serde_json::from_slice(&self.description).ok()?;
        let schema = answer_schema(&description, operation, &Limits::default())?;
        let text = schema.to_string();
        if made.len() == KEPT {
            made.pop_front();
        }
        made.push_back((tool.to_owned(), text.as_str().into()));
        Some(text)
    }
}

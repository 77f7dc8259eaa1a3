//! Tools that are made of several calls: steps whose values are captured, and a result made of these. Knows no HTTP: a step is
//! the call of another tool.

mod reading;

use std::collections::BTreeMap;
use std::time::Duration;

use document::Filled;
use openapi::answer::{self, Answered, Block, View, shape::Shape};
use schema::Validator;
use serde_json::{Map, Value, json};
use serde_json_path::JsonPath;
use tokio::time::timeout;
use wire::serf::{Category, Details};

use crate::caller::Caller;
use crate::error::SetupError;
use crate::keeping::Keeper;
use crate::{CallableOperation, Factory, shown};

pub(crate) use reading::Entry;

/// How many mismatches of a step's arguments are named.
const NAMED: usize = 4;

/// A tool that is made of several calls, as the configuration has it.
#[derive(Clone, Debug)]
pub struct ComposeRule {
    /// Its name.
    pub tool: String,
    /// For people.
    pub title: Option<String>,
    /// For a model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input: Value,
    pub(crate) steps: Vec<Step>,
    pub(crate) result: Filled,
}

/// One call.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    call: String,
    arguments: Filled,
    capture: Vec<(String, JsonPath)>,
    /// Whether the values are null where the call fails.
    optional: bool,
}

/// A tool that steps may call.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its calls.
    pub operation: CallableOperation,
    /// The JSON Schema of its arguments.
    pub input: Value,
}

/// A composed tool that can be called.
pub struct Composed {
    factory: Factory,
    steps: Vec<(Step, CallableOperation, Validator)>,
    result: Filled,
    /// How long all steps may take together.
    time: Duration,
}

impl std::fmt::Debug for Composed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Composed").field(&self.steps.len()).finish()
    }
}

impl ComposeRule {
    /// The names of the tools that its steps call.
    pub fn calls(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map(|step| step.call.as_str())
    }
}

impl Composed {
    /// Prepares the calls of a rule. An error says which step cannot be called.
    pub fn new(factory: &Factory, rule: &ComposeRule, parts: &BTreeMap<String, Part>) -> Result<Self, SetupError> {
        let mut steps = Vec::new();
        for step in &rule.steps {
            let at = format!("`compose`: {} calls {}", shown(&rule.tool), shown(&step.call));
            let missing = || {
                let near = document::nearest(&step.call, parts.keys().map(String::as_str));
                SetupError::new(format!("{at}, which is not a tool that can be called"), near)
            };
            let part = parts.get(&step.call).ok_or_else(missing)?;
            let validator = Validator::trusted(&part.input)
                .map_err(|error| SetupError::new(format!("{at}, whose schema is unusable: {error}"), "another tool"))?;
            steps.push((step.clone(), part.operation.clone(), validator));
        }
        let time = factory.0.config.time_of(&rule.tool);
        Ok(Self { factory: factory.clone(), steps, result: rule.result.clone(), time })
    }

    /// Makes the calls, one after the other, for this caller. The arguments fit the rule's schema.
    pub async fn call(&self, caller: &Caller, arguments: Map<String, Value>) -> Answered {
        let limit = self.time;
        match timeout(limit, self.run(caller, arguments)).await {
            Ok(Ok(answered)) => answered,
            Ok(Err(failed)) => *failed,
            Err(_) => Answered::failed(answer::details(504, None, false), format!("not all steps within {limit:?}")),
        }
    }

    /// The steps' calls, in their order.
    pub fn operations(&self) -> impl Iterator<Item = &CallableOperation> {
        self.steps.iter().map(|(_, operation, _)| operation)
    }

    async fn run(&self, caller: &Caller, arguments: Map<String, Value>) -> Result<Answered, Box<Answered>> {
        let (mut values, mut notes) = (Value::Object(arguments), Vec::new());
        for (number, (step, operation, validator)) in self.steps.iter().enumerate() {
            let at = format!("step {} ({})", number + 1, step.call);
            match step.captured(caller, operation, validator, &values).await {
                Ok(captured) => extend(&mut values, captured),
                Err(failed) if step.optional => {
                    notes.push(format!("{at} failed, so its values are null: {}", first_text(&failed)));
                    extend(&mut values, step.capture.iter().map(|(name, _)| (name.clone(), Value::Null)));
                }
                Err(mut failed) => {
                    if let Some(Block::Text(text)) = failed.blocks.first_mut() {
                        text.insert_str(0, &format!("{at}: "));
                    }
                    return Err(failed);
                }
            }
        }
        let result = self.result.fill(&values).map_err(|_| too_large("the result"))?;
        Ok(self.shown(caller, result, notes))
    }

    /// The result as an answer, within the same limits as that of one call.
    fn shown(&self, caller: &Caller, result: Value, notes: Vec<String>) -> Answered {
        let inner = &self.factory.0;
        let id = Keeper::fresh_id();
        let (uri, file_uri) = (inner.place.text(&id), inner.place.file(&id));
        let view = View {
            structured: true,
            shape: &Shape::default(),
            // Nothing of it has pages.
            cursor: "",
            inline: inner.config.limits.inline,
            repeatable: false,
            now: oauth::now(),
            uri: &uri,
            file_uri: &file_uri,
        };
        let mut answered = answer::of_json(result, None, &view);
        answered.blocks.extend(notes.into_iter().map(Block::Text));
        if let Some(kept) = answered.kept.take() {
            inner.keeper.keep(caller, id, kept);
        }
        answered
    }
}

impl Step {
    /// The values that one call gives.
    async fn captured(
        &self,
        caller: &Caller,
        operation: &CallableOperation,
        validator: &Validator,
        values: &Value,
    ) -> Result<Vec<(String, Value)>, Box<Answered>> {
        let mut arguments = match self.arguments.fill(values).map_err(|_| too_large("its arguments"))? {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        // What was not given or not captured is left out.
        arguments.retain(|_, value| !value.is_null());
        let arguments = Value::Object(arguments);
        let mismatches = validator.mismatches(&arguments, NAMED);
        if !mismatches.is_empty() {
            let listed: Vec<_> = mismatches.iter().map(|one| format!("{} {}", one.pointer, one.message)).collect();
            let details = Details::new(Category::InvalidInput, "Call it with other arguments");
            return Err(Box::new(Answered::failed(
                details,
                format!("its arguments do not fit: {}", listed.join("; ")),
            )));
        }
        let Value::Object(arguments) = arguments else { return Ok(Vec::new()) };
        let answered = operation.call_for(caller, arguments).await;
        if answered.failure.is_some() {
            return Err(Box::new(answered));
        }
        let body = body(&answered)?;
        self.capture.iter().map(|(name, path)| Ok((name.clone(), one(path, &body)?))).collect()
    }
}

/// The JSON value of a success; null where it has another body or none.
fn body(answered: &Answered) -> Result<Value, Box<Answered>> {
    if answered.blocks.iter().any(|block| matches!(block, Block::Link { .. })) {
        let details = Details::new(Category::ResourceExhausted, "Ask who runs this server");
        let text = "the answer is longer than `inline_bytes`: choose less of it under `shape`";
        return Err(Box::new(Answered::failed(details, text)));
    }
    let Some(Block::Text(text)) = answered.blocks.first() else { return Ok(Value::Null) };
    Ok(serde_json::from_str(text).unwrap_or_default())
}

fn one(path: &JsonPath, body: &Value) -> Result<Value, Box<Answered>> {
    let found = path.query(body).all();
    match found.as_slice() {
        [value] => Ok((*value).clone()),
        found => {
            let text = format!("{path} finds {} values in the answer, and must find one", found.len());
            let details = Details::new(Category::ResourceNotFound, "Call it with other arguments");
            Err(Box::new(Answered::failed(details, text)))
        }
    }
}

fn extend(values: &mut Value, captured: impl IntoIterator<Item = (String, Value)>) {
    if let Value::Object(members) = values {
        members.extend(captured);
    }
}

fn first_text(answered: &Answered) -> String {
    match answered.blocks.first() {
        Some(Block::Text(text)) => wire::escape::snippet(text.lines().next().unwrap_or_default(), 200),
        _ => String::new(),
    }
}

fn too_large(what: &str) -> Box<Answered> {
    let details = Details::new(Category::ResourceExhausted, "Ask for less: a filter, or smaller pages");
    Box::new(Answered::failed(details, format!("{what} would have more than 1 MiB")))
}

/// What a rule's arguments are where it names none.
fn no_arguments() -> Value {
    json!({ "type": "object", "additionalProperties": false })
}

//! Tools: their schemas, and whether each answer is one that they promise and that can be given.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use schema::{Unusable, Validator};
use serde_json::{Map, Value, json};

use super::super::model::{self, Choose};
use super::super::plan::{Answer, Answers, Block, ToolResult};
use super::{Builder, Scope};
use crate::catalogue::{Hints, Tool};
use wire::pointer;

/// Keywords that let an object have members which `properties` does not name.
const OPENING: [&str; 9] =
    ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties", "propertyNames"];

/// How many errors of one structured value are reported.
const MOST: usize = 8;

impl Builder<'_> {
    pub(super) fn tool(&mut self, one: model::Tool, pointer: &str) -> Tool {
        let input = one.input_schema.unwrap_or_else(|| json!({ "type": "object", "additionalProperties": false }));
        self.schema(&input, &format!("{pointer}/inputSchema"));
        self.headers(&input, &format!("{pointer}/inputSchema"));
        let output = one.output_schema;
        let validator = output.as_ref().and_then(|schema| self.schema(schema, &format!("{pointer}/outputSchema")));
        let mut scope = Scope::new("arguments", names(&input));
        let mut list = Vec::new();
        let mut properties = HashMap::new();
        for (at, answer) in one.answers.iter().enumerate() {
            let pointer = format!("{pointer}/answers/{at}");
            self.when(&answer.when, &input, &mut properties, &pointer, &scope);
            self.promised(answer, output.is_some(), &pointer);
            list.extend(self.answer(answer, &pointer, &mut scope, validator.as_ref()));
        }
        self.reachable(&one.answers, one.choose, pointer);
        let turn = (one.choose == Choose::Turn).then(|| Mutex::new(0));
        let answers = Arc::new(Answers { list, turn, output: validator });
        let tool = Tool::later(one.name, one.description, move |_, invocation| {
            let answers = Arc::clone(&answers);
            async move { answers.run(invocation).await }
        });
        let hints = one.annotations.map(hints);
        let title = one.title.map(Into::into);
        Tool { title, output, hints, ..tool.since(scope.since).input(input) }
    }

    /// A JSON Schema, compiled.
    fn schema(&mut self, schema: &Value, pointer: &str) -> Option<Validator> {
        match Validator::trusted(schema) {
            Ok(validator) => Some(validator),
            Err(error) => {
                let below = if let Unusable::Invalid { pointer, .. } = &error { pointer } else { "" };
                let pointer = format!("{pointer}{below}");
                self.error(&pointer, format!("this is not a JSON Schema: {error}"), "a keyword's right value");
                None
            }
        }
    }

    fn headers(&mut self, input: &Value, pointer: &str) {
        for (below, error) in wire::http::annotations(input).faults {
            self.error(&format!("{pointer}{below}"), error.to_string(), "correct the annotation, or leave it out");
        }
    }

    /// Whether arguments that the tool takes can ever be so.
    fn when(
        &mut self,
        when: &Map<String, Value>,
        input: &Value,
        properties: &mut HashMap<String, Option<Validator>>,
        pointer: &str,
        scope: &Scope,
    ) {
        for (name, wanted) in when {
            let pointer = format!("{pointer}/when/{}", pointer::escape(name));
            if !self.declared(name, &pointer, scope) {
                continue;
            }
            // A mapping may be a part of the argument, which its schema need not allow.
            if wanted.is_object() {
                continue;
            }
            let schema = properties.entry(name.clone()).or_insert_with(|| {
                let property = input.get("properties").and_then(|properties| properties.get(name));
                // What refers to another part of the schema is not compiled alone.
                property.and_then(|property| Validator::trusted(property).ok())
            });
            let mismatch = schema.as_ref().and_then(|schema| schema.mismatches(wanted, 1).pop());
            if let Some(mismatch) = mismatch {
                let what = format!("this answer is never given: `{name}` cannot be so: {}", mismatch.message);
                self.error(&pointer, what, "a value that `inputSchema` allows");
            }
        }
    }

    /// Whether the answer is one, and has what an output schema promises.
    fn promised(&mut self, answer: &model::Answer, promises: bool, pointer: &str) {
        let text = answer.text.is_some() || answer.content.is_some();
        if answer.text.is_some() && answer.content.is_some() {
            self.one_of(pointer, &[("text", true), ("content", true)]);
        }
        let result = text || answer.structured_content.is_some();
        if answer.error.is_some() {
            if result || answer.is_error.is_some() || answer.failure.is_some() {
                self.error(
                    &format!("{pointer}/error"),
                    "`error` stands instead of a result, not beside one",
                    "one of them",
                );
            }
        } else if !result {
            self.error(pointer, "this answer says nothing", "`text`, `content`, `structuredContent` or `error`");
        } else if promises && answer.structured_content.is_none() && !fails(answer) {
            let what = "this answer lacks the `structuredContent` that `outputSchema` promises";
            self.error(pointer, what, "add it, or `isError: true`");
        }
    }

    fn answer(
        &mut self,
        one: &model::Answer,
        pointer: &str,
        scope: &mut Scope,
        output: Option<&Validator>,
    ) -> Option<Answer> {
        let steps = self.steps(one.delay.as_deref(), &one.before, pointer, scope);
        let end = match &one.error {
            Some(error) => Err(self.refusal(error, &format!("{pointer}/error"), scope)?),
            None => Ok(self.said(one, pointer, scope, output)),
        };
        Some(Answer { when: Value::Object(one.when.clone()), steps, end })
    }

    fn said(
        &mut self,
        one: &model::Answer,
        pointer: &str,
        scope: &mut Scope,
        output: Option<&Validator>,
    ) -> ToolResult {
        let mut blocks: Vec<Block> = Vec::new();
        if let Some(text) = &one.text {
            blocks.extend(self.block(&model::Content::Text(text.clone()), pointer, scope));
        }
        for (at, content) in one.content.iter().flatten().enumerate() {
            blocks.extend(self.block(content, &format!("{pointer}/content/{at}"), scope));
        }
        self.bounded(blocks.iter(), pointer);
        let is_error = fails(one);
        let failure = one.failure.as_ref().map(|failure| self.failure(failure, one.is_error, pointer));
        let structured = one.structured_content.as_ref().map(|value| {
            let pointer = format!("{pointer}/structuredContent");
            let filled = self.filled(value, &pointer, scope);
            if let (Some(fixed), Some(output), false) = (filled.fixed(), output, is_error) {
                for mismatch in output.mismatches(&fixed, MOST) {
                    let what = format!("this does not fit `outputSchema`: {}", mismatch.message);
                    self.error(&format!("{pointer}{}", mismatch.pointer), what, "another value, or another schema");
                }
            }
            filled
        });
        ToolResult { blocks, structured, is_error, failure: failure.flatten() }
    }

    /// The first that fits is given: behind one that always fits, none is.
    fn reachable(&mut self, answers: &[model::Answer], choose: Choose, pointer: &str) {
        let always = answers.iter().position(|answer| answer.when.is_empty());
        if let (Choose::First, Some(always)) = (choose, always.filter(|always| always + 1 < answers.len())) {
            let what = "this answer is never given: the one before it has no `when`";
            let remedy = "`when` for that one, another order, or `choose: turn`";
            self.error(&format!("{pointer}/answers/{}", always + 1), what, remedy);
        }
    }
}

/// Whether an answer is a failure: what says of which kind it is need not say that it is one.
fn fails(answer: &model::Answer) -> bool {
    answer.is_error.unwrap_or(answer.failure.is_some())
}

/// The arguments that a schema names, unless it has room for others.
fn names(input: &Value) -> Option<HashSet<String>> {
    let more = input.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
    if more || OPENING.iter().any(|keyword| input.get(keyword).is_some()) {
        return None;
    }
    let properties = input.get("properties").and_then(Value::as_object);
    Some(properties.map(|properties| properties.keys().cloned().collect()).unwrap_or_default())
}

/// With the protocol's defaults for what is not said.
fn hints(said: model::Hints) -> Hints {
    Hints {
        read_only: said.read_only_hint.unwrap_or(false),
        destructive: said.destructive_hint.unwrap_or(true),
        idempotent: said.idempotent_hint.unwrap_or(false),
        open_world: said.open_world_hint.unwrap_or(true),
    }
}

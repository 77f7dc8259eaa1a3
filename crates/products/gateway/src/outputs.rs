//! Holds results of tools against the output schemas that their servers list. Must not know how requests travel.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use schema::Validator;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use wire::json::duplicate_name;
use wire::splice::{Splice, member, members, members_at};
use wire::{Era, Kind, Message, Revision};

use crate::settings::{OutputSettings, SchemaMode};
use crate::view::matches;

/// The member of `_meta` that marks a result.
const MARK: &str = "dev.proofhouse/output-schema";
/// How much memory compiled schemas may take, as estimated.
const MOST_MEMORY: usize = 256 << 20;
/// How much more than its text a compiled schema may take, and one with regular expressions.
const GROWTH: (usize, usize) = (16, 1024);
/// The longest place of a mismatch that is shown, in characters.
const LONGEST_PLACE: usize = 200;

/// A compiled schema, or why it cannot be used.
type Compiled = Result<Validator, String>;

/// How results are checked, and the schemas that were compiled for it.
pub(crate) struct Outputs {
    settings: OutputSettings,
    kept: Mutex<Kept>,
}

/// Compiled schemas by the digest of their text, so that a list that is fetched again compiles nothing again.
#[derive(Default)]
struct Kept {
    schemas: HashMap<[u8; 32], Arc<Compiled>>,
    memory: usize,
}

/// How the result of one call is checked.
#[derive(Clone, Debug)]
pub(crate) struct OutputCheck {
    is_enforced: bool,
    schema: Arc<Compiled>,
}

/// How a result does not conform.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    /// The pointer and the keyword, never a value: what does not conform is not passed on by its error.
    pub(crate) what: String,
    place: Value,
}

impl Outputs {
    pub(crate) fn new(settings: &OutputSettings) -> Self {
        Self { settings: settings.clone(), kept: Mutex::default() }
    }

    /// What becomes of results of a tool, by the name that clients see.
    pub(crate) fn mode(&self, tool: &str) -> SchemaMode {
        let found = self.settings.tools.iter().find(|(pattern, _)| matches(pattern, tool));
        found.map_or(self.settings.schema, |(_, mode)| *mode)
    }

    /// How results are checked against this schema; the reason where it cannot be used and results must conform.
    pub(crate) async fn check(&self, schema: &Value, is_enforced: bool) -> Result<OutputCheck, String> {
        let schema = self.compiled(schema).await;
        match &*schema {
            Err(why) if is_enforced => Err(why.clone()),
            _ => Ok(OutputCheck { is_enforced, schema }),
        }
    }

    async fn compiled(&self, schema: &Value) -> Arc<Compiled> {
        let text = schema.to_string();
        let digest: [u8; 32] = Sha256::digest(&text).into();
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept().schemas.get(&digest) {
            return Arc::clone(found);
        }
        let schema = schema.clone();
        let compile = move || Validator::new(&schema).map_err(|why| why.to_string());
        // A server's schema may take its time: no other request waits for it.
        let compiled = tokio::task::spawn_blocking(compile).await;
        let compiled = Arc::new(compiled.unwrap_or_else(|_| Err("it cannot be compiled".to_owned())));
        let growth = if text.contains("attern") { GROWTH.1 } else { GROWTH.0 };
        let memory = if compiled.is_ok() { text.len().saturating_mul(growth) } else { text.len() };
        let mut kept = kept();
        if kept.memory.saturating_add(memory) > MOST_MEMORY {
            *kept = Kept::default();
        }
        if kept.schemas.insert(digest, Arc::clone(&compiled)).is_none() {
            kept.memory += memory;
        }
        compiled
    }
}

impl OutputCheck {
    /// Whether a result that does not conform is an error.
    pub(crate) const fn is_enforced(&self) -> bool {
        self.is_enforced
    }

    /// How a server's response does not conform; `None` where it does, or is no result of the tool. `may_be_task`: whether the
    /// request said that it may become a task (2025-11-25).
    pub(crate) async fn flaw(&self, message: &Message, revision: Revision, may_be_task: bool) -> Option<Flaw> {
        if message.kind() != Kind::Result || !is_outcome(message, revision, may_be_task) {
            return None;
        }
        let (message, schema) = (message.clone(), Arc::clone(&self.schema));
        let judged = tokio::task::spawn_blocking(move || flaw(&message, revision, &schema)).await;
        judged.unwrap_or_else(|_| Some(Flaw::new("the result cannot be checked", "", "")))
    }
}

/// Whether a result is what a tool came to, and not a task or a question.
fn is_outcome(message: &Message, revision: Revision, may_be_task: bool) -> bool {
    // What has such content is read as an outcome, whatever it calls itself.
    if message.body_member("structuredContent").is_some() {
        return true;
    }
    let kind = message.string_member("resultType");
    match revision.era() {
        Era::Modern => !matches!(kind.as_deref(), Some("input_required" | "task")),
        Era::Legacy => !(may_be_task && message.body_member("task").is_some()),
    }
}

fn flaw(message: &Message, revision: Revision, schema: &Compiled) -> Option<Flaw> {
    // Who reads the first and who reads the last of two members would see different results.
    if message.body_text().and_then(duplicate_name).is_some() {
        return Some(Flaw::new("a member of the result stands twice", "", ""));
    }
    let Some(result) = message.result() else { return Some(Flaw::new("the result cannot be read", "", "")) };
    if result.get("isError") == Some(&Value::Bool(true)) {
        return None;
    }
    let Some(content) = result.get("structuredContent") else {
        // Older revisions do not have it.
        let missing = revision.at_least(Revision::R2025_06_18);
        return missing.then(|| Flaw::new("the result has no `structuredContent`", "", "required"));
    };
    let validator = match schema {
        Ok(validator) => validator,
        Err(why) => return Some(Flaw::new(&format!("the schema cannot be used: {why}"), "", "")),
    };
    let mismatch = validator.mismatches(content, 1).into_iter().next()?;
    if mismatch.keyword.is_empty() {
        return Some(Flaw::new("checking the result takes too long", "", ""));
    }
    let place: String = mismatch.pointer.chars().take(LONGEST_PLACE).collect();
    let what = format!("`structuredContent{}` breaks `{}`", wire::escape::line(&place), mismatch.keyword);
    Some(Flaw::new(&what, &place, &mismatch.keyword))
}

impl Flaw {
    fn new(what: &str, pointer: &str, keyword: &str) -> Self {
        let place = json!({ "conforms": false, "pointer": pointer, "keyword": keyword, "reason": what });
        Self { what: what.to_owned(), place }
    }

    /// A response that says so in `_meta`, whatever its server says there.
    pub(crate) fn mark(&self, text: &str) -> String {
        let find = || {
            let all = members(text)?;
            let result = member(text, &all, "result")?;
            Some((result.value.clone(), members_at(text, &result.value)?))
        };
        let Some((result, inner)) = find() else { return text.to_owned() };
        let mark = (MARK, self.place.to_string());
        let mut splice = Splice::new(text);
        let meta = member(text, &inner, "_meta").filter(|meta| text[meta.value.clone()].starts_with('{'));
        if let Some((at, members)) = meta.and_then(|meta| Some((meta.value.clone(), members_at(text, &meta.value)?))) {
            splice.object(&at, &members, |name| name != MARK, &[mark]);
        } else {
            let meta = format!("{{\"{}\":{}}}", mark.0, mark.1);
            splice.object(&result, &inner, |name| name != "_meta", &[("_meta", meta)]);
        }
        splice.finish()
    }
}

#[cfg(test)]
mod tests;

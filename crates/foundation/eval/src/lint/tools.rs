//! Each tool by itself: what it says of itself and of its arguments.

use schema::Validator;
use serde_json::Value;
use wire::pointer;

use super::{Check, Finding, Severity};
use crate::Catalogue;
use crate::catalogue::Tool;
use crate::export::{Api, names};

/// How deep arguments are looked at, and how many of one tool.
const DEEPEST: usize = 6;
const MOST_ARGUMENTS: usize = 500;
/// The longest name that clients leave whole: some put the server's name before it, within 64 characters.
const LONGEST_NAME: usize = 40;
/// The longest name of an argument that says nothing by itself.
const SHORT_NAME: usize = 3;

/// Looks at each tool.
pub(super) fn check(catalogue: &Catalogue, findings: &mut Vec<Finding>) {
    let exported = names(catalogue, Api::OpenAi);
    for (tool, exported) in catalogue.tools().iter().zip(exported) {
        let mut reader = Reader { tool, findings, left: MOST_ARGUMENTS };
        reader.name(&exported);
        reader.description();
        if let Err(unusable) = Validator::new(&tool.schema) {
            let message = format!("its input schema cannot be used: {unusable}");
            reader.find(Check::Schema, Severity::Warning, "", message, "a valid JSON Schema without other documents");
        }
        reader.arguments(&tool.schema, "", 0);
    }
}

struct Reader<'r> {
    tool: &'r Tool,
    findings: &'r mut Vec<Finding>,
    left: usize,
}

impl Reader<'_> {
    fn find(&mut self, check: Check, severity: Severity, pointer: &str, message: String, remedy: &'static str) {
        let (subject, pointer) = (self.tool.name.clone(), pointer.to_owned());
        self.findings.push(Finding { check, severity, subject, line: None, pointer, message, remedy });
    }

    fn name(&mut self, exported: &str) {
        let name = &self.tool.name;
        if exported != name {
            let message = format!("APIs do not take this name; exported as {exported}");
            self.find(Check::Name, Severity::Warning, "", message, "letters, digits, `_` and `-`, at most 64");
        } else if name.len() > LONGEST_NAME {
            let message = format!("the name has {} characters; clients that prefix it may cut it", name.len());
            self.find(Check::Name, Severity::Note, "", message, "at most 40 characters");
        }
    }

    fn description(&mut self) {
        let words = rank::words(&self.tool.description);
        let own = rank::words(&self.tool.name);
        let remedy = "what it does, when to use it, and what it returns";
        if self.tool.description.trim().is_empty() {
            self.find(Check::Description, Severity::Warning, "", "no description".to_owned(), remedy);
        } else if words.iter().all(|word| own.contains(word)) {
            let message = "the description says no more than the name".to_owned();
            self.find(Check::Description, Severity::Warning, "", message, remedy);
        }
    }

    fn arguments(&mut self, schema: &Value, at: &str, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        let required = schema.get("required").and_then(Value::as_array);
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let is_required = required.is_some_and(|all| all.iter().any(|one| one == name));
            let below = pointer::member(at, name);
            self.argument(name, property, is_required, &below);
            self.arguments(property, &below, depth + 1);
            if let Some(items) = property.get("items") {
                self.arguments(items, &format!("{below}/*"), depth + 1);
            }
        }
    }

    fn argument(&mut self, name: &str, property: &Value, is_required: bool, at: &str) {
        // A reference may lead to what says more.
        let says =
            ["description", "enum", "const", "default", "examples", "example", "format", "pattern", "$ref", "allOf"];
        let is_flag = property.get("type").is_some_and(|kind| kind == "boolean");
        let is_said = property.as_bool() == Some(false) || says.iter().any(|word| property.get(word).is_some());
        let is_known = rank::words(&self.tool.description).iter().any(|word| rank::words(name).contains(word));
        if is_said || is_known && name.chars().count() > SHORT_NAME {
            return;
        }
        let severity = if is_required && !is_flag { Severity::Warning } else { Severity::Note };
        let message = "nothing says what this argument needs".to_owned();
        self.find(Check::Argument, severity, at, message, "a `description` with an example, or an `enum`");
    }
}

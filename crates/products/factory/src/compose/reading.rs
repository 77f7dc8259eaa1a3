//! An entry of `compose` in a configuration: what it means, or what is wrong with it and where.

use std::collections::{BTreeMap, BTreeSet};

use document::Filled;
use openapi::answer::shape::Shape;
use schema::Validator;
use serde::Deserialize;
use serde_json::Value;
use wire::pointer::member;

use super::{ComposeRule, Step, no_arguments};
use crate::error::SetupError;
use crate::shown;

/// What the paths of templates begin with.
const SCOPE: &str = "vars";

/// An entry of `compose`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    tool: String,
    title: Option<String>,
    description: String,
    arguments: Option<Value>,
    steps: Vec<StepEntry>,
    result: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepEntry {
    call: String,
    #[serde(default)]
    arguments: Value,
    #[serde(default)]
    capture: BTreeMap<String, String>,
    #[serde(default)]
    optional: bool,
}

/// What is wrong, and its place below the entry.
type Wrong = (String, SetupError);

impl Entry {
    /// What the entry means; an error comes with its place below the entry.
    pub(crate) fn rule(self) -> Result<ComposeRule, Wrong> {
        let input = self.arguments.unwrap_or_else(no_arguments);
        Validator::new(&input).map_err(|error| {
            let what = format!("the schema of the arguments is unusable: {error}");
            ("/arguments".to_owned(), SetupError::new(what, "a JSON Schema with `type: object`"))
        })?;
        let properties = input.get("properties").and_then(Value::as_object);
        let mut known: BTreeSet<String> = properties.into_iter().flatten().map(|(name, _)| name.clone()).collect();
        let mut steps = Vec::new();
        for (index, entry) in self.steps.into_iter().enumerate() {
            let at = format!("/steps/{index}");
            let step = entry.step(&known).map_err(|(below, error)| (format!("{at}{below}"), error))?;
            for (name, _) in &step.capture {
                if !known.insert(name.clone()) {
                    let what = format!("{} is an argument or captured before", shown(name));
                    let at = member(&format!("{at}/capture"), name);
                    return Err((at, SetupError::new(what, "another name")));
                }
            }
            steps.push(step);
        }
        let result = filled(&self.result, "/result", &known)?;
        Ok(ComposeRule { tool: self.tool, title: self.title, description: self.description, input, steps, result })
    }
}

impl StepEntry {
    fn step(self, known: &BTreeSet<String>) -> Result<Step, Wrong> {
        let arguments = filled(&self.arguments, "/arguments", known)?;
        let mut capture = Vec::new();
        for (name, path) in self.capture {
            let paths = Shape::paths(std::slice::from_ref(&path)).map_err(|(path, why)| {
                let what = format!("{} is not a JSONPath: {}", shown(&path), wire::escape::line(&why));
                (member("/capture", &name), SetupError::new(what, "a path such as $.data[0].id"))
            })?;
            capture.extend(paths.into_iter().map(|path| (name.clone(), path)));
        }
        Ok(Step { call: self.call, arguments, capture, optional: self.optional })
    }
}

/// A template, all of whose names are known.
fn filled(value: &Value, at: &str, known: &BTreeSet<String>) -> Result<Filled, Wrong> {
    let mut wrongs = Vec::new();
    let filled = Filled::parse(value, SCOPE, &mut |below, wrong| wrongs.push((below.to_owned(), wrong)));
    if let Some((below, wrong)) = wrongs.into_iter().next() {
        return Err((format!("{at}{below}"), SetupError::new(wrong.what, wrong.remedy)));
    }
    let unknown = filled.patterns().into_iter().flat_map(document::Pattern::names).find(|name| !known.contains(*name));
    match unknown {
        Some(name) => {
            let what = format!("`vars.{}` is neither an argument nor captured before", wire::escape::line(name));
            let near = document::nearest(name, known.iter().map(String::as_str));
            Err((at.to_owned(), SetupError::new(what, near)))
        }
        None => Ok(filled),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use crate::Config;

    fn read(steps: &str, result: &str) -> Result<Config, String> {
        let text = format!(
            "compose:\n  - tool: t\n    description: Does two things\n    arguments: {{ type: object, properties: {{ id: {{ type: string }} }} }}\n    steps: {steps}\n    result: {result}\n"
        );
        Config::read(&text, PathBuf::new()).map_err(|errors| {
            let at = errors[0].at.map_or(0, |at| at.line);
            format!("{at}: {}", errors[0].what)
        })
    }

    #[test]
    fn what_is_wrong_with_an_entry_is_named_with_its_place() {
        let good = "[{ call: a, arguments: { x: '{{ vars.id }}' }, capture: { y: $.y } }]";
        let config = read(good, "{ y: '{{ vars.y }}' }").expect("valid");
        assert_eq!(config.compose[0].calls().collect::<Vec<_>>(), ["a"]);
        for (steps, result, part) in [
            ("[{ call: a, capture: { y: 'y[' } }]", "{ z: 1 }", "5: `y[` is not a JSONPath"),
            (
                "[{ call: a, arguments: { x: '{{ vars.y }}' }, capture: { y: $.y } }]",
                "{ z: 1 }",
                "5: `vars.y` is neither",
            ),
            ("[{ call: a, capture: { id: $.y } }]", "{ z: 1 }", "5: `id` is an argument or captured"),
            ("[{ call: a }]", "{ z: '{{ vars.gone }}' }", "6: `vars.gone` is neither"),
            ("[{ call: a }]", "{ z: '{{ vars.id' }", "6: "),
            ("[]", "{ z: 1 }", "5: `steps`"),
            ("[{ call: a, catch: 1 }]", "{ z: 1 }", "5: the key `catch` is unknown"),
        ] {
            let error = read(steps, result).expect_err(steps);
            assert!(error.starts_with(part), "{steps} {result}: {error}");
        }
    }
}

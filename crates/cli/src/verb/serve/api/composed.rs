//! Tools that are made of several calls, and pages that show results, added to the catalogue of an API.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use factory::{ComposeRule, Composed, Factory, Part, SetupError, UI_MEDIA, UiRule};
use openapi::Tool;
use reference::catalogue::{self, Catalogue, Hints, Outcome, Resource, TaskSupport};
use report::render::text::{count, wrap};
use serde_json::{Map, Value, json};
use wire::escape;

use super::{Callable, caller, consenting, outcome};

/// The composed tools.
pub(super) fn tools(
    factory: &Factory,
    rules: &[ComposeRule],
    callable: &Callable<'_>,
) -> Result<Vec<catalogue::Tool>, SetupError> {
    let part = |(tool, operation): &(&Tool, factory::CallableOperation)| {
        let input = super::input(tool, operation);
        (tool.name.clone(), Part { operation: operation.clone(), input })
    };
    let parts: BTreeMap<String, Part> = callable.iter().map(part).collect();
    let mut made: Vec<catalogue::Tool> = Vec::new();
    for rule in rules {
        if parts.contains_key(&rule.tool) || made.iter().any(|tool| tool.name == rule.tool) {
            let what = format!("`compose`: there is another tool `{}`", escape::line(&rule.tool));
            return Err(SetupError::new(what, "another name"));
        }
        let manner = (hints(rule, callable), factory.is_slow(&rule.tool));
        made.push(served(rule, Composed::new(factory, rule, &parts)?, manner));
    }
    Ok(made)
}

fn served(rule: &ComposeRule, composed: Composed, (hints, is_slow): (Hints, bool)) -> catalogue::Tool {
    let composed = Arc::new(composed);
    let run = move |server, mut invocation: catalogue::Invocation| {
        let composed = Arc::clone(&composed);
        async move {
            if let Some(outcome) = consenting::missing(&server, &invocation, composed.operations()).await {
                return outcome;
            }
            let arguments = match invocation.arguments.take() {
                Value::Object(arguments) => arguments,
                _ => Map::new(),
            };
            let answered = composed.call(&caller(&invocation.call.context), arguments).await;
            Outcome::Done(outcome::output(answered, invocation.call.context.revision))
        }
    };
    let made = catalogue::Tool::later(rule.tool.clone(), rule.description.clone(), run);
    let made = made.input(rule.input.clone()).hints(hints);
    let made = if is_slow { made.tasks(TaskSupport::Optional) } else { made };
    match &rule.title {
        Some(title) => made.titled(title.clone()),
        None => made,
    }
}

/// A composed tool promises what all its steps promise.
fn hints(rule: &ComposeRule, callable: &Callable<'_>) -> Hints {
    let steps = || rule.calls().filter_map(|name| callable.iter().find(|(tool, _)| tool.name == name));
    Hints {
        read_only: steps().all(|(tool, _)| tool.annotations.read_only),
        destructive: steps().any(|(tool, _)| tool.annotations.destructive),
        idempotent: steps().all(|(tool, _)| tool.annotations.idempotent),
        open_world: true,
    }
}

/// Adds the pages as resources, and their addresses to the tools whose results they show.
pub(super) fn pages(catalogue: &mut Catalogue, rules: &[UiRule]) -> Result<(), SetupError> {
    for rule in rules {
        if catalogue.resources.iter().any(|known| known.uri == rule.uri) {
            return Err(SetupError::new(format!("`ui`: {} is there twice", rule.uri), "another address"));
        }
        for name in &rule.tools {
            let known = catalogue.tools.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>();
            let found = catalogue.tools.iter_mut().find(|tool| tool.name == *name);
            let missing = || {
                let what = format!("`ui`: {} names `{}`, which is not a tool", rule.uri, escape::line(name));
                SetupError::new(what, document::nearest(name, known.iter().map(String::as_str)))
            };
            let tool = found.ok_or_else(missing)?;
            if tool.meta.is_some() {
                let what = format!("`ui`: the tool `{name}` has two pages");
                return Err(SetupError::new(what, "name it under one of them"));
            }
            tool.meta = Some(json!({ "ui": { "resourceUri": rule.uri } }));
        }
        let page = Resource::text(rule.uri.clone(), rule.name.clone(), UI_MEDIA, rule.html()?);
        let about = rule.description.clone().unwrap_or_else(|| format!("Shows {}", rule.tools.join(", ")));
        catalogue.resources.push(page.told(rule.name.clone(), about));
    }
    Ok(())
}

/// Lists composed tools and pages; an error is what keeps them from being served.
pub(super) fn check(
    out: &mut String,
    factory: &Factory,
    (compose, ui): (&[ComposeRule], &[UiRule]),
    callable: Callable<'_>,
) -> Result<(), SetupError> {
    let mut catalogue = Catalogue::new("check", "1");
    let added = tools(factory, compose, &callable)?;
    catalogue.tools = callable.into_iter().map(|(tool, operation)| super::served(tool, operation)).collect();
    catalogue.tools.extend(added);
    pages(&mut catalogue, ui)?;
    if !compose.is_empty() {
        let _ = writeln!(out, "\n{} of several calls", count(compose.len(), "tool"));
        for rule in compose {
            wrap(out, 2, &format!("{}: {}", rule.tool, rule.calls().collect::<Vec<_>>().join(", ")));
        }
    }
    for rule in ui {
        wrap(out, 0, &format!("The page {} shows {}", rule.uri, rule.tools.join(", ")));
    }
    Ok(())
}

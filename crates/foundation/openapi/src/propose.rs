//! A proposal of few tools for a large API, each with its reason, as an OpenAPI Overlay.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::lint::MANY_TOOLS;
use crate::model::{Api, Method, Operation};

/// Words of paths and tags that stand for what a model should not do for a user.
const ADMIN: [&str; 16] = [
    "admin",
    "internal",
    "debug",
    "health",
    "healthz",
    "ping",
    "metrics",
    "webhook",
    "webhooks",
    "migrations",
    "oauth",
    "token",
    "tokens",
    "stream",
    "watch",
    "test",
];

/// A proposed operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// Its index in [`Api::operations`].
    pub operation: usize,
    /// Why it is proposed.
    pub why: String,
}

/// At most `most` operations, in the order of the description: by tag, what reads first, whole resources before parts.
pub fn propose(api: &Api, most: usize) -> Vec<Proposed> {
    let resources = resources(api);
    let mut ranked: Vec<(i64, usize)> = Vec::new();
    for (index, operation) in api.operations.iter().enumerate() {
        if let Some(score) = score(operation, &resources) {
            ranked.push((score, index));
        }
    }
    // Path and method decide between equals: the order of the description must not.
    let key = |index: usize| (&api.operations[index].path, api.operations[index].method);
    ranked.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| key(one.1).cmp(&key(other.1))));
    let mut chosen = spread(api, ranked, most.min(MANY_TOOLS));
    chosen.sort_unstable();
    let proposed = chosen.into_iter();
    proposed.map(|index| Proposed { operation: index, why: why(&api.operations[index], &resources) }).collect()
}

/// The proposal as an Overlay 1.0: nothing is a tool but what it lists.
pub fn overlay(api: &Api, proposed: &[Proposed]) -> Value {
    let mut actions = vec![json!({
        "target": "$",
        "description": "No operation is a tool but those below.",
        "update": {"x-mcp": false},
    })];
    for one in proposed {
        let operation = &api.operations[one.operation];
        actions.push(json!({
            "target": target(&operation.at),
            "description": one.why,
            "update": {"x-mcp": true},
        }));
    }
    json!({
        "overlay": "1.0.0",
        "info": {"title": format!("Tools of {}", api.title), "version": "1"},
        "actions": actions,
    })
}

/// The JSONPath of what a JSON pointer names.
fn target(pointer: &str) -> String {
    let mut path = "$".to_owned();
    for name in pointer.split('/').skip(1) {
        let name = wire::pointer::unescape(name).replace('\\', "\\\\").replace('\'', "\\'");
        path.extend(["['", name.as_str(), "']"]);
    }
    path
}

/// The methods of each resource: of `/pets` and `/pets/{id}` together.
fn resources(api: &Api) -> BTreeMap<&str, Vec<Method>> {
    let mut resources: BTreeMap<&str, Vec<Method>> = BTreeMap::new();
    for operation in &api.operations {
        let methods = resources.entry(resource(&operation.path)).or_default();
        if !methods.contains(&operation.method) {
            methods.push(operation.method);
        }
    }
    resources
}

fn resource(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    match path.rsplit_once('/') {
        Some((collection, last)) if last.starts_with('{') => collection,
        _ => path,
    }
}

/// How useful an operation is likely to be; none for what is not proposed.
fn score(operation: &Operation, resources: &BTreeMap<&str, Vec<Method>>) -> Option<i64> {
    if operation.deprecated || is_admin(operation) || is_stream(operation) {
        return None;
    }
    let by_method = match operation.method {
        Method::Get => 60,
        Method::Post => 40,
        Method::Patch => 32,
        Method::Put => 28,
        Method::Delete => 16,
        Method::Head | Method::Options | Method::Trace => return None,
    };
    let methods = resources.get(resource(&operation.path)).map_or(0, Vec::len);
    let depth = operation.path.split('/').filter(|part| !part.is_empty()).count();
    let required = operation.parameters.iter().filter(|one| one.required).count();
    let text = i64::from(operation.summary.is_some() || operation.description.is_some());
    let count = |count: usize| i64::try_from(count).unwrap_or(1_000).min(1_000);
    Some(by_method + 5 * count(methods.min(5)) + 6 * text - 6 * count(depth) - 3 * count(required))
}

fn is_admin(operation: &Operation) -> bool {
    let words = operation.path.split(['/', '-', '_', '.', ':']).chain(operation.tags.iter().map(String::as_str));
    words.into_iter().any(|word| ADMIN.iter().any(|admin| word.eq_ignore_ascii_case(admin)))
}

fn is_stream(operation: &Operation) -> bool {
    let media = operation.answer.as_ref().and_then(|answer| answer.media.as_deref()).unwrap_or_default();
    media.starts_with("text/event-stream") || media.starts_with("multipart/") || media.contains("ndjson")
}

/// Takes the best again and again; each further one of a tag counts less, so that no tag takes all places.
fn spread(api: &Api, ranked: Vec<(i64, usize)>, most: usize) -> Vec<usize> {
    /// What each operation of the same tag, and of the same resource, takes off.
    const TAG: i64 = 4;
    let mut queues: BTreeMap<&str, std::collections::VecDeque<(i64, usize)>> = BTreeMap::new();
    for (score, index) in ranked {
        let operation = &api.operations[index];
        let group = operation.tags.first().map_or_else(|| first_word(&operation.path), String::as_str);
        queues.entry(group).or_default().push_back((score, index));
    }
    let mut taken: BTreeMap<&str, i64> = BTreeMap::new();
    let mut chosen = Vec::new();
    while chosen.len() < most {
        let best = queues.iter().filter_map(|(group, queue)| {
            let (score, index) = queue.front()?;
            Some((score - TAG * taken.get(group).copied().unwrap_or(0), std::cmp::Reverse(*group), *index))
        });
        let Some((_, std::cmp::Reverse(group), index)) = best.max() else { break };
        queues.get_mut(group).and_then(std::collections::VecDeque::pop_front);
        *taken.entry(group).or_default() += 1;
        chosen.push(index);
    }
    chosen
}

fn first_word(path: &str) -> &str {
    path.split('/').find(|part| !part.is_empty() && !part.starts_with('{')).unwrap_or_default()
}

fn why(operation: &Operation, resources: &BTreeMap<&str, Vec<Method>>) -> String {
    let resource = resource(&operation.path);
    let of_item = operation.path.trim_end_matches('/').ends_with('}');
    let what = match operation.method {
        Method::Get if of_item => "reads one of",
        Method::Get => "reads",
        Method::Post => "adds to or acts on",
        Method::Put | Method::Patch => "changes",
        Method::Delete => "deletes from",
        Method::Head | Method::Options | Method::Trace => "asks about",
    };
    let others = resources.get(resource).map_or(0, |methods| methods.len() - 1);
    let together = match others {
        0 => String::new(),
        1 => ", which 1 other method serves".to_owned(),
        others => format!(", which {others} other methods serve"),
    };
    let group = operation.tags.first().map(|tag| format!(" (tag {tag})")).unwrap_or_default();
    format!("{}: {what} {resource}{together}{group}", operation.method.as_str())
}

#[cfg(test)]
#[path = "propose_tests.rs"]
mod tests;

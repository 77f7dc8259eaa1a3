//! The tools that a report names: those that were not called, those that were for their names alone, and those that do not exist.

use std::collections::BTreeSet;

use report::UnknownTool;
use serde_json::Value;
use wire::redact::Redactor;

use super::CallPolicy;
use super::run::Ran;

/// How similar a name must be to be suggested, from 0 to 1.
const SIMILAR: f64 = 0.8;

/// The tools that no run may call, where only safe ones may be called: who chose none knows.
pub(super) fn not_called(ran: &[Ran], redactor: &Redactor) -> Vec<String> {
    let (mut called, mut left) = (BTreeSet::new(), BTreeSet::new());
    let by_choice = |run: &&Ran| matches!(run.setting.calls, CallPolicy::Safe(_) | CallPolicy::Declared(_));
    for run in ran.iter().filter(by_choice) {
        for (name, tool) in named_tools(run) {
            let may_be_called = run.setting.calls.allow(tool) || run.setting.hints.names_tool(name);
            if may_be_called {
                called.insert(name)
            } else {
                left.insert(name)
            };
        }
    }
    // At 2024-11-05 no tool can say that it only reads.
    left.difference(&called).map(|name| redactor.redact_text(name).into_owned()).collect()
}

/// The tools that were called because their names say that they only read.
pub(super) fn called_by_name(ran: &[Ran], redactor: &Redactor) -> Vec<String> {
    let of = |run: &'_ Ran| {
        let setting = run.setting.clone();
        let for_its_name = move |(name, tool): &(&str, &Value)| {
            setting.calls.allow_for_its_name(tool) && !setting.hints.names_tool(name)
        };
        named_tools(run).filter(for_its_name).map(|(name, _)| name.to_owned()).collect::<Vec<_>>()
    };
    let names: BTreeSet<_> = ran.iter().flat_map(of).collect();
    names.iter().map(|name| redactor.redact_text(name).into_owned()).collect()
}

/// The tools that a run knows of, with their names.
fn named_tools(run: &Ran) -> impl Iterator<Item = (&str, &Value)> {
    let tools = run.survey.iter().flat_map(|survey| &survey.tools);
    tools.filter_map(|tool| Some((tool.get("name").and_then(Value::as_str)?, tool)))
}

/// The tools that the options or the hints name and that no run lists. A list that is empty may not have been read.
pub(super) fn unknown(ran: &[Ran], redactor: &Redactor) -> Vec<UnknownTool> {
    let surveys: Vec<_> = ran.iter().filter_map(|run| run.survey.as_ref()).collect();
    if surveys.is_empty() || surveys.iter().any(|survey| survey.tools.is_empty() && survey.has("tools")) {
        return Vec::new();
    }
    let known: BTreeSet<&str> = ran.iter().flat_map(named_tools).map(|(name, _)| name).collect();
    let named: BTreeSet<&str> =
        ran.iter().flat_map(|run| run.setting.calls.named().chain(run.setting.hints.tools())).collect();
    let redacted = |name: &str| redactor.redact_text(name).into_owned();
    let unknown = named.difference(&known);
    unknown.map(|name| UnknownTool { name: redacted(name), nearest: nearest(name, &known).map(redacted) }).collect()
}

fn nearest<'n>(name: &str, known: &BTreeSet<&'n str>) -> Option<&'n str> {
    let similar = known.iter().map(|other| (strsim::jaro_winkler(name, other), *other));
    let (similarity, nearest) = similar.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (similarity > SIMILAR || strsim::osa_distance(name, nearest) == 1).then_some(nearest)
}

//! Cases against the tools: keys that no answer can meet, values that break schemas, expectations that accept the same call.

use serde_json::{Map, Value, json};
use wire::pointer;

use super::{Check, Finding, Severity};
use crate::case::{Case, ExpectedCall, Order};
use crate::catalogue::Tool;
use crate::{CaseFile, Catalogue, Matcher};

/// How many values of one key are tried.
const MOST_VALUES: usize = 64;
/// How many mismatches of one value are looked at.
const MOST_MISMATCHES: usize = 50;

/// Looks at each case.
pub(super) fn check(file: &CaseFile, catalogue: &Catalogue, findings: &mut Vec<Finding>) {
    for case in &file.cases {
        let mut reader = Reader { case, findings };
        for call in &case.expect {
            match catalogue.tool(&call.tool) {
                Some(tool) => reader.call(call, tool),
                None => reader.unknown(call),
            }
        }
        for name in case.forbid.iter().filter(|name| catalogue.tool(name).is_none()) {
            let message = format!("forbids `{}`, which is not offered", crate::shown_name(name));
            reader.find(Check::Doubtful, Severity::Warning, "", message, "the name of a tool");
        }
        reader.twice();
    }
}

struct Reader<'r> {
    case: &'r Case,
    findings: &'r mut Vec<Finding>,
}

impl Reader<'_> {
    fn find(&mut self, check: Check, severity: Severity, pointer: &str, message: String, remedy: &'static str) {
        let (subject, line) = (self.case.name.clone(), Some(self.case.at.line));
        self.findings.push(Finding { check, severity, subject, line, pointer: pointer.to_owned(), message, remedy });
    }

    /// What keeps a call from being met: of no weight where the call may be left out.
    fn unmet(&mut self, call: &ExpectedCall, pointer: &str, message: String, remedy: &'static str) {
        if call.is_optional || self.case.order == Order::Subset {
            self.find(Check::Doubtful, Severity::Warning, pointer, message, remedy);
        } else {
            self.find(Check::Unsatisfiable, Severity::Error, pointer, message, remedy);
        }
    }

    fn unknown(&mut self, call: &ExpectedCall) {
        let message = format!("expects `{}`, which is not offered", crate::shown_name(&call.tool));
        self.unmet(call, "", message, "the name of a tool that is offered");
    }

    fn call(&mut self, call: &ExpectedCall, tool: &Tool) {
        let required: Vec<&str> = tool
            .schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        for (name, matcher) in &call.arguments {
            self.argument(call, tool, name, matcher, required.contains(&name.as_str()));
        }
        for name in required {
            let is_listed = call.arguments.iter().any(|(known, _)| known == name);
            let has_default = tool.argument(name).is_some_and(|one| one.get("default").is_some());
            if !is_listed && !call.ignores_others && !has_default {
                let message = format!(
                    "`{}` requires this argument, and the case does not list it",
                    crate::shown_name(&tool.name)
                );
                self.unmet(call, &pointer::member("", name), message, "list it, or `others: ignore`");
            }
        }
    }

    fn argument(&mut self, call: &ExpectedCall, tool: &Tool, name: &str, matcher: &Matcher, is_required: bool) {
        let at = pointer::member("", name);
        let shown = crate::shown_name(&tool.name);
        if !tool.knows(name) {
            let message = format!("`{shown}` has no such argument");
            let remedy = "the name that the tool's schema has";
            match matcher {
                Matcher::Absent | Matcher::Ignore => {}
                Matcher::Optional(_) => self.find(Check::Doubtful, Severity::Warning, &at, message, remedy),
                _ => self.unmet(call, &at, message, remedy),
            }
            return;
        }
        if matches!(matcher, Matcher::Absent) && is_required {
            let message = format!("`{shown}` requires this argument, and the case forbids it");
            self.unmet(call, &at, message, "leave `absent` out");
        }
        let Some(values) = values(matcher) else { return };
        let broken: Vec<(&Value, String)> =
            values.iter().filter_map(|value| Some((value, breaks(tool, name, value)?))).collect();
        let Some((value, why)) = broken.first() else { return };
        let value = wire::escape::snippet(&value.to_string(), 60);
        let message = format!("the schema of `{shown}` does not allow {value}: {}", wire::escape::snippet(why, 120));
        let may_be_left_out = matcher.allows_absence() && !is_required;
        if broken.len() == values.len() && !may_be_left_out {
            self.unmet(call, &at, message, "a value that the schema allows");
        } else {
            self.find(Check::Doubtful, Severity::Warning, &at, message, "values that the schema allows");
        }
    }

    /// Expected calls of which each accepts what the other expects.
    fn twice(&mut self) {
        if matches!(self.case.order, Order::Strict | Order::InOrder) {
            return;
        }
        let calls: Vec<(&ExpectedCall, Option<Map<String, Value>>)> =
            self.case.expect.iter().map(|call| (call, example(call))).collect();
        for (later, (call, arguments)) in calls.iter().enumerate() {
            let same = calls[..later].iter().position(|(other, others)| match (arguments, others) {
                (Some(arguments), Some(others)) => {
                    other.tool == call.tool && accepts(other, arguments) && accepts(call, others)
                }
                _ => false,
            });
            if let Some(earlier) = same {
                let (a, b) = (earlier + 1, later + 1);
                let message =
                    format!("the expected calls {a} and {b} accept the same call: an answer must make it twice");
                self.find(Check::Ambiguous, Severity::Warning, "", message, "arguments that tell them apart");
            }
        }
    }
}

/// Why a value breaks the schema of an argument, if it surely does.
fn breaks(tool: &Tool, name: &str, value: &Value) -> Option<String> {
    let at = pointer::member("", name);
    let mismatches = tool.validator()?.mismatches(&json!({ name: value }), MOST_MISMATCHES);
    let below = |one: &&schema::validate::Mismatch| one.pointer == at || one.pointer.starts_with(&format!("{at}/"));
    mismatches.iter().find(below).map(|one| one.message.clone())
}

/// All values that a matcher accepts; `None` where they cannot be listed.
fn values(matcher: &Matcher) -> Option<Vec<Value>> {
    let values = match matcher {
        Matcher::Equals(value) => vec![value.clone()],
        Matcher::Optional(inner) => values(inner)?,
        Matcher::AnyOf(all) => all.iter().map(values).collect::<Option<Vec<_>>>()?.into_iter().flatten().collect(),
        Matcher::Items(all) => vec![all.iter().map(only).collect::<Option<Value>>()?],
        Matcher::Members(all) => {
            let members = all.iter().map(|(name, one)| Some((name.clone(), only(one)?)));
            vec![Value::Object(members.collect::<Option<_>>()?)]
        }
        _ => return None,
    };
    (values.len() <= MOST_VALUES && !values.is_empty()).then_some(values)
}

/// The only value that a matcher accepts.
fn only(matcher: &Matcher) -> Option<Value> {
    match values(matcher)?.as_slice() {
        [one] if !matcher.allows_absence() => Some(one.clone()),
        _ => None,
    }
}

/// Arguments that an expectation accepts.
fn example(call: &ExpectedCall) -> Option<Map<String, Value>> {
    let listed = call.arguments.iter().filter(|(_, matcher)| !matcher.allows_absence());
    listed.map(|(name, matcher)| Some((name.clone(), values(matcher)?.into_iter().next()?))).collect()
}

/// Whether an expectation accepts arguments.
fn accepts(call: &ExpectedCall, arguments: &Map<String, Value>) -> bool {
    let is_listed = |name: &String| call.arguments.iter().any(|(known, _)| known == name);
    call.arguments.iter().all(|(name, matcher)| match arguments.get(name) {
        Some(value) => matcher.judge(value).is_ok(),
        None => matcher.allows_absence(),
    }) && (call.ignores_others || arguments.keys().all(is_listed))
}

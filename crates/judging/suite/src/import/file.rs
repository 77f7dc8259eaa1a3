//! A test file in the making: its content, and what could not be imported. Must not know the formats.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::expected::Expected;

/// A part without a counterpart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NotImported {
    /// Its kind, for counting.
    pub(super) kind: String,
    /// Its text, and why it was not imported.
    pub(super) detail: String,
}

impl NotImported {
    pub(super) fn new(kind: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { kind: kind.into(), detail: detail.into() }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct File {
    /// The content of `server`; empty if none is needed.
    pub(super) server: Map<String, Value>,
    pub(super) timeout: Option<String>,
    pub(super) not_imported: Vec<NotImported>,
    pub(super) remarks: Vec<String>,
    pub(super) setup: Vec<Case>,
    pub(super) cases: Vec<Case>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Case {
    pub(super) name: String,
    /// The members of the case, except its expectations.
    pub(super) members: Map<String, Value>,
    pub(super) expected: Expected,
    /// Why the source file skips it.
    pub(super) skip: Option<String>,
    pub(super) not_imported: Vec<NotImported>,
    /// Comments for the reader.
    pub(super) remarks: Vec<String>,
}

impl Case {
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    pub(super) fn with(mut self, member: &str, value: Value) -> Self {
        self.members.insert(member.to_owned(), value);
        self
    }

    pub(super) fn mark_not_imported(&mut self, kind: &str, detail: impl Into<String>) {
        self.not_imported.push(NotImported::new(kind, detail));
    }

    /// Whether none of its checks was imported, so that it would pass without checking anything.
    pub(super) fn is_empty(&self) -> bool {
        self.skip.is_none() && self.expected.conditions == 0 && !self.not_imported.is_empty()
    }

    pub(super) fn has_snapshot(&self) -> bool {
        self.expected.other_members.contains_key("snapshot")
    }

    /// Why it is skipped.
    pub(super) fn reason(&self) -> Option<String> {
        let kinds = || self.not_imported.iter().map(|left| left.kind.as_str()).collect::<Vec<_>>().join(", ");
        self.skip.clone().or_else(|| self.is_empty().then(|| format!("not imported: {}", kinds())))
    }
}

impl File {
    /// Whether another file has the same server, so that both can be joined.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        self.server == other.server && self.timeout == other.timeout
    }

    /// Adds the cases of another file of the same server. Each setup becomes plain cases before its own cases.
    pub(super) fn append(&mut self, other: Self) {
        let own = std::mem::take(&mut self.setup);
        self.cases.splice(0..0, own);
        self.cases.extend(other.setup);
        self.cases.extend(other.cases);
        let new = |part: &NotImported| !self.not_imported.contains(part);
        let not_imported: Vec<NotImported> = other.not_imported.into_iter().filter(new).collect();
        self.not_imported.extend(not_imported);
        let new = |remark: &String| !self.remarks.contains(remark);
        let remarks: Vec<String> = other.remarks.into_iter().filter(new).collect();
        self.remarks.extend(remarks);
    }

    /// Makes the names of cases and variables unique.
    pub(super) fn make_names_unique(&mut self) {
        let mut names = HashSet::new();
        let mut variables = HashSet::new();
        for case in self.setup.iter_mut().chain(&mut self.cases) {
            if case.name.is_empty() {
                "unnamed".clone_into(&mut case.name);
            }
            case.name = unique(&case.name, &mut names, |name, number| format!("{name} ({number})"));
        }
        // A variable is visible after its capture, until another case captures it again.
        let mut renamed: Vec<(String, String)> = Vec::new();
        for case in self.setup.iter_mut().chain(&mut self.cases) {
            for value in case.members.iter_mut().filter(|(name, _)| *name != "capture").map(|(_, value)| value) {
                rename(value, &renamed);
            }
            if let Some(Value::Object(capture)) = case.members.get_mut("capture") {
                *capture = std::mem::take(capture)
                    .into_iter()
                    .map(|(name, path)| {
                        let own = unique(&name, &mut variables, |name, number| format!("{name}_{number}"));
                        renamed.retain(|(old, _)| *old != name);
                        renamed.push((name, own.clone()));
                        (own, path)
                    })
                    .collect();
            }
        }
    }
}

/// The name, or the first numbered variant that is free.
fn unique(name: &str, taken: &mut HashSet<String>, numbered: impl Fn(&str, usize) -> String) -> String {
    let mut own = name.to_owned();
    let mut number = 2;
    while !taken.insert(own.clone()) {
        own = numbered(name, number);
        number += 1;
    }
    own
}

/// The template syntax for a variable.
pub(super) fn variable_reference(name: &str) -> String {
    format!("{{{{ vars.{name} }}}}")
}

fn rename(value: &mut Value, renamed: &[(String, String)]) {
    match value {
        Value::String(text) => {
            for (old, new) in renamed.iter().filter(|(old, new)| old != new) {
                *text = text.replace(&variable_reference(old), &variable_reference(new));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, renamed)),
        Value::Object(members) => members.values_mut().for_each(|member| rename(member, renamed)),
        _ => {}
    }
}

/// A time in the syntax of test files; `None` unless it is between 1 ms and one hour.
pub(super) fn time(milliseconds: f64) -> Option<String> {
    let whole = milliseconds.ceil();
    if !(1.0..=3_600_000.0).contains(&whole) {
        return None;
    }
    let text =
        if whole % 1000.0 == 0.0 { format!("{}s", whole / 1000.0) } else { format!("{}s", json!(whole / 1000.0)) };
    Some(text)
}

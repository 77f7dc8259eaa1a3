//! A test file to be: what stands in it, and what could not be brought along. Knows neither format.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::expected::Expected;

/// What has no counterpart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Left {
    /// What it is called, for counting.
    pub(super) kind: String,
    /// What it said, and why it was left.
    pub(super) detail: String,
}

impl Left {
    pub(super) fn new(kind: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { kind: kind.into(), detail: detail.into() }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct File {
    /// What stands under `server`; empty where none is needed.
    pub(super) server: Map<String, Value>,
    pub(super) timeout: Option<String>,
    pub(super) left: Vec<Left>,
    pub(super) remarks: Vec<String>,
    pub(super) setup: Vec<Case>,
    pub(super) cases: Vec<Case>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Case {
    pub(super) name: String,
    /// The request and what goes with it, as they are written.
    pub(super) members: Map<String, Value>,
    pub(super) expected: Expected,
    /// Why it is not tried: others said so.
    pub(super) skip: Option<String>,
    pub(super) left: Vec<Left>,
    /// What else a reader should know.
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

    pub(super) fn leave(&mut self, kind: &str, detail: impl Into<String>) {
        self.left.push(Left::new(kind, detail));
    }

    /// Whether nothing that it checked is left: it would pass for another reason than it was written for.
    pub(super) fn is_empty(&self) -> bool {
        self.skip.is_none() && self.expected.conditions == 0 && !self.left.is_empty()
    }

    pub(super) fn has_snapshot(&self) -> bool {
        self.expected.beside.contains_key("snapshot")
    }

    /// Why it is not tried.
    pub(super) fn reason(&self) -> Option<String> {
        let kinds = || self.left.iter().map(|left| left.kind.as_str()).collect::<Vec<_>>().join(", ");
        self.skip.clone().or_else(|| self.is_empty().then(|| format!("not imported: {}", kinds())))
    }
}

impl File {
    /// Whether another file is of the same server and can be joined.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        self.server == other.server && self.timeout == other.timeout
    }

    /// Adds the cases of another file of the same server. Its setup is for its own cases alone.
    pub(super) fn append(&mut self, other: Self) {
        let own = std::mem::take(&mut self.setup);
        self.cases.splice(0..0, own);
        self.cases.extend(other.setup);
        self.cases.extend(other.cases);
        let new = |left: &Left| !self.left.contains(left);
        let left: Vec<Left> = other.left.into_iter().filter(new).collect();
        self.left.extend(left);
        let new = |remark: &String| !self.remarks.contains(remark);
        let remarks: Vec<String> = other.remarks.into_iter().filter(new).collect();
        self.remarks.extend(remarks);
    }

    /// Gives every case a name, and every variable one, of its own.
    pub(super) fn settle(&mut self) {
        let mut names = HashSet::new();
        let mut variables = HashSet::new();
        for case in self.setup.iter_mut().chain(&mut self.cases) {
            if case.name.is_empty() {
                "unnamed".clone_into(&mut case.name);
            }
            case.name = unique(&case.name, &mut names, |name, number| format!("{name} ({number})"));
        }
        // A variable is used by cases after the one that captures it, up to where another captures it anew.
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

/// The name, or the first numbered one that nobody has.
fn unique(name: &str, taken: &mut HashSet<String>, numbered: impl Fn(&str, usize) -> String) -> String {
    let mut own = name.to_owned();
    let mut number = 2;
    while !taken.insert(own.clone()) {
        own = numbered(name, number);
        number += 1;
    }
    own
}

/// How a text names a variable.
pub(super) fn hole(name: &str) -> String {
    format!("{{{{ vars.{name} }}}}")
}

fn rename(value: &mut Value, renamed: &[(String, String)]) {
    match value {
        Value::String(text) => {
            for (old, new) in renamed.iter().filter(|(old, new)| old != new) {
                *text = text.replace(&hole(old), &hole(new));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, renamed)),
        Value::Object(members) => members.values_mut().for_each(|member| rename(member, renamed)),
        _ => {}
    }
}

/// A time as test files write it, where it is one that they may: above nothing, at most an hour.
pub(super) fn time(milliseconds: f64) -> Option<String> {
    let whole = milliseconds.ceil();
    if !(1.0..=3_600_000.0).contains(&whole) {
        return None;
    }
    let text =
        if whole % 1000.0 == 0.0 { format!("{}s", whole / 1000.0) } else { format!("{}s", json!(whole / 1000.0)) };
    Some(text)
}

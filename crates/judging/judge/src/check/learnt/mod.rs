//! What was learnt of a peer by asking it: the values that its answers hold, and the arguments with which its tools were seen
//! to succeed. Knows nothing of connections.

mod arguments;
mod values;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::Notify;

pub use self::arguments::{corrected, variants};
pub use self::values::Values;

/// How a call of a tool went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Success {
    /// It gave a result.
    Result,
    /// It asked for input.
    Asked,
}

/// A call that took long when it was made and left alone.
#[derive(Clone, Debug)]
pub struct LastingCall {
    /// The tool.
    pub tool: String,
    /// With what it was called.
    pub arguments: Map<String, Value>,
    /// How long it took.
    pub span: Duration,
    /// Whether it reported progress.
    pub reports: bool,
}

/// What was learnt in one run, shared by all its cases.
#[derive(Clone, Debug, Default)]
pub struct Learnt(Arc<State>);

#[derive(Debug, Default)]
struct State {
    facts: Mutex<Facts>,
    settled: Notify,
}

#[derive(Debug, Default)]
struct Facts {
    values: Values,
    /// Whether no more is to be learnt.
    is_settled: bool,
    calls: BTreeMap<String, (Success, Map<String, Value>)>,
    /// The arguments with which a tool failed, though its schema admits them.
    failures: BTreeMap<String, Map<String, Value>>,
    /// How long the longest answered call of each tool took.
    took: BTreeMap<String, Duration>,
    unanswered: BTreeSet<String>,
    /// The tools that reported progress, and with what they were called.
    reporting: BTreeMap<String, Map<String, Value>>,
    lasting: Option<LastingCall>,
    /// What the templates make, where it could be read: one URI for each.
    made: Vec<String>,
    /// The methods of the lists that differed after tools had been called.
    varying: BTreeSet<&'static str>,
}

impl Learnt {
    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.0.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The values that the peer was seen to use.
    pub fn values(&self) -> Values {
        self.facts().values.clone()
    }

    /// Remembers them.
    pub fn keep(&self, values: Values) {
        self.facts().values = values;
    }

    /// Nothing more is to be learnt.
    pub fn settle(&self) {
        self.facts().is_settled = true;
        self.0.settled.notify_waiters();
    }

    /// Waits until nothing more is to be learnt.
    pub async fn settled(&self) {
        let settled = self.0.settled.notified();
        if !self.facts().is_settled {
            settled.await;
        }
    }

    /// A tool succeeds with these arguments. The first that make it ask are kept, or else the first that give a result.
    pub fn succeeded(&self, tool: &str, how: Success, arguments: &Map<String, Value>) {
        let mut facts = self.facts();
        if facts.calls.get(tool).is_none_or(|(before, _)| *before < how) {
            facts.calls.insert(tool.to_owned(), (how, arguments.clone()));
        }
    }

    /// A tool says that it failed with these arguments, which its schema admits. The last are kept: those that were made
    /// first hold values that nobody was seen to use.
    pub fn failed(&self, tool: &str, arguments: &Map<String, Value>) {
        self.facts().failures.insert(tool.to_owned(), arguments.clone());
    }

    /// Arguments with which a tool fails of itself, if that was seen.
    pub fn failure(&self, tool: &str) -> Option<Map<String, Value>> {
        self.facts().failures.get(tool).cloned()
    }

    /// The arguments with which a tool succeeds, if that was seen.
    pub fn arguments(&self, tool: &str) -> Option<Map<String, Value>> {
        self.facts().calls.get(tool).map(|(_, arguments)| arguments.clone())
    }

    /// A call of a tool was answered after `took`.
    pub fn answered(&self, tool: &str, took: Duration) {
        let mut facts = self.facts();
        let longest = facts.took.entry(tool.to_owned()).or_default();
        *longest = took.max(*longest);
    }

    /// How long the longest call of a tool took that was answered, if one was.
    pub fn took(&self, tool: &str) -> Option<Duration> {
        self.facts().took.get(tool).copied()
    }

    /// A tool reported progress when it was called so.
    pub fn reports(&self, tool: &str, arguments: &Map<String, Value>) {
        self.facts().reporting.entry(tool.to_owned()).or_insert_with(|| arguments.clone());
    }

    /// A call that reports progress, if one was seen to.
    pub fn reporting(&self) -> Option<(String, Map<String, Value>)> {
        self.facts().reporting.first_key_value().map(|(tool, arguments)| (tool.clone(), arguments.clone()))
    }

    /// This call takes long.
    pub fn lasts(&self, call: LastingCall) {
        self.facts().lasting = Some(call);
    }

    /// A call that takes long, if one was seen.
    pub fn lasting(&self) -> Option<LastingCall> {
        self.facts().lasting.clone()
    }

    /// A resource that a template makes was read.
    pub fn made(&self, uri: String) {
        self.facts().made.push(uri);
    }

    /// URIs that templates make and that could be read, one for each template.
    pub fn made_uris(&self) -> Vec<String> {
        self.facts().made.clone()
    }

    /// A list differs after tools were called.
    pub fn varies(&self, method: &'static str) {
        self.facts().varying.insert(method);
    }

    /// Whether this list was seen to differ after calls.
    pub fn list_varies(&self, method: &str) -> bool {
        self.facts().varying.contains(method)
    }

    /// Whether any list was.
    pub fn any_list_varies(&self) -> bool {
        !self.facts().varying.is_empty()
    }

    /// A call of a tool went unanswered.
    pub fn unanswered(&self, tool: &str) {
        self.facts().unanswered.insert(tool.to_owned());
    }

    /// Whether a call of a tool went unanswered: another would only be waited for as long.
    pub fn is_unanswered(&self, tool: &str) -> bool {
        self.facts().unanswered.contains(tool)
    }

    /// Whether any tool was seen to ask for input.
    pub fn anything_asks(&self) -> bool {
        self.facts().calls.values().any(|(how, _)| *how == Success::Asked)
    }

    /// Whether a tool was seen to ask for input.
    pub fn asks(&self, tool: &str) -> bool {
        self.facts().calls.get(tool).is_some_and(|(how, _)| *how == Success::Asked)
    }
}

#[cfg(test)]
mod tests;

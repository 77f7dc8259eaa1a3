//! What a test of another tool demands of the calls, and the case that says so.

use serde_json::{Map, Value};

use super::reader::Place;
use crate::case::Order;

/// A case, before it has its text.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) prompt: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) expected: Expected,
}

impl Case {
    /// How much text it comes to, in bytes.
    pub(super) fn weight(&self) -> usize {
        let call = |call: &Call| call.tool.len() + serde_json::to_string(&call.arguments).map_or(0, |text| text.len());
        let texts = self.tags.iter().chain(&self.expected.forbid).chain(&self.prompt).chain([&self.name]);
        texts.map(String::len).sum::<usize>() + self.expected.calls.iter().map(call).sum::<usize>()
    }
}

/// What a case expects.
#[derive(Debug, PartialEq)]
pub(super) struct Expected {
    /// The calls; none where nothing should be called.
    pub(super) calls: Vec<Call>,
    pub(super) order: Order,
    pub(super) forbid: Vec<String>,
}

/// An expected call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub(super) tool: String,
    /// Its arguments as matchers of case files.
    pub(super) arguments: Map<String, Value>,
    pub(super) ignores_others: bool,
}

impl Call {
    /// A call of a tool with any arguments.
    pub(super) fn any(tool: &str) -> Self {
        Self { tool: tool.to_owned(), arguments: Map::new(), ignores_others: true }
    }

    pub(super) fn is_any(&self) -> bool {
        self.ignores_others && self.arguments.is_empty()
    }

    /// Whether every call that is as `other` demands is as this one demands.
    pub(super) fn follows_from(&self, other: &Self) -> bool {
        let is_part = self.arguments.iter().all(|(name, value)| other.arguments.get(name) == Some(value));
        self.tool == other.tool && is_part && (self.ignores_others || self == other)
    }

    /// Whether no call can be as both demand.
    pub(super) fn excludes(&self, other: &Self) -> bool {
        let differ = |(name, one): (&String, &Value)| {
            let other = other.arguments.get(name).filter(|other| !other.is_object() && !one.is_object());
            other.is_some_and(|other| !wire::json::same(one, other))
        };
        self.tool != other.tool || self.arguments.iter().any(differ)
    }
}

/// One demand, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Demand {
    pub(super) place: Place,
    /// What the other tool calls it.
    pub(super) label: String,
    pub(super) want: Want,
}

/// What is demanded.
#[derive(Clone, Debug)]
pub(super) enum Want {
    /// So many calls of a tool, or more.
    Used(String, usize),
    /// No call of a tool.
    Never(String),
    /// No call at all.
    Nothing,
    /// Some call with these arguments.
    Arguments(Call),
    /// Calls of these tools in this order; others between them unless it is exact.
    Sequence(Vec<String>, bool),
    /// Calls of exactly these tools, however often.
    Only(Vec<String>),
    /// So many calls, or more.
    AtLeast(usize),
    /// So many calls, or fewer.
    AtMost(usize),
}

//! Plans cases: the request, the constraint that it violates, if any, and its description. Sends nothing.

mod others;
mod tools;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

pub use self::tools::arguments;
use super::Options;
use super::survey::Survey;
use crate::requests::Request;

/// A case before it is played.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// A unique name.
    pub name: String,
    /// Its subject, such as `tool echo`.
    pub primitive: String,
    /// The constraint: its place and its keyword.
    pub constraint: String,
    /// How the request treats the constraint, in words.
    pub violation: String,
    /// The kind of case, for `tags`.
    pub sort: &'static str,
    /// Whether the request is valid.
    pub aim: Aim,
    /// Why it is skipped.
    pub skip: Option<String>,
    pub(super) request: Request,
    /// The valid counterpart of an invalid request. If the server accepts it, a refusal is due to the violation.
    pub(super) witness: Option<Request>,
}

/// Whether a request is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// Valid.
    Valid,
    /// Violates what the server declares, or the specification: the server must or should refuse it.
    Invalid,
    /// Violates a description, or is unusual: the server may refuse it.
    Questionable,
}

impl Planned {
    /// Whether the request is invalid or questionable.
    pub fn is_negative(&self) -> bool {
        self.aim != Aim::Valid
    }
}

/// The planned cases.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) cases: Vec<Planned>,
    pub(super) notes: Vec<String>,
    names: BTreeSet<String>,
}

/// Plans all cases for a server.
pub(super) fn plan(survey: &Survey, options: &Options) -> Plan {
    let mut plan = Plan::default();
    plan.lists(survey, options.depth);
    plan.tools(survey, options);
    plan.resources(survey, options.depth);
    plan.prompts(survey, options.depth);
    plan.completions(survey, options.depth);
    plan.protocol(survey, options.depth);
    plan
}

impl Plan {
    /// Adds a case under a unique name, unless its request is already planned.
    fn add(&mut self, mut case: Planned) {
        if self.cases.iter().any(|other| other.request == case.request) {
            return;
        }
        let plain = wire::escape::line(&case.name).into_owned();
        let mut name = plain.clone();
        let mut number = 1;
        while !self.names.insert(name.clone()) {
            number += 1;
            name = format!("{plain} ({number})");
        }
        case.name = name;
        self.cases.push(case);
    }
}

/// A valid case about `constraint` of `primitive`.
fn valid(primitive: &str, sort: &'static str, constraint: &str, what: &str, request: Request) -> Planned {
    Planned {
        name: format!("{}: {what}", short(primitive)),
        primitive: primitive.to_owned(),
        constraint: constraint.to_owned(),
        violation: what.to_owned(),
        sort,
        aim: Aim::Valid,
        skip: None,
        request,
        witness: None,
    }
}

/// A case that violates `constraint` of `primitive`.
fn invalid(primitive: &str, constraint: &str, what: &str, request: Request) -> Planned {
    Planned { aim: Aim::Invalid, ..valid(primitive, "negative", constraint, what, request) }
}

/// `echo` of `tool echo`.
fn short(primitive: &str) -> &str {
    primitive.strip_prefix("tool ").unwrap_or(primitive)
}

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn raw(method: &str, params: Value) -> Request {
    Request::Raw { method: method.to_owned(), params: map(params) }
}

//! Thinks of cases: what is asked, what that breaks, if anything, and what a person reads of it. Asks nobody.

mod others;
mod tools;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

pub use self::tools::arguments;
use super::Options;
use super::survey::Surveyed;
use crate::asking::Ask;

/// A case that nobody has played yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// What the case shows; unique.
    pub name: String,
    /// What it is about, such as `tool echo`.
    pub primitive: String,
    /// Which constraint: where, and the keyword.
    pub constraint: String,
    /// What is done with it, in words.
    pub violation: String,
    /// What sort of case it is, for `tags`.
    pub sort: &'static str,
    /// What is wrong with it.
    pub aim: Aim,
    /// Why it is not played.
    pub skip: Option<String>,
    pub(super) ask: Ask,
    /// Of a case that breaks something: the like of it that breaks nothing. Where that is accepted, a refusal is for the
    /// breach.
    pub(super) witness: Option<Ask>,
}

/// What is wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// Nothing.
    Fits,
    /// It breaks what the server itself declares, or the specification: it must, or at least should, be refused.
    Breaks,
    /// It breaks a remark, or something that a server should mind: it may be refused.
    Strains,
}

impl Planned {
    /// Whether it breaks something.
    pub fn is_negative(&self) -> bool {
        self.aim != Aim::Fits
    }
}

/// What was thought of.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) cases: Vec<Planned>,
    pub(super) notes: Vec<String>,
    names: BTreeSet<String>,
}

/// Every case for a server.
pub(super) fn plan(surveyed: &Surveyed, options: &Options) -> Plan {
    let mut plan = Plan::default();
    plan.lists(surveyed, options.depth);
    plan.tools(surveyed, options);
    plan.resources(surveyed, options.depth);
    plan.prompts(surveyed, options.depth);
    plan.completions(surveyed, options.depth);
    plan.protocol(surveyed, options.depth);
    plan
}

impl Plan {
    /// Notes a case under a name that no other has, unless the very same is asked already.
    fn add(&mut self, mut case: Planned) {
        if self.cases.iter().any(|other| other.ask == case.ask) {
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

/// A case that fits, about `constraint` of `primitive`.
fn fits(primitive: &str, sort: &'static str, constraint: &str, what: &str, ask: Ask) -> Planned {
    Planned {
        name: format!("{}: {what}", short(primitive)),
        primitive: primitive.to_owned(),
        constraint: constraint.to_owned(),
        violation: what.to_owned(),
        sort,
        aim: Aim::Fits,
        skip: None,
        ask,
        witness: None,
    }
}

/// A case that breaks `constraint` of `primitive`.
fn breaks(primitive: &str, constraint: &str, what: &str, ask: Ask) -> Planned {
    Planned { aim: Aim::Breaks, ..fits(primitive, "negative", constraint, what, ask) }
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

fn raw(method: &str, params: Value) -> Ask {
    Ask::Raw { method: method.to_owned(), params: map(params) }
}

//! An example of each judged rule being broken: its fixture, kept within the program.

use wire::trace::{Trace, file};

use crate::rule::Rule;

/// Ids and their `broken.jsonl`, in the order of the ids.
const BROKEN: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/broken.rs"));

/// A small trace that breaks the rule.
pub fn broken(rule: &Rule) -> Option<Trace> {
    let found = BROKEN.binary_search_by_key(&rule.id, |(id, _)| id).ok()?;
    file::read(BROKEN[found].1).ok()
}

//! Collects the expectations of a case, condition by condition. Several conditions on one path must all hold.

use document::unfilled;
use serde_json::{Map, Value, json};

use super::paths;

#[derive(Clone, Debug, Default)]
pub(super) struct Expected {
    pub(super) outcome: Option<&'static str>,
    /// Other members: `snapshot`, `progress`, `notifications`.
    pub(super) other_members: Map<String, Value>,
    places: Vec<(String, At)>,
    /// The number of conditions.
    pub(super) conditions: usize,
}

/// The conditions at a path.
#[derive(Clone, Debug, Default)]
struct At {
    exists: Option<bool>,
    /// Whether the path must match.
    required: bool,
    count: Option<(Option<u64>, Option<u64>)>,
    matchers: Vec<(&'static str, Value)>,
}

/// One condition on a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PathCondition {
    Exists,
    Absent,
    /// The minimum and maximum number of matches.
    Count(Option<u64>, Option<u64>),
    /// A matcher of each value.
    Is(&'static str, Value),
    /// A number above (`min`) or below (`max`) this one, exclusive.
    Beyond(&'static str, Value),
    /// A matcher of the value, if there is one.
    IfThere(&'static str, Value),
}

impl Expected {
    /// Adds an expected outcome.
    pub(super) fn expect_outcome(&mut self, outcome: &'static str) {
        self.outcome = Some(outcome);
        self.conditions += 1;
    }

    pub(super) fn add_member(&mut self, member: &str, value: Value) {
        self.other_members.insert(member.to_owned(), value);
        self.conditions += 1;
    }

    /// Adds a condition at a path. `Err` says why it cannot be added.
    pub(super) fn add_condition(&mut self, path: &str, condition: PathCondition) -> Result<(), &'static str> {
        if matches!(self.outcome, Some("refused" | "error")) {
            return Err("an error has no result");
        }
        let path = paths::valid(path.to_owned()).ok_or("not a JSONPath of at most 256 bytes")?;
        let mut at = self.places.iter().find(|(known, _)| *known == path).map(|(_, at)| at.clone()).unwrap_or_default();
        at.add(condition)?;
        match self.places.iter_mut().find(|(known, _)| *known == path) {
            Some((_, known)) => *known = at,
            None => self.places.push((path, at)),
        }
        self.conditions += 1;
        Ok(())
    }

    /// The members of `expect`.
    pub(super) fn members(&self) -> Vec<(String, Value)> {
        let outcome = self.outcome.filter(|_| self.outcome != Some("ok") || self.places.is_empty());
        let mut members: Vec<(String, Value)> =
            outcome.iter().map(|outcome| ("outcome".to_owned(), json!(outcome))).collect();
        members.extend(self.other_members.iter().map(|(name, value)| (name.clone(), value.clone())));
        members.extend(self.places.iter().map(|(path, at)| (path.clone(), at.written())));
        if members.is_empty() {
            members.push(("outcome".to_owned(), json!("ok")));
        }
        members
    }
}

impl At {
    fn add(&mut self, condition: PathCondition) -> Result<(), &'static str> {
        const CONTRADICTS: &str = "contradicts another condition";
        match condition {
            PathCondition::Absent if self.required || self.exists == Some(true) || self.count.is_some() => {
                return Err(CONTRADICTS);
            }
            PathCondition::Absent => self.exists = Some(false),
            PathCondition::IfThere(..) if self.exists == Some(false) => {}
            PathCondition::IfThere(word, value) => self.matcher(word, value),
            _ if self.exists == Some(false) => return Err(CONTRADICTS),
            PathCondition::Exists => (self.exists, self.required) = (Some(true), true),
            PathCondition::Count(least, most) => {
                let (had_least, had_most) = self.count.unwrap_or_default();
                let bounds = (least.max(had_least), [most, had_most].into_iter().flatten().min());
                if bounds.0.zip(bounds.1).is_some_and(|(least, most)| least > most) {
                    return Err(CONTRADICTS);
                }
                self.count = Some(bounds);
            }
            PathCondition::Is(word, value) => {
                self.required = true;
                self.matcher(word, value);
            }
            PathCondition::Beyond(bound, value) => {
                self.required = true;
                self.matcher("range", json!({ bound: value }));
                self.matcher("not", json!({ "equals": value }));
            }
        }
        Ok(())
    }

    fn matcher(&mut self, word: &'static str, value: Value) {
        if !self.matchers.contains(&(word, value.clone())) {
            self.matchers.push((word, value));
        }
    }

    fn written(&self) -> Value {
        if self.exists == Some(false) {
            return json!({ "exists": false });
        }
        let mut members = Map::new();
        match self.count {
            Some((least, Some(most))) if least == Some(most) => {
                members.insert("count".to_owned(), json!(most));
            }
            Some((least, most)) => {
                let bounds = [("min", least), ("max", most)].into_iter().filter_map(|(name, n)| Some((name, n?)));
                let bounds: Map<String, Value> = bounds.map(|(name, n)| (name.to_owned(), json!(n))).collect();
                members.insert("count".to_owned(), Value::Object(bounds));
            }
            None if !self.required && !self.matchers.is_empty() => {
                members.insert("count".to_owned(), json!([0, 1]));
            }
            None => {}
        }
        match self.matchers.as_slice() {
            [] if members.is_empty() => return json!({ "exists": true }),
            [("equals", value)] if members.is_empty() && !value.is_object() => return value.clone(),
            matchers => {
                let mut words: Vec<&str> = matchers.iter().map(|(word, _)| *word).collect();
                words.sort_unstable();
                words.dedup();
                if words.len() == matchers.len() {
                    members.extend(matchers.iter().map(|(word, value)| ((*word).to_owned(), value.clone())));
                } else {
                    // A key occurs once in a mapping, so several become "none of them is false".
                    let nots: Vec<Value> =
                        matchers.iter().map(|(word, value)| json!({ "not": { *word: value } })).collect();
                    members.insert("not".to_owned(), json!({ "anyOf": nots }));
                }
            }
        }
        Value::Object(members)
    }
}

/// A value in the place of a matcher: a mapping must go under `equals`.
pub(super) fn matcher(value: &Value) -> Value {
    let value = unfilled(value);
    if value.is_object() { json!({ "equals": value }) } else { value }
}

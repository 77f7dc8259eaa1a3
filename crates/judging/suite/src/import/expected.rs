//! What is expected of an answer, gathered condition by condition. Two conditions on one path are both held.

use document::unfilled;
use serde_json::{Map, Value, json};

use super::paths;

#[derive(Clone, Debug, Default)]
pub(super) struct Expected {
    pub(super) outcome: Option<&'static str>,
    /// Other members: `snapshot`, `progress`, `notifications`.
    pub(super) beside: Map<String, Value>,
    places: Vec<(String, At)>,
    /// How many conditions went in.
    pub(super) conditions: usize,
}

/// What is expected at a path.
#[derive(Clone, Debug, Default)]
struct At {
    exists: Option<bool>,
    /// Whether something must stand there.
    required: bool,
    count: Option<(Option<u64>, Option<u64>)>,
    matchers: Vec<(&'static str, Value)>,
}

/// One condition on a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Demand {
    Exists,
    Absent,
    /// To how many places it leads, at least and at most.
    Count(Option<u64>, Option<u64>),
    /// A matcher of what stands there.
    Is(&'static str, Value),
    /// A number above (`min`) or below (`max`) this one.
    Beyond(&'static str, Value),
    /// A matcher of what stands there, if anything does.
    IfThere(&'static str, Value),
}

impl Expected {
    /// Adds a condition that is said in another way than by a path.
    pub(super) fn ends(&mut self, outcome: &'static str) {
        self.outcome = Some(outcome);
        self.conditions += 1;
    }

    pub(super) fn beside(&mut self, member: &str, value: Value) {
        self.beside.insert(member.to_owned(), value);
        self.conditions += 1;
    }

    /// Adds a condition. `Err` says why it cannot stand here.
    pub(super) fn demand(&mut self, path: &str, demand: Demand) -> Result<(), &'static str> {
        if matches!(self.outcome, Some("refused" | "error")) {
            return Err("an error has no result to look into");
        }
        let path = paths::valid(path.to_owned()).ok_or("no JSONPath of test files, which are 256 bytes at most")?;
        let mut at = self.places.iter().find(|(known, _)| *known == path).map(|(_, at)| at.clone()).unwrap_or_default();
        at.add(demand)?;
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
        members.extend(self.beside.iter().map(|(name, value)| (name.clone(), value.clone())));
        members.extend(self.places.iter().map(|(path, at)| (path.clone(), at.written())));
        if members.is_empty() {
            members.push(("outcome".to_owned(), json!("ok")));
        }
        members
    }
}

impl At {
    fn add(&mut self, demand: Demand) -> Result<(), &'static str> {
        const CONTRADICTS: &str = "it contradicts another condition";
        match demand {
            Demand::Absent if self.required || self.exists == Some(true) || self.count.is_some() => {
                return Err(CONTRADICTS);
            }
            Demand::Absent => self.exists = Some(false),
            Demand::IfThere(..) if self.exists == Some(false) => {}
            Demand::IfThere(word, value) => self.matcher(word, value),
            _ if self.exists == Some(false) => return Err(CONTRADICTS),
            Demand::Exists => (self.exists, self.required) = (Some(true), true),
            Demand::Count(least, most) => {
                let (had_least, had_most) = self.count.unwrap_or_default();
                let bounds = (least.max(had_least), [most, had_most].into_iter().flatten().min());
                if bounds.0.zip(bounds.1).is_some_and(|(least, most)| least > most) {
                    return Err(CONTRADICTS);
                }
                self.count = Some(bounds);
            }
            Demand::Is(word, value) => {
                self.required = true;
                self.matcher(word, value);
            }
            Demand::Beyond(bound, value) => {
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
                    // A word stands once in a mapping: all of them hold where none does not.
                    let nots: Vec<Value> =
                        matchers.iter().map(|(word, value)| json!({ "not": { *word: value } })).collect();
                    members.insert("not".to_owned(), json!({ "anyOf": nots }));
                }
            }
        }
        Value::Object(members)
    }
}

/// A value where a matcher may stand: a mapping alone would be taken for one.
pub(super) fn matcher(value: &Value) -> Value {
    let value = unfilled(value);
    if value.is_object() { json!({ "equals": value }) } else { value }
}

//! Schemas of a description as JSON Schema 2020-12: each component is converted once for inputs (without what is read only) and
//! once for outputs (without what is write only); only those reached are given out, recursion stays a `$ref`.

mod circles;
mod keywords;
mod loose;
mod shrink;
mod variants;
mod walk;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::rc::Rc;

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::limits::Limits;
use crate::model::Skipped;
use crate::reading::{Dialect, Source};
pub(crate) use loose::loosened;
pub(crate) use shrink::{for_parts, size};
use walk::Walk;

/// How many notes are kept.
const NOTES: usize = 1_000;
/// How many bytes are worth a shrunk schema.
const SMALLEST: usize = 512;
/// How many definitions of one operation are tried to be made smaller: each takes time, and the first ones are the nearest.
const SHRUNK: usize = 16;
/// What a conversion costs besides its bytes.
const CONVERSION: usize = 2_000;
/// How many bytes the definitions of one operation may have that are cut.
const CUTS: usize = 8 << 10;
/// What stands where a schema was cut.
const CUT: &str = "Cut here: see the API's own description.";

/// Whether a schema is for what goes in or what comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Direction {
    Input,
    Output,
}

/// A component, converted.
struct Converted {
    schema: Value,
    size: usize,
    /// Pointers of the components that it refers to, in order.
    refs: Vec<String>,
}

/// All schemas of a description.
pub(crate) struct Schemas<'s, 'v> {
    source: &'s Source<'v>,
    limits: &'s Limits,
    components: HashMap<(Direction, String), Rc<Converted>>,
    names: HashMap<String, String>,
    patterns: HashMap<String, bool>,
    in_place: HashMap<String, Rc<[String]>>,
    /// What the current operation's inputs refer to.
    refs: Vec<String>,
    own_bytes: usize,
    spent: usize,
    /// How many bytes were converted since the last question.
    work: usize,
    notes: Vec<Skipped>,
}

impl<'s, 'v> Schemas<'s, 'v> {
    pub(crate) fn new(source: &'s Source<'v>, limits: &'s Limits) -> Self {
        Self {
            source,
            limits,
            components: HashMap::new(),
            names: HashMap::new(),
            patterns: HashMap::new(),
            in_place: HashMap::new(),
            refs: Vec::new(),
            own_bytes: 0,
            spent: 0,
            work: 0,
            notes: Vec::new(),
        }
    }

    /// What is loose, so far.
    pub(crate) fn take_notes(&mut self) -> Vec<Skipped> {
        std::mem::take(&mut self.notes)
    }

    /// How many bytes were converted since this was asked last.
    pub(crate) fn take_work(&mut self) -> usize {
        std::mem::take(&mut self.work)
    }

    /// Begins an operation: it has referred to nothing yet.
    pub(crate) fn begin(&mut self) {
        self.refs.clear();
        self.own_bytes = 0;
    }

    /// A schema of an input.
    pub(crate) fn input(&mut self, schema: &'v Value, at: &str) -> Value {
        let mut walk = Walk::new(self, Direction::Input, at);
        let converted = walk.schema(schema);
        let refs = walk.refs;
        self.keep_input(converted, refs)
    }

    /// The schema that a parameter of Swagger 2 is itself.
    pub(crate) fn input_members(&mut self, members: &'v Map<String, Value>, at: &str) -> Value {
        let mut walk = Walk::new(self, Direction::Input, at);
        let mut converted = walk.members(members);
        let refs = walk.refs;
        if let Value::Object(converted) = &mut converted {
            // The parameter's own, which is not repeated.
            converted.remove("description");
        }
        self.keep_input(converted, refs)
    }

    fn keep_input(&mut self, mut converted: Value, mut refs: Vec<String>) -> Value {
        let budget = self.limits.input_bytes.saturating_sub(self.own_bytes);
        self.work += size(&converted) + CONVERSION;
        if budget < SMALLEST {
            // The operation has had its part: what is left of others is their type.
            converted = cut_of(&converted);
            refs.clear();
        }
        shrink::shrink(&mut converted, budget.max(SMALLEST));
        self.own_bytes += size(&converted);
        self.refs.append(&mut refs);
        converted
    }

    /// Replaces the references of a schema that lead to no definition: they were too many to be kept.
    pub(crate) fn bind(schema: &mut Value, definitions: &BTreeMap<String, Value>) {
        if let Value::Object(members) = schema {
            let name = members.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix("#/$defs/"));
            if name.is_some_and(|name| !definitions.contains_key(name)) {
                members.remove("$ref");
                members.entry("description").or_insert_with(|| CUT.into());
            }
        }
        for_parts(schema, &mut |part| Self::bind(part, definitions));
    }

    /// The components that the inputs of this operation reach. What is beyond the budget is cut.
    pub(crate) fn definitions(&mut self, bytes: usize) -> BTreeMap<String, Value> {
        let over = self.spent + self.own_bytes > self.limits.total_bytes;
        let budget = if over { 0 } else { bytes.saturating_sub(self.own_bytes) };
        let roots = std::mem::take(&mut self.refs);
        let (definitions, used) = self.reached(roots, Direction::Input, budget, true).unwrap_or_default();
        if over && !definitions.is_empty() {
            self.note(
                "",
                "all schemas together are too large: those that operations share are cut; choose fewer operations",
            );
        }
        self.spent += used + self.own_bytes;
        definitions
    }

    /// A self-contained schema of an output, where it fits the budget.
    pub(crate) fn output(&mut self, schema: &'v Value, at: &str, bytes: usize) -> Option<Value> {
        if self.spent > self.limits.total_bytes {
            return None;
        }
        let (resolved, at) = self.source.resolve(schema, at).ok()?;
        let mut walk = Walk::new(self, Direction::Output, &at);
        let mut root = walk.schema(resolved);
        let refs = walk.refs;
        let own = size(&root);
        let (definitions, used) = self.reached(refs, Direction::Output, bytes.checked_sub(own)?, false)?;
        self.spent += own + used;
        if !definitions.is_empty() {
            match &mut root {
                Value::Object(members) => members.insert("$defs".to_owned(), definitions.into_iter().collect()),
                _ => return None,
            };
        }
        Some(root)
    }

    /// Breadth first: what is near is kept. Without `cut`, nothing comes of it when the budget is over.
    fn reached(
        &mut self,
        roots: Vec<String>,
        direction: Direction,
        budget: usize,
        cut: bool,
    ) -> Option<(BTreeMap<String, Value>, usize)> {
        let mut definitions = BTreeMap::new();
        let (mut used, mut cuts) = (0, 0);
        let mut attempts = 0..if cut { SHRUNK } else { 0 };
        let mut seen = HashSet::new();
        let mut open: VecDeque<String> = roots.into();
        while let Some(pointer) = open.pop_front() {
            if !seen.insert(pointer.clone()) {
                continue;
            }
            let component = self.component(direction, &pointer);
            let name = self.name(&pointer);
            if used + component.size <= budget {
                used += component.size + name.len() + 4;
                open.extend(component.refs.iter().cloned());
                definitions.insert(name, component.schema.clone());
            } else if let Some(small) =
                attempts.next().and_then(|_| shrunk(&component.schema, budget.saturating_sub(used)))
            {
                let text = small.to_string();
                used += text.len() + name.len() + 4;
                for pointer in &component.refs {
                    let reference = format!("\"#/$defs/{}\"", self.name(pointer));
                    open.extend(text.contains(&reference).then(|| pointer.clone()));
                }
                definitions.insert(name, small);
            } else if cut {
                let small = cut_of(&component.schema);
                cuts += size(&small) + name.len() + 4;
                if cuts <= CUTS {
                    definitions.insert(name, small);
                }
            } else {
                return None;
            }
        }
        if cuts > CUTS {
            let kept = definitions.clone();
            for schema in definitions.values_mut() {
                Self::bind(schema, &kept);
            }
        }
        Some((definitions, used + cuts.min(CUTS)))
    }

    fn component(&mut self, direction: Direction, pointer: &str) -> Rc<Converted> {
        let key = (direction, pointer.to_owned());
        if let Some(known) = self.components.get(&key) {
            return Rc::clone(known);
        }
        let raw = self.source.root.pointer(pointer).unwrap_or(&Value::Null);
        let mut walk = Walk::new(self, direction, pointer);
        let schema = walk.schema(raw);
        let refs = walk.refs;
        let converted = Rc::new(Converted { size: size(&schema), schema, refs });
        self.components.insert(key, Rc::clone(&converted));
        converted
    }

    /// The name of a component in `$defs`: stable, and legal in a pointer.
    fn name(&mut self, pointer: &str) -> String {
        if let Some(known) = self.names.get(pointer) {
            return known.clone();
        }
        let home = match self.source.dialect {
            Dialect::Swagger2 => "/definitions/",
            _ => "/components/schemas/",
        };
        let last = wire::pointer::unescape(pointer.rsplit('/').next().unwrap_or_default());
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let plain = pointer.strip_prefix(home).is_some_and(|rest| !rest.contains('/'));
        let name = if plain && !last.is_empty() && last.len() <= 80 && last.chars().all(legal) {
            last
        } else {
            let mut name: String = last.chars().map(|c| if legal(c) { c } else { '_' }).take(60).collect();
            name.push('_');
            name.push_str(&crate::naming::hex(&Sha256::digest(pointer), 8));
            name
        };
        self.names.insert(pointer.to_owned(), name.clone());
        name
    }

    fn note(&mut self, at: &str, why: impl Into<String>) {
        let note = Skipped { at: at.to_owned(), why: why.into() };
        if self.notes.len() < NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// A schema made so small that it fits; none where that is not worth it.
fn shrunk(schema: &Value, budget: usize) -> Option<Value> {
    if budget < SMALLEST {
        return None;
    }
    let mut small = schema.clone();
    shrink::shrink(&mut small, budget);
    (size(&small) <= budget).then_some(small)
}

/// What remains of a schema that is cut: it accepts everything of the type.
fn cut_of(schema: &Value) -> Value {
    match schema.get("type") {
        Some(kind) => json!({"type": kind, "description": CUT}),
        None => json!({"description": CUT}),
    }
}

#[cfg(test)]
#[path = "schemas_tests.rs"]
mod tests;

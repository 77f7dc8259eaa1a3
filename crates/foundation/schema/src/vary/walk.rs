//! Walks a schema beside a value that fits it, and makes one change at a time: to another value that fits, or to one that
//! breaks just one constraint. Every step of the walk knows how to put a changed part back into the whole.

use std::collections::HashSet;
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::{Schema, wrong};
use crate::plain::is_a;
use crate::rng::Rng;
use crate::sample::{Maker, Style};
use crate::views::View;
use wire::pointer;

/// How many values are held against the schema: one that names itself has no end of places.
const STEPS: usize = 20_000;
/// How many bytes are as much work as one value.
const BYTES: usize = 2048;
/// How many schemas that a check looks at are as much work as one value.
const WORK: usize = 1000;
/// How many bytes all values may have.
const ALL_BYTES: usize = 16 << 20;
/// How many members of an object are looked at.
const MEMBERS: usize = 60;

/// How much is varied.
#[derive(Clone, Copy, Debug)]
pub struct Width {
    /// How deep members of members are looked at.
    pub depth: usize,
    /// Whether values at the edges are made, and each member of an enumeration.
    pub edges: bool,
    /// How many members of an enumeration.
    pub members: usize,
    /// How many wrong types for each place.
    pub types: usize,
}

/// What a variation shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing in particular: what a caller would usually send.
    Typical,
    /// An optional argument is given.
    Present,
    /// A value at a bound.
    Edge,
    /// A member of an enumeration, or another of several types.
    Choice,
    /// A constraint is broken.
    Violation,
}

/// One value for a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Variation {
    /// What it shows.
    pub kind: Kind,
    /// Where it differs from the typical value: a JSON pointer.
    pub pointer: String,
    /// The constraint that it is about: a keyword.
    pub keyword: String,
    /// What it is, in words that follow the place.
    pub what: String,
    /// The whole value.
    pub instance: Value,
    /// Of a violation: the same whole with a value there that fits.
    pub beside: Option<Value>,
    /// Of a violation: whether the schema's dialect demands what is broken, and does not merely remark it.
    pub demanded: bool,
}

/// Every variation, the typical value first; none where no typical value can be made. `known` are arguments that are known
/// to mean something to the server; those in `wanted` belong to the typical value even where they are optional.
pub fn variations(
    schema: &Schema<'_>,
    known: &Map<String, Value>,
    wanted: &Map<String, Value>,
    rng: &Rng,
    width: Width,
) -> Vec<Variation> {
    let mut walker = Walker {
        schema,
        maker: Maker::new(schema.root, Style::Typical, rng.clone()),
        known,
        width,
        seen: HashSet::new(),
        found: Vec::new(),
        steps: STEPS,
        room: ALL_BYTES,
    };
    let Some(typical) = walker.typical(wanted) else { return Vec::new() };
    let spot = Spot { pointer: String::new(), loose: Vec::new(), room: width.depth, rebuild: Rc::new(|value| value) };
    walker.fitting(&spot, Kind::Typical, "", "a typical call", typical.clone());
    walker.walk(schema.root, &typical, &spot);
    walker.found
}

pub(super) struct Walker<'w> {
    schema: &'w Schema<'w>,
    maker: Maker<'w>,
    known: &'w Map<String, Value>,
    pub(super) width: Width,
    /// The wholes that are there already.
    seen: HashSet<String>,
    found: Vec<Variation>,
    steps: usize,
    /// How many bytes there is room for.
    room: usize,
}

/// A place in the whole.
#[derive(Clone)]
pub(super) struct Spot {
    pointer: String,
    /// Places at and above it where there are several ways to fit: what breaks below may be told there.
    loose: Vec<String>,
    room: usize,
    /// Puts a value there into the whole.
    rebuild: Rc<dyn Fn(Value) -> Value>,
}

impl Walker<'_> {
    fn typical(&mut self, wanted: &Map<String, Value>) -> Option<Value> {
        let made = self.maker.value(self.schema.root);
        let mut ways = Vec::new();
        if let Some(Value::Object(plain)) = made {
            let mut with = plain.clone();
            for (name, value) in self.known {
                if with.contains_key(name) || wanted.contains_key(name) {
                    with.insert(name.clone(), value.clone());
                }
            }
            ways.extend([with, plain]);
        }
        ways.into_iter().map(Value::Object).find(|value| self.schema.fits(value))
    }

    /// Notes a value that fits, if it does.
    pub(super) fn fitting(&mut self, spot: &Spot, kind: Kind, keyword: &str, what: &str, value: Value) {
        let instance = (spot.rebuild)(value);
        let text = instance.to_string();
        if self.has_room(&instance, &text) && self.schema.fits(&instance) && self.is_new(text) {
            self.found.push(Variation {
                kind,
                pointer: spot.pointer.clone(),
                keyword: keyword.to_owned(),
                what: what.to_owned(),
                instance,
                beside: None,
                demanded: true,
            });
        }
    }

    /// Notes a value that breaks `keyword` there and nothing else, if it does.
    pub(super) fn breaking(&mut self, spot: &Spot, keyword: &str, what: &str, value: Value, fits: &Value) -> bool {
        let (instance, beside) = ((spot.rebuild)(value), (spot.rebuild)(fits.clone()));
        let text = instance.to_string();
        if !self.has_room(&instance, &text) || !self.schema.fits(&beside) {
            return false;
        }
        let breaks = self.schema.mismatches(&instance);
        let this = |pointer: &str, broken: &str| {
            pointer == spot.pointer && broken == keyword
                || spot.loose.iter().any(|at| at == pointer) && matches!(broken, "anyOf" | "oneOf" | "type")
        };
        let alone = !breaks.is_empty() && breaks.iter().all(|one| this(&one.pointer, &one.keyword));
        if !alone || !self.is_new(text) {
            return false;
        }
        self.found.push(Variation {
            kind: Kind::Violation,
            pointer: spot.pointer.clone(),
            keyword: keyword.to_owned(),
            what: what.to_owned(),
            demanded: self.schema.demands(&instance),
            instance,
            beside: Some(beside),
        });
        true
    }

    /// Whether there is still room to check a value: what is long, or takes much work, counts for more.
    fn has_room(&mut self, value: &Value, text: &str) -> bool {
        let Some(work) = self.schema.work(value) else { return false };
        self.goes_on(text.len() / BYTES + work / WORK)
    }

    /// Whether there is still room for one step, and more.
    const fn goes_on(&mut self, more: usize) -> bool {
        self.steps = self.steps.saturating_sub(1 + more);
        self.steps > 0 && self.room > 0
    }

    /// Notes a whole; whether it was not there before.
    fn is_new(&mut self, text: String) -> bool {
        self.room = self.room.saturating_sub(text.len());
        self.seen.insert(text)
    }

    fn walk(&mut self, schema: &Value, value: &Value, spot: &Spot) {
        if !self.goes_on(0) {
            return;
        }
        let views = self.maker.ways(schema);
        let fits = |view: &View<'_>| view.kind().is_none_or(|kind| is_a(value, kind));
        let Some(chosen) = views.iter().position(fits) else { return };
        let mut spot = spot.clone();
        if views.len() > 1 {
            spot.loose.push(spot.pointer.clone());
        }
        if !spot.pointer.is_empty() {
            self.wrong_types(&views, value, &spot);
        }
        if self.width.edges {
            for (number, view) in views.iter().enumerate().filter(|(number, _)| *number != chosen) {
                let Some(other) = self.maker.of(view) else { continue };
                let what = format!("is {}, one of {} ways", wrong::named(&other), views.len());
                self.fitting(&spot, Kind::Choice, "anyOf", &what, other);
                if number > self.width.members {
                    break;
                }
            }
        }
        let view = &views[chosen];
        self.constraints(view, value, &spot);
        match value {
            Value::Object(members) => self.members(view, members, &spot),
            Value::Array(items) => self.items(view, items, &spot),
            _ => {}
        }
    }

    /// The members of an object, each in turn.
    fn members(&mut self, view: &View<'_>, there: &Map<String, Value>, spot: &Spot) {
        for name in view.required().filter(|name| there.contains_key(*name)) {
            let mut less = there.clone();
            less.shift_remove(name);
            self.breaking(spot, "required", &format!("without {name}"), less.into(), &there.clone().into());
        }
        if view.get("additionalProperties") == Some(&json!(false)) {
            let mut more = there.clone();
            more.insert("proof_unknown".to_owned(), json!("proof"));
            let what = "with an undeclared member";
            self.breaking(spot, "additionalProperties", what, more.into(), &there.clone().into());
        }
        let properties = view.get("properties").and_then(Value::as_object);
        if spot.room == 0 {
            return;
        }
        for (name, property) in properties.into_iter().flatten().take(MEMBERS) {
            let Some((value, whole)) = self.with(view, name, property, there, spot) else { continue };
            if !there.contains_key(name) {
                self.fitting(spot, Kind::Present, "properties", &format!("with {name}"), whole.clone().into());
            }
            let (parent, own) = (spot.rebuild.clone(), name.clone());
            let pointer = format!("{}/{}", spot.pointer, pointer::escape(name));
            let rebuild = Rc::new(move |value: Value| {
                let mut whole = whole.clone();
                whole.insert(own.clone(), value);
                parent(Value::Object(whole))
            });
            self.walk(property, &value, &Spot { pointer, loose: spot.loose.clone(), room: spot.room - 1, rebuild });
        }
    }

    /// The value of a member, and the object with it and with what must be there then.
    fn with(
        &mut self,
        view: &View<'_>,
        name: &str,
        property: &Value,
        there: &Map<String, Value>,
        spot: &Spot,
    ) -> Option<(Value, Map<String, Value>)> {
        let known = self.known.get(name).filter(|_| spot.pointer.is_empty()).cloned();
        let mut whole = there.clone();
        let mut ways: Vec<Value> = there.get(name).cloned().into_iter().chain(known).collect();
        ways.extend(self.maker.value(property));
        // What must be there then may itself ask for more.
        let mut wanted: Vec<&str> = view.dependents(name).take(MEMBERS).collect();
        for _ in 0..MEMBERS {
            let Some(other) = wanted.pop() else { break };
            if other == name || whole.contains_key(other) {
                continue;
            }
            let made = view.get("properties").and_then(|all| all.get(other)).and_then(|one| self.maker.value(one));
            let Some(made) = made else { continue };
            whole.insert(other.to_owned(), made);
            wanted.extend(view.dependents(other).take(MEMBERS));
        }
        ways.into_iter().find_map(|value| {
            whole.insert(name.to_owned(), value.clone());
            self.schema.fits(&(spot.rebuild)(whole.clone().into())).then(|| (value, whole.clone()))
        })
    }

    /// The first item of a list, and each of those that have a place of their own.
    fn items(&mut self, view: &View<'_>, there: &[Value], spot: &Spot) {
        if spot.room == 0 {
            return;
        }
        let prefix = view.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let rest = view.get("items").filter(|items| items.is_object());
        let schemas = prefix.iter().enumerate().chain(rest.map(|rest| (prefix.len(), rest)));
        for (at, schema) in schemas {
            let mut whole = there.to_vec();
            if at >= whole.len() {
                whole.extend(self.maker.value(schema));
            }
            let Some(value) = whole.get(at).cloned() else { continue };
            let parent = spot.rebuild.clone();
            let rebuild = Rc::new(move |value: Value| {
                let mut whole = whole.clone();
                whole[at] = value;
                parent(Value::Array(whole))
            });
            let pointer = format!("{}/{at}", spot.pointer);
            self.walk(schema, &value, &Spot { pointer, loose: spot.loose.clone(), room: spot.room - 1, rebuild });
        }
    }
}

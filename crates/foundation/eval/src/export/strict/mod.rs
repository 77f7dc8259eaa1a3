//! Schemas in OpenAI's strict form: every object closed, every member required, optional ones a union with `null`. What a value
//! of the strict schema needs to become one of the original is kept as a [`Plan`].

mod keywords;
mod limits;
mod objects;
mod unions;

use std::collections::BTreeMap;

use schema::Validator;
use serde_json::{Map, Value, json};
use wire::pointer;

use super::{NoteKind, Notes, target};
pub(in crate::export) use keywords::allowed_types;
use keywords::kept;

/// How deep a schema may nest.
const DEEPEST: usize = 40;
/// How many schemas are looked at for one tool.
const STEPS: usize = 20_000;

/// A strict schema, and the way back from its values.
#[derive(Debug)]
pub(super) struct Closed {
    /// The strict schema.
    pub(super) schema: Value,
    /// What becomes of the arguments.
    pub(super) plan: Plan,
    /// What becomes of values of shared schemas, by their names in `$defs`.
    pub(super) shared: BTreeMap<String, Plan>,
}

/// What becomes of a value that fits the strict schema.
#[derive(Debug)]
pub(super) enum Plan {
    /// It stays.
    Keep,
    /// Its members are looked at.
    Members(BTreeMap<String, Member>),
    /// Each of its items is looked at.
    Items(Box<Plan>),
    /// Whatever the first strict schema says that it fits.
    Union(Vec<(Value, Plan)>),
    /// What a shared schema says.
    Shared(String),
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member {
    /// Whether it is left out where it is `null`.
    pub(super) is_optional: bool,
    pub(super) plan: Plan,
}

/// The strict form of a tool's schema; `None` where there is none: the notes say why.
pub(super) fn close(schema: &Value, notes: &mut Notes) -> Option<Closed> {
    if let Err(unusable) = Validator::new(schema) {
        notes.add(NoteKind::NotStrict, "", unusable.to_string());
        return None;
    }
    let mut closer = Closer { root: schema, notes, names: BTreeMap::new(), pending: Vec::new(), steps: STEPS };
    let (mut strict, plan) = closer.root();
    let (definitions, shared) = closer.shared();
    if let (Value::Object(members), false) = (&mut strict, definitions.is_empty()) {
        members.insert("$defs".to_owned(), Value::Object(definitions));
    }
    if let Some(why) = limits::exceeded(&strict) {
        notes.add(NoteKind::NotStrict, "", why);
    } else if let Err(unusable) = Validator::new(&strict) {
        notes.add(NoteKind::NotStrict, "", format!("its strict form cannot be used: {unusable}"));
    }
    (!notes.is_not_strict()).then_some(Closed { schema: strict, plan, shared })
}

/// What makes a schema strict.
struct Closer<'c> {
    root: &'c Value,
    notes: &'c mut Notes,
    /// By pointer: the names of shared schemas in `$defs`.
    names: BTreeMap<String, String>,
    /// Shared schemas that are still to be made strict, by pointer.
    pending: Vec<String>,
    steps: usize,
}

impl Closer<'_> {
    fn root(&mut self) -> (Value, Plan) {
        let root = self.root;
        for word in ["anyOf", "oneOf", "allOf", "$ref"] {
            match root.get(word) {
                None => {}
                Some(Value::Array(parts)) if root.get("properties").is_some() && unions::only_requires(parts) => {
                    self.unchecked("", word);
                }
                Some(_) => return self.not_strict("", "the root may not be a union or a reference"),
            }
        }
        if allowed_types(root).as_deref() != Some(&["object".to_owned()]) {
            return self.not_strict("", "the root is no object");
        }
        if root.get("properties").is_none() {
            self.notes.add(NoteKind::Narrowed, "", "it names no arguments: exported without any");
        }
        self.object(root, "", 0)
    }

    /// Every shared schema that was referred to, and those that they refer to.
    fn shared(&mut self) -> (Map<String, Value>, BTreeMap<String, Plan>) {
        let (mut definitions, mut plans) = (Map::new(), BTreeMap::new());
        while let Some(at) = self.pending.pop() {
            let (root, name) = (self.root, self.names[&at].clone());
            let Some(schema) = root.pointer(&at) else { continue };
            let (strict, plan) = if at.is_empty() { self.object(schema, "", 0) } else { self.close(schema, &at, 0) };
            definitions.insert(name.clone(), strict);
            plans.insert(name, plan);
        }
        (definitions, plans)
    }

    fn not_strict(&mut self, at: &str, why: &str) -> (Value, Plan) {
        self.notes.add(NoteKind::NotStrict, at, why);
        (json!({ "type": "null" }), Plan::Keep)
    }

    fn unchecked(&mut self, at: &str, word: &str) {
        self.notes.add(NoteKind::Unchecked, at, format!("`{word}` is not checked"));
    }

    /// The strict form of the schema at a pointer.
    fn close(&mut self, schema: &Value, at: &str, depth: usize) -> (Value, Plan) {
        if depth > DEEPEST || self.steps == 0 {
            return self.not_strict(at, "it is too deep or too large");
        }
        self.steps -= 1;
        let Value::Object(members) = schema else {
            return self.not_strict(at, if *schema == json!(false) { "no value fits" } else { "any value fits" });
        };
        if let Some(word) =
            ["$dynamicRef", "$recursiveRef", "$id", "$anchor"].iter().find(|word| members.contains_key(**word))
        {
            return self.not_strict(at, &format!("it has `{word}`"));
        }
        if let Some(reference) = members.get("$ref") {
            return self.reference(reference, schema, at);
        }
        if let Some(Value::Array(parts)) = members.get("allOf") {
            return self.all_of(parts, schema, at, depth);
        }
        if members.contains_key("anyOf") || members.contains_key("oneOf") {
            return self.union(schema, at, depth);
        }
        match allowed_types(schema).as_deref() {
            None | Some([]) => self.not_strict(at, "values of any type fit"),
            Some([one]) if one == "object" => self.object(schema, at, depth),
            Some([one]) if one == "array" => self.array(schema, at, depth),
            Some(types) if types.iter().any(|one| one == "object" || one == "array") => {
                self.several_types(schema, types, at, depth)
            }
            Some(types) => (self.scalar(schema, types, at), Plan::Keep),
        }
    }

    fn reference(&mut self, reference: &Value, schema: &Value, at: &str) -> (Value, Plan) {
        let Some((_, pointer)) = reference.as_str().and_then(|name| target(self.root, name)) else {
            return self.not_strict(at, "it refers to another document or an anchor");
        };
        if let Some(word) = keywords::beside(schema, &["$ref"]) {
            return self.not_strict(at, &format!("`{word}` stands next to `$ref`"));
        }
        let name = self.name(pointer);
        let reference = json!({ "$ref": format!("#/$defs/{name}") });
        let strict = match schema.get("description") {
            // A reference may have no other keywords.
            Some(Value::String(text)) => json!({ "description": text, "anyOf": [reference] }),
            _ => reference,
        };
        (strict, Plan::Shared(name))
    }

    /// The name of a shared schema in `$defs`.
    fn name(&mut self, pointer: String) -> String {
        if let Some(name) = self.names.get(&pointer) {
            return name.clone();
        }
        let last = pointer::names(&pointer).last().unwrap_or_else(|| "arguments".to_owned());
        let clean: String =
            last.chars().take(48).map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
        let is_free = |name: &String| !name.is_empty() && !self.names.values().any(|known| known == name);
        let mut names = std::iter::once(clean.clone()).chain((2..).map(|number| format!("{clean}_{number}")));
        let name = names.find(is_free).unwrap_or_default();
        self.names.insert(pointer.clone(), name.clone());
        self.pending.push(pointer);
        name
    }

    /// One `allOf` of one part is that part; what several parts add up to is not worked out.
    fn all_of(&mut self, parts: &[Value], schema: &Value, at: &str, depth: usize) -> (Value, Plan) {
        let [only] = parts else { return self.not_strict(at, "it is made of several schemas (`allOf`)") };
        if let Some(word) = keywords::beside(schema, &["allOf"]) {
            return self.not_strict(at, &format!("`{word}` stands next to `allOf`"));
        }
        let (strict, plan) = self.close(only, &format!("{at}/allOf/0"), depth + 1);
        (keywords::described(strict, schema), plan)
    }

    fn array(&mut self, schema: &Value, at: &str, depth: usize) -> (Value, Plan) {
        if schema.get("prefixItems").is_some() || schema.get("items").is_some_and(Value::is_array) {
            return self.not_strict(at, "each place has another schema");
        }
        let Some(items) = schema.get("items").filter(|items| items.is_object()) else {
            return self.not_strict(at, "items of any type fit");
        };
        let (items, plan) = self.close(items, &format!("{at}/items"), depth + 1);
        let mut strict = self.kept(schema, &["array".to_owned()], at);
        strict.insert("items".to_owned(), items);
        let plan = if matches!(plan, Plan::Keep) { plan } else { Plan::Items(Box::new(plan)) };
        (Value::Object(strict), plan)
    }

    fn scalar(&mut self, schema: &Value, types: &[String], at: &str) -> Value {
        Value::Object(self.kept(schema, types, at))
    }

    /// The keywords of a schema that stay; notes those whose loss matters, and says them in the description.
    fn kept(&mut self, schema: &Value, types: &[String], at: &str) -> Map<String, Value> {
        let (strict, lost) = kept(schema, types);
        for word in lost {
            self.unchecked(at, &word);
        }
        strict
    }
}

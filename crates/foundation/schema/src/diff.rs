//! What changed between two schemas, and which callers it breaks: a caller may send only what the new schema of arguments takes, and relies
//! on what the old schema of results said. A changed keyword whose meaning is not known here breaks both.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;
use wire::json::canonical;

/// Which way values go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// From the caller: narrower breaks.
    Takes,
    /// To the caller: wider breaks.
    Gives,
}

/// How far properties are followed.
const DEEPEST: usize = 32;

/// Keywords that only describe.
const WORDS: [&str; 8] = ["title", "description", "examples", "default", "$schema", "$comment", "deprecated", "$id"];
/// Bounds where more is narrower.
const LEAST: [&str; 5] = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
/// Bounds where less is narrower.
const MOST: [&str; 5] = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
/// Keywords whose members are schemas by name.
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Keywords whose texts say nothing to a reader, or are of a part of their own.
const STRUCTURE: [&str; 18] = [
    "type",
    "enum",
    "const",
    "default",
    "required",
    "dependentRequired",
    "pattern",
    "format",
    "contentMediaType",
    "contentEncoding",
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "$anchor",
    "$dynamicAnchor",
    "$schema",
    "$id",
    "$vocabulary",
];
/// Keywords that only ever narrow by being there.
const LIMITS: [&str; 5] = ["pattern", "format", "multipleOf", "const", "uniqueItems"];

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What changed, in words that follow the name of the tool.
    pub what: String,
    /// Whether it breaks a caller that relies on the old schema.
    pub breaks: bool,
    /// Which part of the schema changed.
    pub part: Part,
}

/// The part of a schema that a change concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A description, a title or another text.
    Text,
    /// A default.
    Default,
    /// The values of an `enum`.
    Enum,
    /// A property that must be there is new, or a property must be there now.
    Required,
    /// A property that may be missing is new, or a property may be missing now.
    Optional,
    /// A property is gone.
    Removed,
    /// Any other keyword.
    Other,
}

/// Every change from `old` to `new`.
pub fn compare(old: &Value, new: &Value, side: Side) -> Vec<Change> {
    let mut comparison = Comparison { side, found: Vec::new() };
    comparison.schemas(old, new, "", DEEPEST);
    comparison.found
}

/// Every text in a schema or another value that a reader understands as prose, by its path: descriptions, titles, and members
/// that are not known here.
pub fn prose(value: &Value) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![(String::new(), value)];
    while let Some((at, value)) = open.pop() {
        match value {
            Value::String(text) => drop(found.insert(at, text.clone())),
            Value::Array(items) => {
                open.extend(items.iter().enumerate().map(|(index, item)| (format!("{at}[{index}]"), item)));
            }
            Value::Object(members) => {
                for (name, value) in members.iter().filter(|(name, _)| !STRUCTURE.contains(&name.as_str())) {
                    let path = join(&at, name);
                    match value {
                        Value::Object(schemas) if NAMED.contains(&name.as_str()) => {
                            open.extend(schemas.iter().map(|(name, schema)| (join(&path, name), schema)));
                        }
                        value => open.push((path, value)),
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// `: old → new` where both are short, nothing otherwise.
pub fn from_to(old: &Value, new: &Value) -> String {
    let (old, new) = (old.to_string(), new.to_string());
    if old.len() + new.len() > 100 {
        return String::new();
    }
    let said = |text: String| if text == "null" { "nothing".to_owned() } else { text };
    format!(": {} → {}", said(old), said(new))
}

/// How wide a schema became.
enum Became {
    Wider,
    Narrower,
    /// Neither, or we cannot tell.
    Other,
}

type Members = serde_json::Map<String, Value>;

struct Comparison {
    side: Side,
    found: Vec<Change>,
}

impl Comparison {
    fn add(&mut self, what: String, breaks: bool, part: Part) {
        self.found.push(Change { what, breaks, part });
    }

    /// Adds a change of the texts in a part that is compared as a whole.
    fn texts(&mut self, old: &Value, new: &Value, part: &str) {
        let (old, new) = (prose(old), prose(new));
        if old != new {
            let differing = |(path, text): &(&String, &String)| old.get(*path) != Some(*text);
            let first = new.iter().find(differing).or_else(|| old.iter().find(|(path, _)| !new.contains_key(*path)));
            let text = |texts: &BTreeMap<String, String>, path| {
                texts.get(path).map_or(Value::Null, |text| Value::from(text.as_str()))
            };
            let words = first.map(|(path, _)| from_to(&text(&old, path), &text(&new, path))).unwrap_or_default();
            self.add(format!("a text in {part} changed{words}"), false, Part::Text);
        }
    }

    /// Adds a change that breaks callers or not, by its direction.
    fn tell(&mut self, what: String, became: &Became, part: Part) {
        let harmless = matches!((self.side, became), (Side::Takes, Became::Wider) | (Side::Gives, Became::Narrower));
        self.add(what, !harmless, part);
    }

    /// What is at a path, as text.
    fn called(&self, at: &str) -> String {
        match (self.side, at) {
            (Side::Takes, "") => "what it takes".to_owned(),
            (Side::Gives, "") => "what it returns".to_owned(),
            (_, at) => format!("`{at}`"),
        }
    }

    fn schemas(&mut self, old: &Value, new: &Value, at: &str, room: usize) {
        if old == new {
            return;
        }
        let (Value::Object(before), Value::Object(after)) = (old, new) else {
            self.texts(old, new, &self.called(at));
            return self.add(format!("{} changed{}", self.called(at), from_to(old, new)), true, Part::Other);
        };
        if room == 0 {
            self.texts(old, new, &self.called(at));
            return self.add(format!("{} changed somewhere deep inside", self.called(at)), true, Part::Other);
        }
        let keywords: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for keyword in keywords {
            let (old, new) = (before.get(keyword), after.get(keyword));
            if old == new {
                continue;
            }
            match (keyword.as_str(), old, new) {
                ("properties", None | Some(Value::Object(_)), None | Some(Value::Object(_))) => {
                    self.properties(before, after, at, room);
                }
                ("required", None | Some(Value::Array(_)), None | Some(Value::Array(_))) => {
                    self.required(before, after, at);
                }
                ("items", Some(old), Some(new)) => self.schemas(old, new, &format!("{at}[]"), room - 1),
                (keyword, old, new) => self.keyword(keyword, old, new, at),
            }
        }
    }

    /// A keyword that is about no other schema.
    fn keyword(&mut self, keyword: &str, old: Option<&Value>, new: Option<&Value>, at: &str) {
        let nothing = Value::Null;
        let (was, is) = (old.unwrap_or(&nothing), new.unwrap_or(&nothing));
        let changed = format!("{}: `{keyword}` changed{}", self.called(at), from_to(was, is));
        let became = match keyword {
            "default" => return self.add(changed, false, Part::Default),
            word if WORDS.contains(&word) => return self.add(changed, false, Part::Text),
            "type" => return self.types(&types(was), &types(is), at),
            "enum" => return self.values(old, new, at),
            "additionalProperties" | "unevaluatedProperties" => {
                match (was == &Value::Bool(false), is == &Value::Bool(false)) {
                    (false, true) => Became::Narrower,
                    (true, false) => Became::Wider,
                    _ => Became::Other,
                }
            }
            bound if LEAST.contains(&bound) || MOST.contains(&bound) => {
                let more = match (was.as_f64(), is.as_f64()) {
                    (Some(was), Some(is)) => is > was,
                    // No bound is the widest.
                    (None, _) => LEAST.contains(&bound),
                    (_, None) => MOST.contains(&bound),
                };
                if more == LEAST.contains(&bound) { Became::Narrower } else { Became::Wider }
            }
            limit if LIMITS.contains(&limit) => match (old, new) {
                (None, _) => Became::Narrower,
                (_, None) => Became::Wider,
                _ => Became::Other,
            },
            _ => Became::Other,
        };
        if !STRUCTURE.contains(&keyword) {
            // With the keyword: the members of `$defs` are names.
            let whole = |value: &Value| Value::Object([(keyword.to_owned(), value.clone())].into_iter().collect());
            self.texts(&whole(was), &whole(is), &format!("`{keyword}` of {}", self.called(at)));
        }
        self.tell(changed, &became, Part::Other);
    }

    fn types(&mut self, was: &BTreeSet<String>, is: &BTreeSet<String>, at: &str) {
        let became = match (is.is_superset(was), is.is_subset(was)) {
            (true, _) => Became::Wider,
            (_, true) => Became::Narrower,
            _ => Became::Other,
        };
        let said = |types: &BTreeSet<String>| {
            if types.len() > ALL.len() {
                return "anything".to_owned();
            }
            // An integer goes without saying.
            let told = types.iter().filter(|one| *one != "integer" || !types.contains("number"));
            told.cloned().collect::<Vec<_>>().join(" or ")
        };
        self.tell(format!("{} is {} instead of {}", self.called(at), said(is), said(was)), &became, Part::Other);
    }

    /// Of `enum`.
    fn values(&mut self, old: Option<&Value>, new: Option<&Value>, at: &str) {
        let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned();
        match (list(old), list(new)) {
            (Some(was), Some(is)) => {
                let texts = |all: &[Value]| all.iter().map(canonical).collect::<HashSet<Vec<u8>>>();
                let (before, after) = (texts(&was), texts(&is));
                for gone in was.iter().filter(|one| !after.contains(&canonical(one))) {
                    self.tell(format!("{} may no longer be {gone}", self.called(at)), &Became::Narrower, Part::Enum);
                }
                for come in is.iter().filter(|one| !before.contains(&canonical(one))) {
                    self.tell(format!("{} may be {come}, too", self.called(at)), &Became::Wider, Part::Enum);
                }
            }
            (None, Some(is)) => {
                let is = Value::Array(is);
                self.tell(format!("{} has only some values now: {is}", self.called(at)), &Became::Narrower, Part::Enum);
            }
            (_, None) => self.tell(format!("{} may be any value now", self.called(at)), &Became::Wider, Part::Enum),
        }
    }

    /// A part that comes or goes as a whole is reported as a property.
    fn required(&mut self, before: &Members, after: &Members, at: &str) {
        let both = |name: &&String| has_property(before, name) == has_property(after, name);
        let (was, is) = (required(before), required(after));
        for name in is.difference(&was).filter(both) {
            self.tell(format!("`{}` is required now", join(at, name)), &Became::Narrower, Part::Required);
        }
        for name in was.difference(&is).filter(both) {
            self.tell(format!("`{}` is no longer required", join(at, name)), &Became::Wider, Part::Optional);
        }
    }

    fn properties(&mut self, before: &Members, after: &Members, at: &str, room: usize) {
        let of = |schema: &Members| schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        let (was, is) = (of(before), of(after));
        for (name, old) in &was {
            let path = join(at, name);
            match (is.get(name), self.side) {
                (Some(new), _) => self.schemas(old, new, &path, room - 1),
                (None, Side::Takes) => self.add(format!("no longer takes `{path}`"), true, Part::Removed),
                (None, Side::Gives) => self.add(format!("no longer returns `{path}`"), true, Part::Removed),
            }
        }
        let needed = required(after);
        for (name, new) in is.iter().filter(|(name, _)| !was.contains_key(*name)) {
            let path = join(at, name);
            self.texts(&Value::Null, new, &format!("`{path}`"));
            match self.side {
                Side::Takes if needed.contains(name) => {
                    self.add(format!("has a new required argument `{path}`"), true, Part::Required);
                }
                Side::Takes => self.add(format!("takes `{path}`, too"), false, Part::Optional),
                Side::Gives => self.add(format!("returns `{path}`, too"), false, Part::Optional),
            }
        }
    }
}

fn required(schema: &Members) -> BTreeSet<String> {
    schema.get("required").map(texts).unwrap_or_default()
}

fn has_property(schema: &Members, name: &str) -> bool {
    schema.get("properties").and_then(|properties| properties.get(name)).is_some()
}

fn join(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

fn texts(value: &Value) -> BTreeSet<String> {
    value.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

const ALL: [&str; 6] = ["string", "number", "boolean", "object", "array", "null"];

/// The types that a schema admits; a number may be an integer.
fn types(value: &Value) -> BTreeSet<String> {
    let mut types = match value {
        Value::String(one) => BTreeSet::from([one.clone()]),
        Value::Array(_) => texts(value),
        _ => ALL.iter().map(|one| (*one).to_owned()).collect(),
    };
    if types.contains("number") {
        types.insert("integer".to_owned());
    }
    types
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Change, Part, Side, compare};

    #[test]
    fn each_change_is_reported_and_breaks_the_right_side() {
        let object = |properties: Value, required: Value| json!({ "type": "object", "properties": properties, "required": required });
        let a = |schema: Value| object(json!({ "a": schema }), json!([]));
        let text = || a(json!({ "type": "string" }));
        for (old, new, what, takes, gives) in [
            (text(), object(json!({}), json!([])), "no longer", true, true),
            (object(json!({}), json!([])), text(), "`a`, too", false, false),
            (text(), object(json!({ "a": { "type": "string" } }), json!(["a"])), "`a` is required now", true, false),
            (object(json!({ "a": { "type": "string" } }), json!(["a"])), text(), "no longer required", false, true),
            (text(), a(json!({ "type": ["string", "null"] })), "null or string instead of string", false, true),
            (a(json!({ "type": "number" })), a(json!({ "type": "integer" })), "integer instead of number", true, false),
            (text(), a(json!({ "type": "boolean" })), "boolean instead of string", true, true),
            (text(), a(json!({ "type": "string", "enum": ["x"] })), "only some values", true, false),
            (a(json!({ "enum": ["x", "y"] })), a(json!({ "enum": ["x"] })), "no longer be \"y\"", true, false),
            (a(json!({ "enum": ["x"] })), a(json!({ "enum": ["x", "y"] })), "may be \"y\", too", false, true),
            (a(json!({ "minimum": 1 })), a(json!({ "minimum": 2 })), "1 → 2", true, false),
            (a(json!({ "minimum": 1 })), a(json!({})), "1 → nothing", false, true),
            (a(json!({ "maximum": 2 })), a(json!({ "maximum": 1 })), "2 → 1", true, false),
            (a(json!({})), a(json!({ "maxLength": 9 })), "nothing → 9", true, false),
            (a(json!({ "pattern": "a" })), a(json!({ "pattern": "b" })), "`pattern` changed", true, true),
            (
                a(json!({ "items": { "type": "string" } })),
                a(json!({ "items": { "type": "null" } })),
                "`a[]` is null",
                true,
                true,
            ),
            (text(), a(json!({ "type": "string", "description": "x" })), "`description` changed", false, false),
            (a(json!({ "oneOf": [1] })), a(json!({ "oneOf": [2] })), "`oneOf` changed", true, true),
            (
                json!({ "type": "object" }),
                json!({ "type": "object", "additionalProperties": false }),
                "additional",
                true,
                false,
            ),
        ] {
            for (side, breaks) in [(Side::Takes, takes), (Side::Gives, gives)] {
                let found = compare(&old, &new, side);
                let [Change { what: told, breaks: broken, .. }] = found.as_slice() else {
                    panic!("{old} {new}: {found:?}")
                };
                assert!(told.contains(what), "{old} {new}: {told}");
                assert_eq!(*broken, breaks, "{old} {new}: {told}");
            }
            assert_eq!(compare(&new, &new, Side::Takes), []);
        }
        let new = object(json!({ "a": { "type": "string" } }), json!(["a"]));
        let found = compare(&object(json!({}), json!([])), &new, Side::Takes);
        assert_eq!(
            found,
            [Change { what: "has a new required argument `a`".to_owned(), breaks: true, part: Part::Required }]
        );
    }

    #[test]
    fn each_change_names_its_part() {
        let a = |schema: Value| json!({ "type": "object", "properties": { "a": schema } });
        for (old, new, part) in [
            (a(json!({})), a(json!({ "description": "x" })), Part::Text),
            (a(json!({ "default": 1 })), a(json!({ "default": 2 })), Part::Default),
            (a(json!({ "enum": [1] })), a(json!({ "enum": [1, 2] })), Part::Enum),
            (a(json!({})), json!({ "type": "object", "properties": { "a": {} }, "required": ["a"] }), Part::Required),
            (json!({ "type": "object" }), a(json!({})), Part::Optional),
            (a(json!({})), json!({ "type": "object", "properties": {} }), Part::Removed),
            (a(json!({ "maximum": 1 })), a(json!({ "maximum": 2 })), Part::Other),
        ] {
            let found = compare(&old, &new, Side::Takes);
            assert!(found.iter().all(|one| one.part == part) && !found.is_empty(), "{old} {new}: {found:?}");
        }
    }

    /// Texts in parts that are compared as a whole, and texts that come with a property.
    #[test]
    fn a_text_is_reported_wherever_it_stands() {
        type Schema<'s> = &'s dyn Fn(&str) -> Value;
        let said = |text: &str| json!({ "type": "string", "description": text });
        let deep = |text: &str| (0..40).fold(said(text), |inner, _| json!({ "properties": { "a": inner } }));
        let schemas: [Schema<'_>; 11] = [
            &|text| json!({ "anyOf": [{ "type": "null" }, said(text)] }),
            &|text| json!({ "$defs": { "default": said(text) } }),
            &|text| json!({ "properties": { "a": { "$defs": { "b": { "properties": { "enum": said(text) } } } } } }),
            &|text| json!({ "items": [said(text)] }),
            &|text| json!({ "additionalProperties": said(text) }),
            &|text| json!({ "patternProperties": { "^a": said(text) } }),
            &|text| json!({ "if": said(text) }),
            &|text| json!({ "x-note": text }),
            &|text| json!({ "properties": text }),
            &|text| json!(text),
            &deep,
        ];
        for (index, schema) in schemas.iter().enumerate() {
            for side in [Side::Takes, Side::Gives] {
                let found = compare(&schema("x"), &schema("y"), side);
                assert_eq!(found.iter().filter(|one| one.part == Part::Text).count(), 1, "{index}: {found:?}");
            }
        }
        let with = json!({ "properties": { "a": said("x") } });
        let parts =
            |old: &Value, new: &Value| compare(old, new, Side::Takes).iter().map(|one| one.part).collect::<Vec<_>>();
        assert_eq!(parts(&json!({}), &with), [Part::Text, Part::Optional]);
        assert_eq!(parts(&with, &json!({})), [Part::Removed]);
        // Values are no texts.
        for (old, new) in
            [(json!({ "const": "x" }), json!({ "const": "y" })), (json!({ "type": "x" }), json!({ "type": "y" }))]
        {
            let (old, new) = (json!({ "anyOf": [old] }), json!({ "anyOf": [new] }));
            assert_eq!(parts(&old, &new), [Part::Other]);
        }
        let unknown = |required: Value| json!({ "required": required });
        assert_eq!(parts(&unknown(json!([])), &unknown(json!(["b"]))), [Part::Required]);
        assert_eq!(parts(&unknown(json!([])), &unknown(json!("b"))), [Part::Other]);
    }

    #[test]
    fn deep_schemas_come_to_an_end() {
        let deep = |leaf: &str| {
            (0..200).fold(json!({ "type": leaf }), |inner, _| json!({ "type": "object", "properties": { "a": inner } }))
        };
        let found = compare(&deep("string"), &deep("null"), Side::Takes);
        assert!(found.len() == 1 && found[0].what.contains("deep inside"), "{found:?}");
    }
}

//! What changed between two schemas, and which callers it breaks: a caller may send only what the new schema of arguments takes, and relies
//! on what the old schema of results said. A changed keyword whose meaning is not known here breaks both.

use std::collections::{BTreeSet, HashSet};

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
            return self.add(format!("{} changed{}", self.called(at), from_to(old, new)), true, Part::Other);
        };
        if room == 0 {
            return self.add(format!("{} changed somewhere deep inside", self.called(at)), true, Part::Other);
        }
        let keywords: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for keyword in keywords {
            let (old, new) = (before.get(keyword), after.get(keyword));
            if old == new {
                continue;
            }
            match (keyword.as_str(), old, new) {
                ("properties", ..) => self.properties(before, after, at, room),
                ("required", ..) => self.required(before, after, at),
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
        let both = |name: &&String| has_property(before, name) && has_property(after, name);
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
        for name in is.keys().filter(|name| !was.contains_key(*name)) {
            let path = join(at, name);
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

    #[test]
    fn deep_schemas_come_to_an_end() {
        let deep = |leaf: &str| {
            (0..200).fold(json!({ "type": leaf }), |inner, _| json!({ "type": "object", "properties": { "a": inner } }))
        };
        let found = compare(&deep("string"), &deep("null"), Side::Takes);
        assert!(found.len() == 1 && found[0].what.contains("deep inside"), "{found:?}");
    }
}

//! Gemini's schemas: a part of OpenAPI 3.0, without references.

use serde_json::{Map, Value, json};
use wire::pointer;

use super::{NoteKind, Notes, target};

/// How deep a schema is followed, and how many schemas are looked at: references are written out.
const DEEPEST: usize = 24;
const STEPS: usize = 20_000;

/// Keywords that stay as they are.
const KEPT: [&str; 11] = [
    "title",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
    "pattern",
    "propertyOrdering",
];
/// The formats that are known there.
const FORMATS: [&str; 7] = ["float", "double", "int32", "int64", "enum", "date-time", "byte"];
/// Keywords that restrict values and are not known there.
const LOST: [&str; 14] = [
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "uniqueItems",
    "contains",
    "prefixItems",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "not",
    "if",
    "additionalItems",
];

/// A tool's parameters; `None` for a tool without any.
pub(super) fn parameters(schema: &Value, notes: &mut Notes) -> Option<Value> {
    let mut writer = Writer { root: schema, notes, open: Vec::new(), steps: STEPS };
    let Value::Object(mut members) = writer.schema(schema, "", 0) else { return None };
    if members.remove("anyOf").is_some() {
        writer.notes.add(NoteKind::Unchecked, "", "a union at the root is not known there: it was left out");
    }
    members.remove("nullable");
    members.insert("type".to_owned(), json!("OBJECT"));
    members.contains_key("properties").then_some(Value::Object(members))
}

struct Writer<'w> {
    root: &'w Value,
    notes: &'w mut Notes,
    /// The references that are being written out.
    open: Vec<String>,
    steps: usize,
}

impl Writer<'_> {
    fn schema(&mut self, schema: &Value, at: &str, depth: usize) -> Value {
        if depth > DEEPEST || self.steps == 0 {
            self.notes.add(NoteKind::Unchecked, at, "it is too deep or too large to be written out");
            return json!({ "type": "OBJECT" });
        }
        self.steps -= 1;
        let Value::Object(members) = schema else { return self.anything(at) };
        if let Some(reference) = members.get("$ref") {
            return self.reference(reference, schema, at, depth);
        }
        for word in ["allOf", "anyOf", "oneOf"] {
            if let Some(Value::Array(parts)) = members.get(word) {
                return self.parts(word, parts, schema, at, depth);
            }
        }
        self.plain(members, at, depth)
    }

    fn anything(&mut self, at: &str) -> Value {
        self.notes.add(NoteKind::Narrowed, at, "values of any type are not known there: texts only");
        json!({ "type": "STRING" })
    }

    fn reference(&mut self, reference: &Value, schema: &Value, at: &str, depth: usize) -> Value {
        let Some((meant, pointer)) = reference.as_str().and_then(|name| target(self.root, name)) else {
            self.notes.add(NoteKind::Unchecked, at, "it refers to another document or an anchor");
            return json!({ "type": "OBJECT" });
        };
        if self.open.contains(&pointer) {
            self.notes.add(NoteKind::Unchecked, at, "it refers to itself, which cannot be written out");
            return json!({ "type": "OBJECT" });
        }
        self.open.push(pointer.clone());
        let mut written = self.schema(meant, at, depth + 1);
        self.open.pop();
        describe(&mut written, schema);
        written
    }

    /// `allOf` of objects becomes one object; a union becomes `anyOf`, without `null`.
    fn parts(&mut self, word: &str, parts: &[Value], schema: &Value, at: &str, depth: usize) -> Value {
        let mut rest = schema.as_object().cloned().unwrap_or_default();
        rest.remove(word);
        let own = rest
            .keys()
            .any(|key| matches!(key.as_str(), "properties" | "items" | "enum" | "anyOf" | "oneOf" | "allOf"));
        let written = |writer: &mut Self, (index, part): (usize, &Value)| {
            writer.schema(part, &format!("{at}/{word}/{index}"), depth + 1)
        };
        if word == "allOf" {
            let mut whole = if own { self.schema(&Value::Object(rest), at, depth + 1) } else { json!({}) };
            for part in parts.iter().enumerate() {
                let part = written(self, part);
                merge(&mut whole, part);
            }
            describe(&mut whole, schema);
            return whole;
        }
        if own {
            self.notes.add(
                NoteKind::Unchecked,
                at,
                format!("`{word}` next to other keywords is not known there: it was left out"),
            );
            return self.schema(&Value::Object(rest), at, depth + 1);
        }
        let is_null = |part: &&Value| part.get("type") == Some(&json!("null"));
        let has_null = parts.iter().any(|part| is_null(&part));
        let mut branches: Vec<Value> =
            parts.iter().enumerate().filter(|(_, part)| !is_null(part)).map(|part| written(self, part)).collect();
        let mut whole = if branches.len() == 1 { branches.remove(0) } else { json!({ "anyOf": branches }) };
        if let (Value::Object(members), true) = (&mut whole, has_null) {
            members.insert("nullable".to_owned(), json!(true));
        }
        describe(&mut whole, schema);
        whole
    }

    fn plain(&mut self, members: &Map<String, Value>, at: &str, depth: usize) -> Value {
        let types = super::strict::allowed_types(&Value::Object(members.clone())).unwrap_or_default();
        let is_nullable = types.iter().any(|one| one == "null");
        let mut types: Vec<&String> = types.iter().filter(|one| *one != "null").collect();
        if types.iter().any(|one| *one == "number") {
            types.retain(|one| *one != "integer");
        }
        let mut written = match types.as_slice() {
            [] => self.anything(at),
            [one] => self.of_type(members, one, at, depth),
            several => {
                let branches: Vec<Value> = several.iter().map(|one| self.of_type(members, one, at, depth)).collect();
                json!({ "anyOf": branches })
            }
        };
        if let (Value::Object(written), true) = (&mut written, is_nullable) {
            written.insert("nullable".to_owned(), json!(true));
        }
        describe(&mut written, &Value::Object(members.clone()));
        written
    }

    fn of_type(&mut self, members: &Map<String, Value>, kind: &str, at: &str, depth: usize) -> Value {
        let mut written = Map::new();
        written.insert("type".to_owned(), json!(kind.to_ascii_uppercase()));
        for (word, value) in members {
            match word.as_str() {
                word if KEPT.contains(&word) => {
                    written.insert(word.to_owned(), value.clone());
                }
                "format" if value.as_str().is_some_and(|format| FORMATS.contains(&format)) => {
                    written.insert("format".to_owned(), value.clone());
                }
                word if LOST.contains(&word) => {
                    self.notes.add(NoteKind::Unchecked, at, format!("`{word}` is not known there"));
                }
                _ => {}
            }
        }
        self.values(members, kind, at, &mut written);
        match kind {
            "object" => self.object(members, at, depth, &mut written),
            "array" => {
                let items = match members.get("items") {
                    Some(items @ Value::Object(_)) => self.schema(items, &format!("{at}/items"), depth + 1),
                    _ => self.anything(&format!("{at}/items")),
                };
                written.insert("items".to_owned(), items);
            }
            _ => {}
        }
        Value::Object(written)
    }

    /// Enumerations and constants: only texts can be listed there, and no empty one.
    fn values(&mut self, members: &Map<String, Value>, kind: &str, at: &str, written: &mut Map<String, Value>) {
        let values = match (members.get("enum"), members.get("const")) {
            (Some(Value::Array(values)), _) => values.clone(),
            (_, Some(one)) => vec![one.clone()],
            _ => return,
        };
        let texts: Vec<&Value> =
            values.iter().filter(|value| value.as_str().is_some_and(|text| !text.is_empty())).collect();
        let others = values.iter().filter(|value| !value.is_null()).count() - texts.len();
        if kind == "string" && !texts.is_empty() {
            written.insert("enum".to_owned(), json!(texts));
        }
        if others > 0 && (kind != "string" || texts.len() < values.len()) {
            self.notes.add(NoteKind::Unchecked, at, "only texts that are not empty can be enumerated there");
        }
    }

    fn object(&mut self, members: &Map<String, Value>, at: &str, depth: usize, written: &mut Map<String, Value>) {
        let mut properties = Map::new();
        for (name, property) in members.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let below = pointer::member(&format!("{at}/properties"), name);
            let one = self.schema(property, &below, depth + 1);
            properties.insert(name.clone(), one);
        }
        let takes_others = members.get("additionalProperties").is_some_and(|others| *others != json!(false));
        if takes_others || properties.is_empty() && !at.is_empty() {
            self.notes.add(NoteKind::Narrowed, at, "members of any name are not known there");
        }
        let required = members.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: Vec<&Value> =
            required.filter(|name| name.as_str().is_some_and(|name| properties.contains_key(name))).collect();
        if !required.is_empty() {
            written.insert("required".to_owned(), json!(required));
        }
        if !properties.is_empty() {
            written.insert("properties".to_owned(), Value::Object(properties));
        }
    }
}

/// Takes over the description that stands around.
fn describe(written: &mut Value, around: &Value) {
    if let (Value::Object(members), Some(Value::String(text))) = (written, around.get("description")) {
        members.insert("description".to_owned(), json!(text));
    }
}

/// Adds a part of an `allOf`.
fn merge(whole: &mut Value, part: Value) {
    let (Value::Object(whole), Value::Object(part)) = (whole, part) else { return };
    for (word, value) in part {
        match (whole.get_mut(&word), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (Some(Value::Array(known)), Value::Array(more)) if word == "required" => {
                known.extend(more);
                known.dedup();
            }
            (Some(_), _) => {}
            (None, value) => {
                whole.insert(word, value);
            }
        }
    }
}

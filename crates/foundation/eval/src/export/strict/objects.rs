//! Objects: closed, every member required.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use wire::pointer;

use super::super::NoteKind;
use super::{Closer, Member, Plan};

impl Closer<'_> {
    /// The strict form of an object's schema.
    pub(super) fn object(&mut self, schema: &Value, at: &str, depth: usize) -> (Value, Plan) {
        if schema.get("enum").is_some() || schema.get("const").is_some() {
            return self.not_strict(at, "only certain objects fit");
        }
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        if let Some(why) = self.open(schema, properties, at) {
            return self.not_strict(at, why);
        }
        if let Some(name) = required.iter().find(|name| !properties.contains_key(**name)) {
            let name = wire::escape::snippet(name, 60);
            return self.not_strict(at, &format!("`{name}` is required and not described"));
        }
        let mut strict = self.kept(schema, &["object".to_owned()], at);
        let (mut members, mut plans) = (Map::new(), BTreeMap::new());
        for (name, property) in properties {
            let is_optional = !required.contains(&name.as_str());
            if is_optional && *property == json!(false) {
                continue;
            }
            let below = pointer::member(&format!("{at}/properties"), name);
            let (one, plan) = self.close(property, &below, depth + 1);
            members.insert(name.clone(), if is_optional { or_null(one) } else { one });
            plans.insert(name.clone(), Member { is_optional, plan });
        }
        let names: Vec<&String> = members.keys().collect();
        strict.insert("required".to_owned(), json!(names));
        strict.insert("properties".to_owned(), Value::Object(members));
        strict.insert("additionalProperties".to_owned(), json!(false));
        let is_kept = plans.values().all(|member| !member.is_optional && matches!(member.plan, Plan::Keep));
        (Value::Object(strict), if is_kept { Plan::Keep } else { Plan::Members(plans) })
    }

    /// Why an object cannot be closed. Notes it where closing only leaves something out.
    fn open(&mut self, schema: &Value, properties: &Map<String, Value>, at: &str) -> Option<&'static str> {
        if schema.get("patternProperties").and_then(Value::as_object).is_some_and(|all| !all.is_empty()) {
            return Some("it has members whose names follow a pattern");
        }
        let others = ["additionalProperties", "unevaluatedProperties"].iter().find_map(|word| schema.get(*word));
        let takes_others = others.is_some_and(|others| *others != json!(false));
        if properties.is_empty() {
            let is_unsaid = others.is_none() && !at.is_empty();
            return (takes_others || is_unsaid).then_some("it has members of any name");
        }
        if takes_others {
            self.notes.add(NoteKind::Narrowed, at, "members of other names are left out");
        }
        None
    }
}

/// A strict schema that `null` fits, too.
pub(super) fn or_null(strict: Value) -> Value {
    let Value::Object(mut members) = strict else { return strict };
    if let Some(Value::Array(branches)) = members.get_mut("anyOf") {
        if !branches.iter().any(|branch| branch.get("type") == Some(&json!("null"))) {
            branches.push(json!({ "type": "null" }));
        }
        return Value::Object(members);
    }
    let is_simple = |one: &Value| one.as_str().is_some_and(|one| !matches!(one, "object" | "array"));
    let types = match members.get("type") {
        Some(Value::String(one)) if is_simple(&json!(one)) => vec![json!(one)],
        Some(Value::Array(all)) if all.iter().all(is_simple) => all.clone(),
        _ => Vec::new(),
    };
    if types.is_empty() || members.contains_key("const") {
        let description = members.remove("description");
        let mut union = Map::new();
        union.extend(description.map(|text| ("description".to_owned(), text)));
        union.insert("anyOf".to_owned(), json!([members, { "type": "null" }]));
        return Value::Object(union);
    }
    let mut types = types;
    if !types.contains(&json!("null")) {
        types.push(json!("null"));
    }
    if let Some(Value::Array(values)) = members.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    let types = if let [one] = types.as_slice() { one.clone() } else { Value::Array(types) };
    members.insert("type".to_owned(), types);
    Value::Object(members)
}

//! Keywords for objects and arrays.

use serde_json::{Map, Value};
use wire::json::{order, same};
use wire::pointer;

use super::{Fit, Reader};

/// How many items are compared with one another.
pub(super) const COMPARED: usize = 1_000;

impl Reader<'_> {
    pub(super) fn object(
        &self,
        name: &str,
        rule: &Value,
        siblings: &Map<String, Value>,
        object: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Fit {
        let below = |member: &str| pointer::member(at, member);
        match (name, rule) {
            ("properties", Value::Object(rules)) => {
                let present = rules.iter().filter_map(|(member, rule)| Some((member, rule, object.get(member)?)));
                Fit::all(present.map(|(member, rule, value)| self.read(rule, value, &below(member), depth + 1)))
            }
            ("required", Value::Array(names)) => {
                let missing = names.iter().filter_map(Value::as_str).find(|member| !object.contains_key(*member));
                Fit::of(missing.is_none(), at, || format!("`{}` is missing", missing.unwrap_or_default()))
            }
            ("additionalProperties", _) if siblings.contains_key("patternProperties") => Fit::Unsure,
            ("additionalProperties", _) => {
                let named = siblings.get("properties").and_then(Value::as_object);
                let others = object.iter().filter(|(member, _)| !named.is_some_and(|n| n.contains_key(*member)));
                Fit::all(others.map(|(member, value)| self.read(rule, value, &below(member), depth + 1)))
            }
            ("minProperties" | "maxProperties", _) => self.counted(name, rule, object.len(), at),
            _ => self.unread(),
        }
    }

    pub(super) fn array(
        &self,
        name: &str,
        rule: &Value,
        siblings: &Map<String, Value>,
        array: &[Value],
        at: &str,
        depth: usize,
    ) -> Fit {
        match name {
            "items" if rule.is_array() || siblings.contains_key("prefixItems") => Fit::Unsure,
            "items" => {
                let each = array.iter().enumerate();
                Fit::all(each.map(|(index, item)| self.read(rule, item, &format!("{at}/{index}"), depth + 1)))
            }
            "uniqueItems" if *rule != Value::Bool(true) => Fit::Yes,
            "uniqueItems" => {
                let spent = array.len() > COMPARED || array.iter().any(|_| !(self.spend)());
                let repeated = || array.iter().enumerate().any(|(i, a)| array[..i].iter().any(|b| same(a, b)));
                // Of two numbers whose digits were lost it is not known whether they are the same.
                let spent = spent || array.iter().any(|item| matches!(item, Value::Number(n) if order(n, n).is_none()));
                if spent { Fit::Unsure } else { Fit::of(!repeated(), at, || "an item is repeated".to_owned()) }
            }
            _ => self.counted(name, rule, array.len(), at),
        }
    }
}

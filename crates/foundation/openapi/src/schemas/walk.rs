//! One schema, converted: references, members and combinations. Keywords with plain values are in `keywords`.

use serde_json::{Map, Value, json};

use super::{Direction, Schemas, keywords, variants};
use crate::reading::Dialect;

/// How deep schemas may nest within one component; a validator has bounds of its own.
const DEEPEST: usize = 24;

/// A walk through one component or one schema of an operation.
pub(super) struct Walk<'w, 's, 'v> {
    pub(super) all: &'w mut Schemas<'s, 'v>,
    direction: Direction,
    base: String,
    depth: usize,
    /// Whether the schema applies to the same value as the component's root.
    in_place: bool,
    pub(super) refs: Vec<String>,
}

impl<'w, 's, 'v> Walk<'w, 's, 'v> {
    pub(super) fn new(all: &'w mut Schemas<'s, 'v>, direction: Direction, base: &str) -> Self {
        Self { all, direction, base: base.to_owned(), depth: 0, in_place: true, refs: Vec::new() }
    }

    /// Converts a schema.
    pub(super) fn schema(&mut self, schema: &'v Value) -> Value {
        match schema {
            Value::Bool(_) if self.all.source.dialect == Dialect::OpenApi31 => schema.clone(),
            Value::Object(members) => self.members(members),
            _ => json!({}),
        }
    }

    /// Converts the members of a schema.
    pub(super) fn members(&mut self, from: &'v Map<String, Value>) -> Value {
        if self.depth >= DEEPEST {
            return super::cut_of(&keywords::types(from).map_or_else(|| json!({}), |kind| json!({"type": kind})));
        }
        self.depth += 1;
        let converted = self.at_depth(from);
        self.depth -= 1;
        converted
    }

    fn at_depth(&mut self, from: &'v Map<String, Value>) -> Value {
        let reference = from.get("$ref").and_then(Value::as_str);
        if let Some(reference) = reference {
            let target = self.reference(reference);
            // In 3.0 and Swagger 2, what stands next to `$ref` is ignored.
            if self.all.source.dialect != Dialect::OpenApi31 || from.len() == 1 {
                return target;
            }
            let mut to = self.keywords(from);
            if let Value::Object(target) = target {
                to.extend(target);
            }
            return Value::Object(to);
        }
        let to = self.keywords(from);
        variants::nullable(from, to)
    }

    /// A reference, or anything where it leads nowhere or round in a circle.
    fn reference(&mut self, reference: &str) -> Value {
        match self.all.source.target(reference) {
            Err(why) => {
                let base = self.base.clone();
                self.all.note(&base, why);
                json!({})
            }
            Ok((_, pointer)) => {
                if self.in_place && self.all.leads_back(&pointer, &self.base) {
                    return json!({});
                }
                let name = self.all.name(&pointer);
                self.refs.push(pointer);
                json!({"$ref": format!("#/$defs/{name}")})
            }
        }
    }

    fn keywords(&mut self, from: &'v Map<String, Value>) -> Map<String, Value> {
        let mut to = Map::new();
        if let Some(kind) = keywords::types(from) {
            to.insert("type".to_owned(), kind);
        }
        keywords::prose(from, self.all.limits.text, &mut to);
        for (name, value) in from {
            if let Some(value) = keywords::plain(name, value) {
                to.insert(name.clone(), value);
            } else if let Some(value) = self.nested(name, value) {
                to.insert(name.clone(), value);
            }
        }
        keywords::bounds(from, &mut to);
        keywords::format(from, &mut to);
        keywords::items_list(&mut to);
        self.pattern(from, &mut to);
        self.properties(from, &mut to);
        variants::discriminate(self, from, &mut to);
        to
    }

    /// Keywords whose values are schemas.
    fn nested(&mut self, name: &str, value: &'v Value) -> Option<Value> {
        match (name, value) {
            ("allOf" | "anyOf" | "oneOf", Value::Array(ways)) if !ways.is_empty() => {
                Some(ways.iter().map(|way| self.schema(way)).collect())
            }
            ("not" | "if" | "then" | "else", Value::Object(_) | Value::Bool(_)) => Some(self.schema(value)),
            ("prefixItems" | "items", Value::Array(list)) if !list.is_empty() => Some(self.below_each(list)),
            (
                "items"
                | "additionalProperties"
                | "contains"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                Value::Object(_),
            ) => Some(self.below(value)),
            ("additionalProperties" | "unevaluatedItems" | "unevaluatedProperties", Value::Bool(_)) => {
                Some(value.clone())
            }
            ("dependentSchemas", Value::Object(each)) => {
                Some(each.iter().map(|(name, one)| (name.clone(), self.schema(one))).collect())
            }
            ("patternProperties", Value::Object(each)) => {
                let mut kept = Map::new();
                for (pattern, one) in each {
                    if self.all.is_pattern(pattern) {
                        let one = self.below(one);
                        kept.insert(pattern.clone(), one);
                    }
                }
                (!kept.is_empty()).then_some(Value::Object(kept))
            }
            _ => None,
        }
    }

    fn below_each(&mut self, list: &'v [Value]) -> Value {
        list.iter().map(|one| self.below(one)).collect()
    }

    /// A schema of a part of the value.
    pub(super) fn below(&mut self, schema: &'v Value) -> Value {
        let in_place = std::mem::replace(&mut self.in_place, false);
        let converted = self.schema(schema);
        self.in_place = in_place;
        converted
    }

    /// Properties, without those that only the other direction has, and `required`.
    fn properties(&mut self, from: &'v Map<String, Value>, to: &mut Map<String, Value>) {
        let mut hidden = Vec::new();
        if let Some(Value::Object(properties)) = from.get("properties") {
            let mut kept = Map::new();
            for (name, schema) in properties {
                if self.is_hidden(schema) {
                    hidden.push(name.as_str());
                    continue;
                }
                let schema = self.below(schema);
                kept.insert(name.clone(), schema);
            }
            to.insert("properties".to_owned(), Value::Object(kept));
        }
        let required = keywords::required(from, &hidden);
        if !required.is_empty() {
            to.insert("required".to_owned(), required.into());
        }
    }

    /// Whether a property is read only (in an input) or write only (in an output).
    fn is_hidden(&self, schema: &'v Value) -> bool {
        let flag = match self.direction {
            Direction::Input => "readOnly",
            Direction::Output => "writeOnly",
        };
        let says = |schema: &Value| schema.get(flag).and_then(Value::as_bool) == Some(true);
        says(schema) || self.all.source.resolve(schema, "").is_ok_and(|(schema, _)| says(schema))
    }

    fn pattern(&mut self, from: &Map<String, Value>, to: &mut Map<String, Value>) {
        if let Some(Value::String(pattern)) = from.get("pattern")
            && self.all.is_pattern(pattern)
        {
            to.insert("pattern".to_owned(), pattern.clone().into());
        }
    }
}

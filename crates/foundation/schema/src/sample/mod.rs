//! Values that a schema may admit: the plainest one for each view, required members only. Whether it does admit them is for
//! the validator to say.

use serde_json::{Map, Value, json};

use super::text::text;
use super::views::{View, views};
use crate::dice::Dice;

/// How deep a value may be.
const DEPTH: usize = 8;
/// How many items a list may have to have.
const ITEMS: u64 = 64;

/// How many schemas are looked at for one value, and for all of them.
const STEPS: usize = 10_000;
const STEPS_IN_ALL: usize = 400_000;

/// What makes values of one schema.
pub(super) struct Maker<'m> {
    root: &'m Value,
    dice: Dice,
    /// How many schemas may still be looked at for the present value.
    steps: usize,
    /// And for those after it.
    left: usize,
}

impl<'m> Maker<'m> {
    pub(super) const fn new(root: &'m Value, dice: Dice) -> Self {
        Self { root, dice, steps: 0, left: STEPS_IN_ALL }
    }

    /// A value that the schema may admit.
    pub(super) fn value(&mut self, schema: &Value) -> Option<Value> {
        self.begin();
        self.made(schema, DEPTH)
    }

    /// A value for one view.
    pub(super) fn of(&mut self, view: &View) -> Option<Value> {
        self.begin();
        self.seen(view, DEPTH)
    }

    /// Every way to meet a schema.
    pub(super) fn ways(&mut self, schema: &Value) -> Vec<View> {
        self.begin();
        views(schema, self.root, &mut self.steps)
    }

    fn begin(&mut self) {
        // What the last value left over.
        self.left += self.steps;
        self.steps = STEPS.min(self.left);
        self.left -= self.steps;
    }

    fn made(&mut self, schema: &Value, room: usize) -> Option<Value> {
        self.steps = self.steps.checked_sub(1)?;
        if room == 0 {
            return None;
        }
        let views = views(schema, self.root, &mut self.steps);
        views.iter().find_map(|view| self.seen(view, room))
    }

    fn seen(&mut self, view: &View, room: usize) -> Option<Value> {
        if let Some(only) = view.get("const") {
            return Some(only.clone());
        }
        if let Some(members) = view.get("enum").and_then(Value::as_array) {
            return members.get(self.dice.place(members.len())).cloned();
        }
        let kind = kind(view);
        let given = view.get("default").or_else(|| view.get("examples")?.as_array()?.first());
        if let Some(given) = given.filter(|given| kind.is_none_or(|kind| is_a(given, kind)) && !given.is_null()) {
            return Some(given.clone());
        }
        match kind.unwrap_or("string") {
            "object" => self.object(view, room),
            "array" => self.array(view, room),
            "integer" | "number" => number(view, kind == Some("integer"), &mut self.dice),
            "boolean" => Some(json!(true)),
            "null" => Some(Value::Null),
            _ => text(view, &mut self.dice).map(Value::String),
        }
    }

    fn object(&mut self, view: &View, room: usize) -> Option<Value> {
        let nothing = Map::new();
        let properties = view.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
        let mut members = Map::new();
        let mut wanted: Vec<String> = required(view).map(str::to_owned).collect();
        while let Some(name) = wanted.pop() {
            if !members.contains_key(&name) {
                let value = match properties.get(&name) {
                    Some(property) => self.made(property, room - 1)?,
                    None => json!("proof"),
                };
                wanted.extend(dependents(view, &name).map(str::to_owned));
                members.insert(name, value);
            }
        }
        let least = view.get("minProperties").and_then(Value::as_u64).unwrap_or(0) as usize;
        for (name, property) in properties {
            if members.len() >= least {
                break;
            }
            if !members.contains_key(name) {
                members.extend(self.made(property, room - 1).map(|value| (name.clone(), value)));
            }
        }
        // In the schema's order, as a person would write them.
        let place = |name: &str| properties.keys().position(|known| known == name);
        let mut members: Vec<_> = members.into_iter().collect();
        members.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
        Some(Value::Object(members.into_iter().collect()))
    }

    fn array(&mut self, view: &View, room: usize) -> Option<Value> {
        let bound = |name: &str| view.get(name).and_then(Value::as_u64);
        let most = bound("maxItems").unwrap_or(u64::MAX);
        let least = bound("minItems").unwrap_or(0);
        let wanted = least.max(1).min(most);
        if least > ITEMS {
            return None;
        }
        let mut items: Vec<Value> = Vec::new();
        let prefix = view.get("prefixItems").and_then(Value::as_array);
        for schema in prefix.into_iter().flatten() {
            items.push(self.made(schema, room - 1)?);
        }
        let anything = json!(true);
        let schema = view.get("items").filter(|items| !items.is_array()).unwrap_or(&anything);
        let unique = view.get("uniqueItems") == Some(&json!(true));
        while (items.len() as u64) < wanted {
            let Some(item) = self.made(schema, room - 1) else {
                return (items.len() as u64 >= least).then_some(Value::Array(items));
            };
            let item = if unique { self.another(item, &items, schema)? } else { item };
            items.push(item);
        }
        Some(Value::Array(items))
    }

    /// A value like `item` that is none of `items`.
    fn another(&mut self, item: Value, items: &[Value], schema: &Value) -> Option<Value> {
        if !items.contains(&item) {
            return Some(item);
        }
        let views = views(schema, self.root, &mut self.steps);
        let members = views.into_iter().filter_map(|view| view.get("enum")?.as_array().cloned()).flatten();
        let more = (1..=ITEMS as u32).map(|number| match &item {
            Value::String(text) => json!(format!("{text}{number}")),
            Value::Number(start) => match start.as_i64() {
                Some(start) => json!(start.saturating_add(i64::from(number))),
                None => json!(start.as_f64().unwrap_or_default() + f64::from(number)),
            },
            Value::Bool(value) => json!(!value),
            other => other.clone(),
        });
        members.chain(more).find(|one| !items.contains(one))
    }
}

fn number(view: &View, whole: bool, dice: &mut Dice) -> Option<Value> {
    let bound = |name: &str| view.get(name).and_then(Value::as_f64);
    let step = bound("multipleOf").filter(|step| *step > 0.0);
    let least = [bound("minimum"), bound("exclusiveMinimum")].into_iter().flatten().reduce(f64::max);
    let most = [bound("maximum"), bound("exclusiveMaximum")].into_iter().flatten().reduce(f64::min);
    let fits = |n: f64| {
        bound("minimum").is_none_or(|b| n >= b)
            && bound("maximum").is_none_or(|b| n <= b)
            && bound("exclusiveMinimum").is_none_or(|b| n > b)
            && bound("exclusiveMaximum").is_none_or(|b| n < b)
            && (!whole || n.fract() == 0.0)
    };
    let unit = step.unwrap_or(1.0);
    let low = least.map_or(0.0, |least| (least / unit).ceil());
    let drawn = low + dice.below(8) as f64;
    let mut likely = if dice.is_plain() { Vec::new() } else { vec![drawn * unit] };
    likely.extend([unit, 2.0 * unit, low * unit, (low + 1.0) * unit, 0.0]);
    likely.extend(most.map(|most| (most / unit).floor() * unit));
    likely.extend(least.zip(most).map(|(least, most)| f64::midpoint(least, most)));
    likely.into_iter().find(|n| fits(*n)).map(plain)
}

/// A number as people write it.
pub(super) fn plain(n: f64) -> Value {
    if n.fract() == 0.0 && n.abs() < 9e15 { json!(n as i64) } else { json!(n) }
}

pub(super) fn required(view: &View) -> impl Iterator<Item = &str> {
    view.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// What must be there where `name` is.
pub(super) fn dependents<'v>(view: &'v View, name: &str) -> impl Iterator<Item = &'v str> {
    let lists = ["dependentRequired", "dependencies"].into_iter().filter_map(|keyword| view.get(keyword));
    let lists: Vec<_> = lists.filter_map(|lists| lists.get(name)?.as_array()).collect();
    lists.into_iter().flatten().filter_map(Value::as_str)
}

/// The type that a view wants, said or implied.
pub(super) fn kind(view: &View) -> Option<&str> {
    let has = |names: &[&str]| names.iter().any(|name| view.contains_key(*name));
    match view.get("type") {
        Some(Value::String(kind)) => Some(kind),
        _ if has(&["properties", "required", "additionalProperties"]) => Some("object"),
        _ if has(&["items", "prefixItems", "minItems", "maxItems"]) => Some("array"),
        _ if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) => Some("number"),
        _ => None,
    }
}

pub(super) fn is_a(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|n| n.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        _ => false,
    }
}

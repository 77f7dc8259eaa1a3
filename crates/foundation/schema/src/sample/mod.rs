//! Values that a schema admits, made from the schema, for every caller that needs some.
//!
//! A value is built from the first way to meet the schema, required members only, and then checked: by the quick reading of
//! [`crate::plain`], or by a validator where that is unsure.

mod numbers;
mod text;

use serde_json::{Map, Value, json};

use crate::plain::{self, is_a, required};
use crate::rng::Rng;
use crate::validate::Validator;
use crate::views::{View, views};
use numbers::number;
pub(crate) use numbers::plain as plain_number;
pub(crate) use text::{LONGEST, of_length};

/// How deep a value may be.
const DEPTH: usize = 8;
/// How many items a list may have to have.
const ITEMS: u64 = 64;
/// How many items a drawn list gets at most beyond those it needs.
const MORE_ITEMS: u64 = 2;
/// How large a value may be, about, in bytes: a long default multiplies with the items around it.
const BYTES: usize = 1 << 20;

/// How many schemas are looked at for one value, and for all of them.
const STEPS: usize = 10_000;
const STEPS_IN_ALL: usize = 400_000;

/// Which of the many values that fit is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// The least that the schema admits, for a probe that calls an unknown tool: empty lists, `false`, `null` where it is the
    /// default. It asks for as little work as possible.
    Smallest,
    /// What a person would write, for tests that people read and change: lists with an item, `true`, no `null` where there is
    /// another way, and defaults and examples also of lists and objects.
    Typical,
}

/// A value that `schema` admits; `None` where none could be made. The same generator gives the same value.
pub fn value(schema: &Value, style: Style, rng: &Rng) -> Option<Value> {
    let made = |rng: Rng| Maker::new(schema, style, rng).value(schema);
    let fitting = |value: &Value| match plain::fits(schema, value) {
        Some(fits) => fits,
        None => Validator::new(schema).is_ok_and(|validator| validator.is_valid(value)),
    };
    // What is drawn may miss what the plain value meets.
    let drawn = made(rng.clone()).filter(fitting);
    if rng.is_plain() { drawn } else { drawn.or_else(|| made(Rng::plain()).filter(fitting)) }
}

/// Like [`value`], for a schema that admits objects: its members.
pub fn object(schema: &Value, style: Style, rng: &Rng) -> Option<Map<String, Value>> {
    match value(schema, style, rng)? {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

/// The members that an object's schema requires, each as good as it can be made: for a caller that replaces some of them and
/// checks the whole itself.
pub fn members(schema: &Value, style: Style, rng: &Rng) -> Map<String, Value> {
    let mut maker = Maker::new(schema, style, rng.clone());
    let property = |name: &str| schema.get("properties").and_then(|properties| properties.get(name));
    let mut member = |name: &str| property(name).and_then(|one| maker.value(one)).unwrap_or_else(|| json!("proof"));
    required(schema).take(STEPS).map(|name| (name.to_owned(), member(name))).collect()
}

/// What makes values of one schema. Whether they fit is for the caller to check.
pub(crate) struct Maker<'m> {
    root: &'m Value,
    style: Style,
    rng: Rng,
    /// How many schemas may still be looked at for the present value.
    steps: usize,
    /// And for those after it.
    left: usize,
    /// How many bytes the present value may still get.
    bytes: usize,
}

impl<'m> Maker<'m> {
    pub(crate) const fn new(root: &'m Value, style: Style, rng: Rng) -> Self {
        Self { root, style, rng, steps: 0, left: STEPS_IN_ALL, bytes: 0 }
    }

    /// A value that the schema may admit.
    pub(crate) fn value(&mut self, schema: &Value) -> Option<Value> {
        self.begin();
        self.made(schema, DEPTH)
    }

    /// A value for one view.
    pub(crate) fn of(&mut self, view: &View<'_>) -> Option<Value> {
        self.begin();
        self.seen(view, DEPTH)
    }

    /// Every way to meet a schema.
    pub(crate) fn ways<'s>(&mut self, schema: &'s Value) -> Vec<View<'s>>
    where
        'm: 's,
    {
        self.begin();
        views(schema, self.root, &mut self.steps)
    }

    fn begin(&mut self) {
        // What the last value left over.
        self.left += self.steps;
        self.steps = STEPS.min(self.left);
        self.left -= self.steps;
        self.bytes = BYTES;
    }

    fn made(&mut self, schema: &Value, room: usize) -> Option<Value> {
        self.steps = self.steps.checked_sub(1)?;
        if room == 0 {
            return None;
        }
        if let Some(default) = self.plain_default(schema) {
            return self.copied(default);
        }
        let mut views = views(schema, self.root, &mut self.steps);
        let first = self.rng.index(views.len());
        views.rotate_left(first);
        views.iter().find_map(|view| self.seen(view, room))
    }

    /// The default of a smallest value, also where it is `null`, which most ways to meet the schema do not admit.
    fn plain_default<'s>(&mut self, schema: &'s Value) -> Option<&'s Value> {
        let open = schema.get("const").is_none() && schema.get("enum").is_none();
        let default = schema.get("default").filter(|_| self.style == Style::Smallest && open)?;
        let fits =
            !default.is_object() && !default.is_array() && plain::fits_part(schema, self.root, default) != Some(false);
        (fits && !self.rng.coin()).then_some(default)
    }

    fn seen(&mut self, view: &View<'_>, room: usize) -> Option<Value> {
        if let Some(only) = view.get("const") {
            return self.copied(only);
        }
        if let Some(members) = view.get("enum").and_then(Value::as_array) {
            return self.chosen(members, view);
        }
        let kind = view.kind();
        if let Some(given) = self.given(view, kind) {
            return self.copied(&given);
        }
        match kind.unwrap_or("string") {
            "object" => self.object(view, room),
            "array" => self.array(view, room),
            "integer" | "number" => number(view, kind == Some("integer"), &mut self.rng),
            "boolean" if self.rng.is_plain() => Some(json!(self.style == Style::Typical)),
            "boolean" => Some(json!(self.rng.coin())),
            "null" => Some(Value::Null),
            _ => {
                let text = text::text(view, &mut self.rng)?;
                self.bytes = self.bytes.checked_sub(text.len())?;
                Some(Value::String(text))
            }
        }
    }

    /// A copy of what is in the schema, if there is room for it.
    fn copied(&mut self, value: &Value) -> Option<Value> {
        self.bytes = self.bytes.checked_sub(weight(value))?;
        Some(value.clone())
    }

    /// A member of an enumeration, of those that are of the type that is asked for.
    fn chosen(&mut self, members: &[Value], view: &View<'_>) -> Option<Value> {
        let kind = view.kind();
        let fits = |one: &&Value| kind.is_none_or(|kind| is_a(one, kind));
        let fitting: Vec<&Value> = members.iter().filter(fits).take(STEPS).collect();
        let place = self.rng.index(fitting.len());
        let one = fitting.get(place).copied().or_else(|| members.first())?;
        self.copied(one)
    }

    /// The default or an example, where it is one that may fit.
    fn given(&mut self, view: &View<'_>, kind: Option<&str>) -> Option<Value> {
        let style = self.style;
        let usable = |value: &&Value| match value {
            Value::Array(_) | Value::Object(_) => style == Style::Typical && kind.is_none_or(|kind| is_a(value, kind)),
            Value::Null if style == Style::Typical => false,
            // Without a type, a text is made; what only describes one type is not taken for another.
            scalar => {
                kind.is_none_or(|kind| is_a(scalar, kind)) && plain::scalar_fits(view.iter(), scalar) != Some(false)
            }
        };
        // What the schema itself names means something: a typical value keeps it, a smallest one only where nothing is drawn.
        let strays = style == Style::Smallest && self.rng.coin();
        if strays {
            return None;
        }
        let default = view.get("default").filter(usable);
        let examples = view.get("examples").and_then(Value::as_array).into_iter().flatten();
        let fitting: Vec<&Value> = examples.take(ITEMS as usize).filter(usable).collect();
        let place = self.rng.index(fitting.len());
        default.or_else(|| fitting.get(place).copied()).cloned()
    }

    fn object(&mut self, view: &View<'_>, room: usize) -> Option<Value> {
        let nothing = Map::new();
        let properties = view.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
        let others = view.get("additionalProperties").filter(|others| others.is_object());
        let mut members = Map::new();
        let mut wanted: Vec<String> = view.required().take(self.steps).map(str::to_owned).collect();
        while let Some(name) = wanted.pop() {
            if !members.contains_key(&name) {
                self.steps = self.steps.checked_sub(1)?;
                let value = match properties.get(&name).or(others) {
                    Some(property) => self.made(property, room - 1)?,
                    None => json!("proof"),
                };
                wanted.extend(view.dependents(&name).take(self.steps).map(str::to_owned));
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
        Some(Value::Object(in_order(members, properties)))
    }

    fn array(&mut self, view: &View<'_>, room: usize) -> Option<Value> {
        let bound = |name: &str| view.get(name).and_then(Value::as_u64);
        let most = bound("maxItems").unwrap_or(u64::MAX);
        let least = bound("minItems").unwrap_or(0);
        if least > ITEMS {
            return None;
        }
        let usual = u64::from(self.style == Style::Typical);
        let wanted = (least.max(usual) + self.rng.below(MORE_ITEMS + 1)).min(most);
        let mut items: Vec<Value> = Vec::new();
        let prefix = view.get("prefixItems").and_then(Value::as_array);
        for schema in prefix.into_iter().flatten() {
            items.push(self.made(schema, room - 1)?);
        }
        let anything = json!(true);
        let schema = view.get("items").filter(|items| !items.is_array()).unwrap_or(&anything);
        let unique = view.get("uniqueItems") == Some(&json!(true));
        while (items.len() as u64) < wanted {
            let item = self.made(schema, room - 1);
            let item = item.and_then(|item| if unique { self.another(item, &items, schema) } else { Some(item) });
            let Some(item) = item else {
                return (items.len() as u64 >= least).then_some(Value::Array(items));
            };
            items.push(item);
        }
        Some(Value::Array(items))
    }

    /// A value like `item` that `items` does not hold.
    fn another(&mut self, item: Value, items: &[Value], schema: &Value) -> Option<Value> {
        if !items.contains(&item) {
            return Some(item);
        }
        let views = views(schema, self.root, &mut self.steps);
        let mut members = views.iter().filter_map(|view| view.get("enum")?.as_array()).flatten().take(STEPS);
        if let Some(member) = members.find(|one| !items.contains(one)) {
            return Some(member.clone());
        }
        let mut more = (1..=ITEMS as u32).map(|number| match &item {
            Value::String(text) => json!(format!("{text}{number}")),
            Value::Number(start) => match start.as_i64() {
                Some(start) => json!(start.saturating_add(i64::from(number))),
                None => json!(start.as_f64().unwrap_or_default() + f64::from(number)),
            },
            Value::Bool(value) => json!(!value),
            other => other.clone(),
        });
        more.find(|one| !items.contains(one))
    }
}

/// The members in the order of the schema's properties, as a person would write them.
fn in_order(mut members: Map<String, Value>, properties: &Map<String, Value>) -> Map<String, Value> {
    let known = properties.keys().filter_map(|name| members.remove_entry(name)).collect::<Vec<_>>();
    known.into_iter().chain(members).collect()
}

/// About how many bytes a value takes as text.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => 2 + text.len(),
        Value::Array(items) => items.iter().map(|item| 1 + weight(item)).sum::<usize>() + 2,
        Value::Object(members) => members.iter().map(|(name, one)| 4 + name.len() + weight(one)).sum::<usize>() + 2,
        _ => 8,
    }
}

#[cfg(test)]
mod tests;

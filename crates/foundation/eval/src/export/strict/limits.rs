//! The limits of strict schemas.

use serde_json::Value;

/// How many members all objects may have together, and how deep objects may nest.
const MOST_MEMBERS: usize = 5000;
const DEEPEST: usize = 10;
/// How many values all enumerations may have together.
const MOST_VALUES: usize = 1000;
/// How long the names of members and definitions, and the values of enumerations and constants may be together.
const MOST_TEXT: usize = 120_000;
/// An enumeration of more texts than this may have this many characters.
const LONG_ENUM: usize = 250;
const LONG_ENUM_TEXT: usize = 15_000;

/// Which limit a strict schema exceeds, if any.
pub(super) fn exceeded(strict: &Value) -> Option<String> {
    let mut counts = Counts::default();
    counts.schema(strict, 0);
    let is_more = |what: &str, number: usize, most: usize| {
        (number > most).then(|| format!("{number} {what}; {most} are allowed"))
    };
    is_more("members of objects", counts.members, MOST_MEMBERS)
        .or_else(|| is_more("levels of objects", counts.depth, DEEPEST))
        .or_else(|| is_more("values of enumerations", counts.values, MOST_VALUES))
        .or_else(|| is_more("characters of names and values", counts.text, MOST_TEXT))
        .or_else(|| is_more("characters in one long enumeration", counts.long, LONG_ENUM_TEXT))
}

#[derive(Default)]
struct Counts {
    members: usize,
    depth: usize,
    values: usize,
    text: usize,
    /// The characters of the longest enumeration that has many texts.
    long: usize,
}

impl Counts {
    fn schema(&mut self, schema: &Value, depth: usize) {
        let Value::Object(members) = schema else { return };
        let depth = depth + usize::from(members.contains_key("properties"));
        self.depth = self.depth.max(depth);
        let length = |value: &Value| value.as_str().map_or(0, |text| text.chars().count());
        if let Some(Value::Array(values)) = members.get("enum") {
            let text: usize = values.iter().map(length).sum();
            self.values += values.len();
            self.text += text;
            if values.len() > LONG_ENUM {
                self.long = self.long.max(text);
            }
        }
        self.text += members.get("const").map_or(0, length);
        for (name, property) in members.get("properties").and_then(Value::as_object).into_iter().flatten() {
            self.members += 1;
            self.text += name.chars().count();
            self.schema(property, depth);
        }
        for (name, shared) in members.get("$defs").and_then(Value::as_object).into_iter().flatten() {
            self.text += name.chars().count();
            self.schema(shared, 0);
        }
        for branch in members.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
            self.schema(branch, depth);
        }
        if let Some(items) = members.get("items") {
            self.schema(items, depth);
        }
    }
}

//! Texts with holes, `{{ arguments.city | default("Oslo") | upper }}`, and how they are filled: paths into one value, four
//! filters, nothing that runs. What comes out is bounded.

mod parse;

use serde_json::{Map, Value};
use wire::pointer;

/// How long a filled text may become, in bytes.
const LONGEST: usize = 1 << 20;

/// What is wrong with a text's holes, and what to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// What is wrong.
    pub what: String,
    /// What to try.
    pub remedy: String,
}

/// A filled text would be longer than [`LONGEST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// A text with holes.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern(Vec<Part>);

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Hole(Hole),
}

#[derive(Clone, Debug, PartialEq)]
struct Hole {
    start: Start,
    filters: Vec<Filter>,
}

#[derive(Clone, Debug, PartialEq)]
enum Start {
    /// A path into the value; its first step is the scope's name.
    Path(Vec<String>),
    Literal(Value),
}

#[derive(Clone, Debug, PartialEq)]
enum Filter {
    Default(Value),
    Upper,
    Lower,
    Json,
}

/// How what fills a hole is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    Plain,
    /// Percent-encoded but for what RFC 3986 calls unreserved.
    Uri,
}

impl Pattern {
    /// Reads a text whose paths begin with `scope`.
    pub fn parse(text: &str, scope: &str) -> Result<Self, Wrong> {
        parse::pattern(text, scope)
    }

    /// The text, where it has no holes that a value must fill.
    pub fn fixed(&self) -> Option<String> {
        let reads = |part: &Part| matches!(part, Part::Hole(Hole { start: Start::Path(_), .. }));
        if self.0.iter().any(reads) { None } else { self.fill(&Value::Null).ok() }
    }

    /// The names right under the scope that it reads.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Hole(Hole { start: Start::Path(path), .. }) => path.first().map(String::as_str),
            _ => None,
        })
    }

    /// The text, filled from what the scope stands for.
    pub fn fill(&self, values: &Value) -> Result<String, TooLong> {
        self.write(values, Writing::Plain)
    }

    /// The same as a URI: what fills a hole is percent-encoded.
    pub fn fill_uri(&self, values: &Value) -> Result<String, TooLong> {
        self.write(values, Writing::Uri)
    }

    fn write(&self, values: &Value, writing: Writing) -> Result<String, TooLong> {
        let mut filled = String::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Hole(hole) => {
                    let text = spelled(&hole.value(values));
                    match writing {
                        Writing::Plain => filled.push_str(&text),
                        Writing::Uri => filled.extend(text.bytes().map(percent)),
                    }
                }
            }
            if filled.len() > LONGEST {
                return Err(TooLong);
            }
        }
        Ok(filled)
    }

    /// As [`Self::fill`]; a hole alone keeps the type of what fills it.
    fn value(&self, values: &Value) -> Result<Value, TooLong> {
        match self.0.as_slice() {
            [Part::Hole(hole)] => Ok(hole.value(values)),
            _ => self.fill(values).map(Value::String),
        }
    }
}

impl Hole {
    fn value(&self, values: &Value) -> Value {
        let start = match &self.start {
            Start::Literal(value) => value.clone(),
            Start::Path(path) => {
                path.iter().try_fold(values, |value, name| step(value, name)).cloned().unwrap_or_default()
            }
        };
        self.filters.iter().fold(start, |value, filter| match filter {
            Filter::Default(instead) if value.is_null() => instead.clone(),
            Filter::Default(_) => value,
            Filter::Upper => Value::String(spelled(&value).to_uppercase()),
            Filter::Lower => Value::String(spelled(&value).to_lowercase()),
            Filter::Json => Value::String(value.to_string()),
        })
    }
}

fn step<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get(name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    }
}

fn spelled(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn percent(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

/// Any JSON value whose texts may have holes.
#[derive(Clone, Debug)]
pub enum Filled {
    /// No holes.
    Fixed(Value),
    /// A text with holes.
    Text(Pattern),
    /// A list.
    List(Vec<Filled>),
    /// A mapping.
    Map(Vec<(String, Filled)>),
}

impl Filled {
    /// Reads every text in `value`; `wrong` hears of the errors, with the pointer to each below `value`.
    pub fn parse(value: &Value, scope: &str, wrong: &mut dyn FnMut(&str, Wrong)) -> Self {
        Self::parse_at(value, scope, "", wrong)
    }

    fn parse_at(value: &Value, scope: &str, pointer: &str, wrong: &mut dyn FnMut(&str, Wrong)) -> Self {
        match value {
            Value::String(text) => match Pattern::parse(text, scope) {
                Ok(pattern) => pattern.fixed().map_or(Self::Text(pattern), |text| Self::Fixed(Value::String(text))),
                Err(error) => {
                    wrong(pointer, error);
                    Self::Fixed(Value::Null)
                }
            },
            Value::Array(items) => {
                let items = items.iter().enumerate();
                Self::List(
                    items.map(|(at, item)| Self::parse_at(item, scope, &format!("{pointer}/{at}"), wrong)).collect(),
                )
            }
            Value::Object(members) => Self::Map(
                members
                    .iter()
                    .map(|(name, value)| {
                        let pointer = pointer::member(pointer, name);
                        (name.clone(), Self::parse_at(value, scope, &pointer, wrong))
                    })
                    .collect(),
            ),
            value => Self::Fixed(value.clone()),
        }
    }

    /// Every pattern in it.
    pub fn patterns(&self) -> Vec<&Pattern> {
        match self {
            Self::Fixed(_) => Vec::new(),
            Self::Text(pattern) => vec![pattern],
            Self::List(items) => items.iter().flat_map(Self::patterns).collect(),
            Self::Map(members) => members.iter().flat_map(|(_, value)| value.patterns()).collect(),
        }
    }

    /// The value, where no hole is left to fill.
    pub fn fixed(&self) -> Option<Value> {
        if self.patterns().is_empty() { self.fill(&Value::Null).ok() } else { None }
    }

    /// The value, filled.
    pub fn fill(&self, values: &Value) -> Result<Value, TooLong> {
        let mut room = LONGEST;
        self.fill_within(values, &mut room)
    }

    fn fill_within(&self, values: &Value, room: &mut usize) -> Result<Value, TooLong> {
        Ok(match self {
            Self::Fixed(value) => value.clone(),
            Self::Text(pattern) => {
                let value = pattern.value(values)?;
                *room = room.checked_sub(size(&value)).ok_or(TooLong)?;
                value
            }
            Self::List(items) => {
                Value::Array(items.iter().map(|item| item.fill_within(values, room)).collect::<Result<_, _>>()?)
            }
            Self::Map(members) => {
                let filled = members.iter().map(|(name, value)| Ok((name.clone(), value.fill_within(values, room)?)));
                Value::Object(filled.collect::<Result<Map<_, _>, TooLong>>()?)
            }
        })
    }
}

/// About how many bytes a value takes.
pub fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum::<usize>() + items.len(),
        Value::Object(members) => members.iter().map(|(name, value)| name.len() + size(value)).sum(),
        _ => 8,
    }
}

#[cfg(test)]
#[path = "fill_tests.rs"]
mod tests;

//! The table of styles (OpenAPI 3.1, "Style Values"; RFC 6570): how values are written in paths, queries, headers, cookies and
//! forms. Must not know where a pair goes.

use serde_json::Value;

use super::escape;
use crate::model::{Parameter, Style};

/// How a value is written as pairs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    /// The style.
    pub(super) style: Style,
    /// Whether each item has a pair of its own.
    pub(super) explode: bool,
    /// Whether reserved characters stay as they are.
    pub(super) reserved: bool,
}

/// `name=value`, encoded.
pub(super) fn pair(name: &str, value: &str, reserved: bool) -> String {
    format!("{}={}", escape::all(name), encoded(value, reserved))
}

fn encoded(text: &str, reserved: bool) -> String {
    if reserved { escape::reserved(text) } else { escape::all(text) }
}

/// A scalar as text; `null` is the empty text.
fn scalar(value: &Value) -> Result<String, String> {
    match value {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(_) | Value::Object(_) => {
            Err("a list or an object inside of another cannot be written in this style".to_owned())
        }
        value => Ok(value.to_string()),
    }
}

/// The items of a list, or the names and values of an object one after the other, as texts.
fn flat(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Array(items) => items.iter().map(scalar).collect(),
        Value::Object(members) => {
            let texts = members.iter().flat_map(|(name, value)| [Ok(name.clone()), scalar(value)]);
            texts.collect()
        }
        value => Ok(vec![scalar(value)?]),
    }
}

/// The members of an object as `name=value`.
fn assigned(value: &Value, encode: impl Fn(&str) -> String) -> Result<Vec<String>, String> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, value)| Ok(format!("{}={}", encode(name), encode(&scalar(value)?)))).collect()
}

impl Written {
    /// The pairs of a value, encoded; a list or object without items has none.
    pub(super) fn pairs(self, name: &str, value: &Value) -> Result<Vec<String>, String> {
        let encode = |text: &str| encoded(text, self.reserved);
        match (self.style, value) {
            (Style::DeepObject, Value::Array(_) | Value::Object(_)) => {
                let mut pairs = Vec::new();
                self.deep(&escape::all(name), value, &mut pairs);
                Ok(pairs)
            }
            (_, Value::Array(items)) if self.explode => {
                items.iter().map(|item| Ok(pair(name, &scalar(item)?, self.reserved))).collect()
            }
            (_, Value::Object(_)) if self.explode => assigned(value, encode),
            (style, Value::Array(_) | Value::Object(_)) => {
                let texts = flat(value)?;
                if texts.is_empty() {
                    return Ok(Vec::new());
                }
                let texts: Vec<_> = texts.iter().map(|text| encode(text)).collect();
                Ok(vec![format!("{}={}", escape::all(name), texts.join(separator(style)))])
            }
            (_, value) => Ok(vec![pair(name, &scalar(value)?, self.reserved)]),
        }
    }

    /// `name[member][0]=value` for all that is below, as most servers read it; `name[]=value` for items of a plain list.
    fn deep(self, name: &str, value: &Value, pairs: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                for (member, value) in members {
                    self.deep(&format!("{name}%5B{}%5D", escape::all(member)), value, pairs);
                }
            }
            Value::Array(items) => {
                let nested = items.iter().any(|item| item.is_array() || item.is_object());
                for (index, item) in items.iter().enumerate() {
                    let index = if nested { index.to_string() } else { String::new() };
                    self.deep(&format!("{name}%5B{index}%5D"), item, pairs);
                }
            }
            value => {
                let text = scalar(value).unwrap_or_default();
                pairs.push(format!("{name}={}", encoded(&text, self.reserved)));
            }
        }
    }
}

/// What stands between the items of one pair, encoded.
const fn separator(style: Style) -> &'static str {
    match style {
        Style::SpaceDelimited => "%20",
        Style::PipeDelimited => "%7C",
        Style::TabDelimited => "%09",
        _ => ",",
    }
}

/// A value in the style `simple`, not encoded: for headers.
pub(super) fn plain(value: &Value, explode: bool) -> Result<String, String> {
    if explode && value.is_object() {
        return Ok(assigned(value, str::to_owned)?.join(","));
    }
    Ok(flat(value)?.join(","))
}

/// A value in a path, encoded.
pub(super) fn path(parameter: &Parameter, value: &Value) -> Result<String, String> {
    let Parameter { name, explode, .. } = parameter;
    let texts = || Ok::<_, String>(flat(value)?.iter().map(|text| escape::all(text)).collect::<Vec<_>>());
    let is_composed = value.is_array() || value.is_object();
    let members = || assigned(value, escape::all);
    Ok(match parameter.style {
        Style::Matrix if *explode && value.is_object() => {
            format!(";{}", members()?.join(";"))
        }
        Style::Matrix if *explode && is_composed => {
            let pair = |text: &String| format!("{}={text}", escape::all(name));
            format!(";{}", texts()?.iter().map(pair).collect::<Vec<_>>().join(";"))
        }
        Style::Matrix => match texts()?.join(",") {
            empty if empty.is_empty() => format!(";{}", escape::all(name)),
            text => format!(";{}={text}", escape::all(name)),
        },
        Style::Label if *explode && value.is_object() => format!(".{}", members()?.join(".")),
        Style::Label => format!(".{}", texts()?.join(if *explode { "." } else { "," })),
        _ if *explode && value.is_object() => members()?.join(","),
        style => texts()?.join(separator(style)),
    })
}

//! Variables in texts: `{{name}}` and nothing more. Filters, statements and the environment are for the other tool.

use serde_json::{Map, Value};

/// How long a text may become, in bytes.
const MOST: usize = 1 << 20;

/// The variables of one case.
pub(super) type Variables = Map<String, Value>;

/// A text with its variables filled in; `Err` says what is more than a name, or unknown.
pub(super) fn fill(text: &str, variables: &Variables) -> Result<String, String> {
    fill_within(text, variables, &mut 0)
}

/// The same of a part of a whole that has `length` bytes so far.
fn fill_within(text: &str, variables: &Variables, length: &mut usize) -> Result<String, String> {
    if text.contains("{%") || text.contains("{#") {
        return Err("a template with statements".to_owned());
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        out.push_str(&rest[..start]);
        let Some(end) = rest[start..].find("}}") else { return Err("`{{` without `}}`".to_owned()) };
        let name = rest[start + 2..start + end].trim();
        out.push_str(&value_of(name, variables)?);
        if *length + out.len() > MOST {
            return Err(format!("it has more than {} MiB with its variables", MOST >> 20));
        }
        rest = &rest[start + end + 2..];
    }
    out.push_str(rest);
    *length += out.len();
    Ok(out)
}

fn value_of(name: &str, variables: &Variables) -> Result<String, String> {
    let shown = || document::quoted(&format!("{{{{{name}}}}}"));
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_word) {
        return Err(format!("{} is more than a name", shown()));
    }
    match variables.get(name) {
        Some(Value::String(text)) if text.contains("{{") || text.contains("{%") => {
            Err(format!("{} is a template itself", shown()))
        }
        Some(Value::String(text)) => Ok(text.clone()),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(value.to_string()),
        Some(_) => Err(format!("{} is not a text", shown())),
        None => Err(format!("{} is not set", shown())),
    }
}

/// All texts of a value with their variables filled in.
pub(super) fn fill_all(value: &Value, variables: &Variables) -> Result<Value, String> {
    fill_values(value, variables, &mut 0)
}

fn fill_values(value: &Value, variables: &Variables, length: &mut usize) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => Value::String(fill_within(text, variables, length)?),
        Value::Array(items) => {
            let filled = items.iter().map(|item| fill_values(item, variables, length));
            filled.collect::<Result<Vec<_>, _>>()?.into()
        }
        Value::Object(members) => {
            let mut filled = Map::new();
            for (name, value) in members {
                filled.insert(fill_within(name, variables, length)?, fill_values(value, variables, length)?);
            }
            filled.into()
        }
        other => other.clone(),
    })
}

//! `NAME=VALUE` and `NAME:=JSON`: what a person types for arguments, and what the tool's schema makes of it.

use client::{Given, read};
use serde_json::{Map, Value};

use super::options::Pair;

/// A name and what is given for it; or what is wrong with the text.
pub(super) fn pair(text: &str) -> Result<Pair, String> {
    let shown = wire::escape::snippet(text, 60);
    let Some((name, value)) = text.split_once('=') else {
        return Err(format!("`{shown}` is not NAME=VALUE"));
    };
    match name.strip_suffix(':') {
        Some("") => Err(format!("`{shown}` has no name before `:=`")),
        Some(name) => match serde_json::from_str(value) {
            Ok(value) => Ok((name.to_owned(), Given::Json(value))),
            Err(error) => Err(format!("what follows `{}:=` is not JSON: {error}", wire::escape::snippet(name, 60))),
        },
        None if name.is_empty() => Err(format!("`{shown}` has no name before `=`")),
        None => Ok((name.to_owned(), Given::Text(value.to_owned()))),
    }
}

/// The arguments of a call, read as its schema wants; or what is wrong with each that cannot be.
pub(super) fn arguments(
    pairs: Vec<Pair>,
    mut into: Map<String, Value>,
    schema: &Value,
) -> Result<Map<String, Value>, Vec<String>> {
    let mut faults = Vec::new();
    for (name, given) in pairs {
        let property = schema.get("properties").and_then(|properties| properties.get(&name)).unwrap_or(&Value::Null);
        match given {
            Given::Json(value) => {
                into.insert(name, value);
            }
            Given::Text(text) => match read(&text, property, schema) {
                Ok(value) => {
                    into.insert(name, value);
                }
                Err(why) => faults.push(format!("`{}`: {why}", wire::escape::snippet(&name, 60))),
            },
        }
    }
    if faults.is_empty() { Ok(into) } else { Err(faults) }
}

/// Arguments that are all texts, as prompts have them.
pub(super) fn texts(pairs: &[String]) -> Result<Map<String, Value>, String> {
    let text = |text: &String| {
        let (name, given) = pair(text)?;
        Ok((
            name,
            match given {
                Given::Text(text) | Given::Json(Value::String(text)) => Value::from(text),
                Given::Json(value) => Value::from(value.to_string()),
            },
        ))
    };
    pairs.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pairs_are_texts_or_json() {
        assert_eq!(pair("a=b=c"), Ok(("a".to_owned(), Given::Text("b=c".to_owned()))));
        assert_eq!(pair("a:=[1]"), Ok(("a".to_owned(), Given::Json(json!([1])))));
        assert_eq!(pair("a="), Ok(("a".to_owned(), Given::Text(String::new()))));
        for wrong in ["a", "=b", ":=1", "a:=b"] {
            assert!(pair(wrong).is_err(), "{wrong}");
        }
    }
}

//! `NAME=VALUE` and `NAME:=JSON`: arguments as typed, converted by the tool's schema.

use client::{Given, read};
use serde_json::{Map, Value};

use super::options::Pair;
use crate::args::line::quoted;

/// Parses an argument; `Err` says what is wrong with it.
pub(in crate::verb) fn parse(text: &str) -> Result<Pair, String> {
    let shown = wire::escape::snippet(text, 60);
    if text.starts_with('{') && serde_json::from_str::<Map<String, Value>>(text).is_ok() {
        return Err(format!("`{shown}` is a JSON object, not NAME=VALUE"));
    }
    let Some((name, value)) = text.split_once('=') else {
        return Err(format!("`{shown}` is not NAME=VALUE"));
    };
    match name.strip_suffix(':') {
        Some("") => Err(format!("`{shown}` has no name before `:=`")),
        Some(name) => match serde_json::from_str(value) {
            Ok(value) => Ok((name.to_owned(), Given::Json(value))),
            Err(error) => Err(format!("the value of `{}:=` is not JSON: {error}", wire::escape::snippet(name, 60))),
        },
        None if name.is_empty() => Err(format!("`{shown}` has no name before `=`")),
        None => Ok((name.to_owned(), Given::Text(value.to_owned()))),
    }
}

/// What to try where an argument of a call is invalid; its values may be given as one JSON object, too.
pub(super) fn remedy(texts: &[String]) -> String {
    match texts.iter().find(|text| serde_json::from_str::<Map<String, Value>>(text).is_ok()) {
        Some(object) => format!("--args {}", quoted(object)),
        None => "NAME=VALUE, or NAME:=JSON; `--args JSON` takes all arguments as an object".to_owned(),
    }
}

/// Converts the arguments of a call by its schema; `Err` lists what is wrong.
pub(super) fn convert(
    pairs: Vec<Pair>,
    mut into: Map<String, Value>,
    schema: &Value,
) -> Result<Map<String, Value>, Vec<String>> {
    let mut errors = Vec::new();
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
                Err(why) => errors.push(format!("`{}`: {why}", wire::escape::snippet(&name, 60))),
            },
        }
    }
    if errors.is_empty() { Ok(into) } else { Err(errors) }
}

/// Parses arguments whose values are all texts, as those of prompts.
pub(super) fn parse_texts(pairs: &[String]) -> Result<Map<String, Value>, String> {
    let text = |text: &String| {
        let (name, given) = parse(text)?;
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
    fn arguments_are_texts_or_json() {
        assert_eq!(parse("a=b=c"), Ok(("a".to_owned(), Given::Text("b=c".to_owned()))));
        assert_eq!(parse("a:=[1]"), Ok(("a".to_owned(), Given::Json(json!([1])))));
        assert_eq!(parse("a="), Ok(("a".to_owned(), Given::Text(String::new()))));
        for wrong in ["a", "=b", ":=1", "a:=b"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}

//! A simulated result in the likeness of a recorded one: what differs between the arguments is replaced in the result, too.
//! Pure: knows no recording and no schema.

use serde_json::Value;

/// The shortest text that is replaced: a shorter one stands everywhere by chance.
const SHORTEST: usize = 2;
/// How many differences are replaced.
const MOST: usize = 32;

/// The recorded `result` of a call with the arguments `recorded`, as a call with the arguments `asked` may have had it.
pub(super) fn adapted(result: &Value, recorded: &Value, asked: &Value) -> Value {
    let mut pairs = Vec::new();
    find_pairs(recorded, asked, &mut pairs);
    pairs.truncate(MOST);
    // Of two texts that begin alike the longer one is meant.
    pairs.sort_by_key(|(old, _)| std::cmp::Reverse(old.len()));
    let mut adapted = result.clone();
    if let Value::Object(members) = &mut adapted {
        members.remove("_meta");
    }
    replace(&mut adapted, &pairs);
    adapted
}

/// A scalar of the recorded call as text, and the one in its place.
type Pair<'v> = (String, &'v Value);

fn find_pairs<'v>(recorded: &Value, asked: &'v Value, pairs: &mut Vec<Pair<'v>>) {
    match (recorded, asked) {
        (Value::Object(a), Value::Object(b)) => {
            for (name, value) in a {
                if let Some(other) = b.get(name) {
                    find_pairs(value, other, pairs);
                }
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            for (value, other) in a.iter().zip(b) {
                find_pairs(value, other, pairs);
            }
        }
        (Value::String(_) | Value::Number(_), Value::String(_) | Value::Number(_)) if recorded != asked => {
            let old = plain(recorded);
            if old.len() >= SHORTEST && pairs.iter().all(|(known, _)| *known != old) {
                pairs.push((old, asked));
            }
        }
        _ => {}
    }
}

fn plain(scalar: &Value) -> String {
    scalar.as_str().map_or_else(|| scalar.to_string(), str::to_owned)
}

fn replace(value: &mut Value, pairs: &[Pair<'_>]) {
    match value {
        Value::Object(members) => members.values_mut().for_each(|member| replace(member, pairs)),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, pairs)),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            // Structured content as a text stays JSON.
            Ok(mut inner @ (Value::Object(_) | Value::Array(_))) => {
                replace(&mut inner, pairs);
                *text = inner.to_string();
            }
            _ => *text = replaced(text, pairs),
        },
        Value::Number(_) => {
            let number = value.to_string();
            if let Some((_, new)) = pairs.iter().find(|(old, new)| *old == number && new.is_number()) {
                *value = (*new).clone();
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// The text with every old text replaced, in one pass.
fn replaced(text: &str, pairs: &[Pair<'_>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some((old, new)) = pairs.iter().find(|(old, _)| rest.starts_with(old.as_str())) {
            out.push_str(&plain(new));
            rest = &rest[old.len()..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_differs_is_replaced_everywhere() {
        let result = json!({
            "content": [{ "type": "text", "text": "Bern, then Oslo, at 1200" }, { "type": "text", "text": r#"{"city":"Bern","at":1200}"# }],
            "structuredContent": { "city": "Bern", "at": 1200, "ok": true, "n": 3 },
            "_meta": { "of": "Bern" },
        });
        let recorded = json!({ "city": "Bern", "at": 1200, "n": 3, "gone": "xx" });
        let asked = json!({ "city": "Oslo \"N\"", "at": 1300, "n": 4, "more": "yy" });
        let expected = json!({
            "content": [
                { "type": "text", "text": "Oslo \"N\", then Oslo, at 1300" },
                { "type": "text", "text": json!({ "city": "Oslo \"N\"", "at": 1300 }).to_string() },
            ],
            "structuredContent": { "city": "Oslo \"N\"", "at": 1300, "ok": true, "n": 3 },
        });
        assert_eq!(adapted(&result, &recorded, &asked), expected);
    }

    #[test]
    fn two_arguments_may_change_places() {
        let result = json!({ "content": [{ "text": "from Bern to Oslo by Bernina" }] });
        let recorded = json!({ "from": "Bern", "to": "Oslo", "by": "Bernina" });
        let asked = json!({ "from": "Oslo", "to": "Bern", "by": "Rail" });
        assert_eq!(adapted(&result, &recorded, &asked)["content"][0]["text"], "from Oslo to Bern by Rail");
    }
}

//! A value as lines that a person can compare: the path of each leaf and its text. Must not know what the value means.

use serde_json::Value;

/// The leaves of `value` with their paths, in order: `inputSchema.properties.to.type` and `string`. Texts are not quoted, everything
/// else is as JSON writes it; an empty object or list is a leaf, too.
pub fn leaves(value: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((path, value)) = open.pop() {
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        match value {
            Value::Object(members) if !members.is_empty() => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_by(|a, b| b.0.cmp(a.0));
                open.extend(members.into_iter().map(|(name, value)| (below(name), value)));
            }
            Value::Array(items) if !items.is_empty() => {
                open.extend(items.iter().enumerate().rev().map(|(at, item)| (format!("{path}[{at}]"), item)));
            }
            Value::String(text) => found.push((path, text.clone())),
            other => found.push((path, other.to_string())),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::leaves;

    #[test]
    fn every_leaf_has_its_path() {
        let found = leaves(&json!({ "b": [1, { "c": "x" }], "a": { "d": {}, "e": null } }));
        let found: Vec<(&str, &str)> = found.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!(found, [("a.d", "{}"), ("a.e", "null"), ("b[0]", "1"), ("b[1].c", "x")]);
        assert_eq!(leaves(&json!("x")), [(String::new(), "x".to_owned())]);
    }
}

//! Digests of texts and values: the key of a gate's result, and the version of a server. Must not read files.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// SHA-256 over parts, each with its length before it, so that no two lists of parts give the same bytes.
pub fn of<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    hex(&hasher.finalize())
}

/// SHA-256 of bytes.
pub fn of_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of a value, whatever the order of its members.
pub fn of_value(value: &Value) -> String {
    of([sorted(value).to_string().as_str()])
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            members.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(members.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(64), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{of, of_value};

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(of(["ab", "c"]), of(["a", "bc"]));
        assert_ne!(of(["a"]), of(["a", ""]));
        assert_eq!(of(["a"]).len(), 64);
    }

    #[test]
    fn the_order_of_members_makes_no_difference() {
        assert_eq!(
            of_value(&json!({"a": 1, "b": {"c": 2, "d": 3}})),
            of_value(&json!({"b": {"d": 3, "c": 2}, "a": 1}))
        );
        assert_ne!(of_value(&json!([1, 2])), of_value(&json!([2, 1])));
    }
}

//! A bounded reader of JSON Schema for judges: whether a value surely fits a schema, surely does not, or cannot be told.
//!
//! It may never raise a false alarm, so a keyword it does not know only ever makes it unsure. It must not know MCP.

mod fit;

pub(crate) use fit::{Fit, fit};

use serde_json::Value;

/// The dialects whose keywords we know well enough.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// 2020-12, also where a schema names none.
    Newest,
    /// 2019-09, draft-07 and draft-06.
    Older,
}

fn dialect(root: &Value) -> Option<Dialect> {
    let Some(named) = root.get("$schema") else { return Some(Dialect::Newest) };
    let named = named.as_str()?.trim_end_matches('#');
    let path = named.strip_prefix("https://json-schema.org/").or_else(|| named.strip_prefix("http://json-schema.org/"));
    match path? {
        "draft/2020-12/schema" => Some(Dialect::Newest),
        "draft/2019-09/schema" | "draft-07/schema" | "draft-06/schema" => Some(Dialect::Older),
        _ => None,
    }
}

/// Whether `value` is of the type that `name` names; `None` where there is no such type.
fn is_type(name: &str, value: &Value) -> Option<bool> {
    Some(match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => is_integer(value),
        _ => return None,
    })
}

fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|f| f.fract() == 0.0)
}

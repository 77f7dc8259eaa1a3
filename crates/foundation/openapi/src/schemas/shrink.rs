//! Sizes of schemas, and what is left of one that is too large.

use std::io::{self, Write};

use serde_json::Value;

/// How many bytes of JSON a value is.
pub(crate) fn size(value: &Value) -> usize {
    struct Counter(usize);
    impl Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Counting cannot fail.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

/// Makes a schema smaller until it fits: first without prose below its root, then without what is deep.
pub(super) fn shrink(schema: &mut Value, budget: usize) {
    if size(schema) <= budget {
        return;
    }
    each_schema(schema, 0, &mut |members, depth| {
        if depth > 0 {
            for name in ["description", "title", "examples", "default"] {
                members.remove(name);
            }
        }
    });
    for deepest in [6, 4, 3, 2, 1] {
        if size(schema) <= budget {
            return;
        }
        cut_below(schema, 0, deepest);
    }
}

/// Schemas below `deepest` become what their type says.
fn cut_below(schema: &mut Value, depth: usize, deepest: usize) {
    if depth >= deepest {
        if schema.is_object() && size(schema) > 120 {
            *schema = super::cut_of(schema);
        }
        return;
    }
    for_parts(schema, &mut |part| cut_below(part, depth + 1, deepest));
}

fn each_schema(schema: &mut Value, depth: usize, change: &mut impl FnMut(&mut serde_json::Map<String, Value>, usize)) {
    if let Value::Object(members) = schema {
        change(members, depth);
    }
    for_parts(schema, &mut |part| each_schema(part, depth + 1, change));
}

/// Calls `visit` with each schema directly within a schema.
pub(crate) fn for_parts(schema: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    let Value::Object(members) = schema else { return };
    for (name, value) in members {
        match (name.as_str(), value) {
            ("properties" | "patternProperties" | "dependentSchemas" | "$defs", Value::Object(each)) => {
                each.values_mut().for_each(&mut *visit);
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(each)) => each.iter_mut().for_each(&mut *visit),
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                one,
            ) if one.is_object() => visit(one),
            _ => {}
        }
    }
}

//! The description itself: its dialect, its bounds, and what references in it lead to.

use serde_json::Value;

use super::ReadError;
use crate::limits::Limits;

/// How many references may lead from one to the next.
const CHAIN: usize = 32;

/// Which specification a description follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Swagger2,
    OpenApi30,
    OpenApi31,
}

/// A description.
pub(crate) struct Source<'v> {
    pub(crate) root: &'v Value,
    pub(crate) dialect: Dialect,
    /// How long a reference may be, in bytes.
    longest: usize,
}

impl<'v> Source<'v> {
    pub(super) fn new(root: &'v Value, limits: &Limits) -> Result<Self, ReadError> {
        measure(root, limits)?;
        Ok(Self { root, dialect: dialect(root)?, longest: limits.name })
    }

    /// What a reference leads to, and its pointer. `Err` says why it leads nowhere.
    pub(crate) fn target(&self, reference: &str) -> Result<(&'v Value, String), String> {
        let Some(fragment) = reference.strip_prefix('#') else {
            return self.bare_name(reference).ok_or_else(|| {
                format!("the reference {} leads out of the description: it is not fetched", quoted(reference))
            });
        };
        if fragment.len() > self.longest {
            return Err(format!("the reference {} is too long", quoted(reference)));
        }
        let decoded = percent_decoded(fragment);
        for pointer in [fragment, &decoded] {
            if let Some(value) = self.root.pointer(pointer) {
                return Ok((value, pointer.to_owned()));
            }
        }
        Err(format!("the reference {} leads nowhere", quoted(reference)))
    }

    /// Early descriptions name a schema without its place.
    fn bare_name(&self, name: &str) -> Option<(&'v Value, String)> {
        if name.is_empty() || name.len() > self.longest || name.contains(['/', '.', ':', '#']) {
            return None;
        }
        let pointer = match self.dialect {
            Dialect::Swagger2 => format!("/definitions/{}", wire::pointer::escape(name)),
            _ => format!("/components/schemas/{}", wire::pointer::escape(name)),
        };
        self.root.pointer(&pointer).map(|value| (value, pointer))
    }

    /// A value with the references followed that stand in its place, and the pointer where they end.
    pub(crate) fn resolve(&self, value: &'v Value, at: &str) -> Result<(&'v Value, String), String> {
        let (mut value, mut at) = (value, at.to_owned());
        for _ in 0..CHAIN {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return Ok((value, at)) };
            (value, at) = self.target(reference)?;
        }
        Err("its references lead in a circle".to_owned())
    }
}

fn quoted(reference: &str) -> String {
    format!("`{}`", wire::escape::snippet(reference, 200))
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hex = text.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        if let Some(code) = hex.filter(|_| *byte == b'%') {
            decoded.push(code);
            at += 3;
        } else {
            decoded.push(*byte);
            at += 1;
        }
    }
    String::from_utf8(decoded).unwrap_or_else(|_| text.to_owned())
}

fn dialect(root: &Value) -> Result<Dialect, ReadError> {
    let found = |found: &str| Err(ReadError::Version { found: found.to_owned() });
    let Some(root) = root.as_object() else { return found("it is no object") };
    // YAML without quotes makes a number of a version.
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned());
    if let Some(version) = root.get("openapi").map(text) {
        return match version.as_str() {
            "3" => Ok(Dialect::OpenApi30),
            _ if version.starts_with("3.0") => Ok(Dialect::OpenApi30),
            _ if version.starts_with("3.") => Ok(Dialect::OpenApi31),
            _ => found(&format!("`openapi` is {}", quoted(&version))),
        };
    }
    if let Some(version) = root.get("swagger").map(text) {
        return match version.as_str() {
            "2" | "2.0" => Ok(Dialect::Swagger2),
            _ => found(&format!("`swagger` is {}", quoted(&version))),
        };
    }
    found("it has neither `openapi` nor `swagger`")
}

/// Bounds everything that is done on the stack afterwards.
fn measure(root: &Value, limits: &Limits) -> Result<(), ReadError> {
    let mut values = 0usize;
    let mut open = vec![(root, 1usize)];
    while let Some((value, depth)) = open.pop() {
        values += 1;
        if depth > limits.depth {
            return Err(ReadError::TooLarge { why: format!("its values nest deeper than {}", limits.depth) });
        }
        if values > limits.values {
            return Err(ReadError::TooLarge { why: format!("it has more than {} values", limits.values) });
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => open.extend(members.values().map(|member| (member, depth + 1))),
            _ => {}
        }
    }
    Ok(())
}

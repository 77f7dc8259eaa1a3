//! `multipart/form-data` (RFC 7578): files from Base64 or `data:` URIs, objects as JSON, everything else as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::body::argument;
use super::{Fault, Payload, file};
use crate::model::{Body, Kind, Operation};

/// How many references one schema is followed through: they may lead in a circle.
const REFERENCES: usize = 16;

/// One part.
struct Part {
    head: String,
    bytes: Vec<u8>,
}

/// The body of a call.
pub(super) fn write(operation: &Operation, body: &Body, members: &Map<String, Value>) -> Result<Payload, Fault> {
    let mut parts = Vec::new();
    for (name, value) in members {
        let schema = resolved(&body.schema, &operation.definitions).get("properties").and_then(|all| all.get(name));
        let member = Member { name, schema, media: media(body, name), definitions: &operation.definitions };
        let found = member.parts(value);
        parts.extend(found.map_err(|why| Fault::argument(argument(body, name), why))?);
    }
    let boundary = boundary(&parts);
    let mut bytes = Vec::new();
    for part in &parts {
        for piece in [b"--", boundary.as_bytes(), b"\r\n", part.head.as_bytes(), b"\r\n", &part.bytes, b"\r\n"] {
            bytes.extend_from_slice(piece);
        }
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    let kind = if body.media.contains('*') { "multipart/form-data" } else { body.media.as_str() };
    let kind = kind.split(';').next().unwrap_or(kind);
    Ok(Payload { media: format!("{kind}; boundary={boundary}"), bytes })
}

/// The media type that the description gives a member: of several the first.
fn media<'b>(body: &'b Body, name: &str) -> Option<&'b str> {
    let named = body.encoding.get(name)?.media.as_deref()?;
    named.split(',').map(str::trim).next().filter(|media| !media.is_empty())
}

/// A text that is in none of the parts: made of all of them, so that nobody can choose a part that ends early.
fn boundary(parts: &[Part]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.head.as_bytes());
        hash.update(&part.bytes);
    }
    let mut boundary = "proof-".to_owned();
    for byte in hash.finalize().iter().take(16) {
        let _ = write!(boundary, "{byte:02x}");
    }
    boundary
}

fn resolved<'s>(mut schema: &'s Value, definitions: &'s BTreeMap<String, Value>) -> &'s Value {
    for _ in 0..REFERENCES {
        let name = schema.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix("#/$defs/"));
        let Some(next) = name.and_then(|name| definitions.get(&wire::pointer::unescape(name))) else { break };
        schema = next;
    }
    schema
}

struct Member<'b> {
    name: &'b str,
    schema: Option<&'b Value>,
    media: Option<&'b str>,
    definitions: &'b BTreeMap<String, Value>,
}

impl Member<'_> {
    fn parts(&self, value: &Value) -> Result<Vec<Part>, String> {
        let schema = self.schema.map(|schema| resolved(schema, self.definitions));
        match value {
            Value::Array(items) if self.media.is_none_or(|media| Kind::of(media) != Kind::Json) => {
                let schema = schema.and_then(|schema| schema.get("items"));
                let schema = schema.map(|schema| resolved(schema, self.definitions));
                items.iter().map(|item| self.part(schema, item)).collect()
            }
            value => Ok(vec![self.part(schema, value)?]),
        }
    }

    fn part(&self, schema: Option<&Value>, value: &Value) -> Result<Part, String> {
        match value {
            Value::String(text) if self.is_file(schema) => {
                let file = file::read(text)?;
                let media = self.media.filter(|media| !media.contains('*')).map(str::to_owned).or(file.media);
                let media = media.unwrap_or_else(|| "application/octet-stream".to_owned());
                let name = file.name.as_deref().map(base_name).filter(|name| !name.is_empty());
                Ok(self.head(Some(name.unwrap_or(self.name)), Some(&media), file.bytes))
            }
            Value::String(text) => Ok(self.head(None, self.media, text.clone().into_bytes())),
            Value::Null => Ok(self.head(None, None, Vec::new())),
            Value::Array(_) | Value::Object(_) => {
                let media = self.media.unwrap_or("application/json");
                Ok(self.head(None, Some(media), value.to_string().into_bytes()))
            }
            value => Ok(self.head(None, self.media, value.to_string().into_bytes())),
        }
    }

    /// Whether a text is a file's bytes in Base64.
    fn is_file(&self, schema: Option<&Value>) -> bool {
        let is_binary = |media: &str| matches!(Kind::of(media), Kind::Bytes | Kind::Multipart);
        let member = |name: &str| schema.and_then(|schema| schema.get(name)).and_then(Value::as_str);
        member("format") == Some("binary")
            || member("contentMediaType").is_some_and(is_binary)
            || self.media.is_some_and(is_binary)
    }

    fn head(&self, file: Option<&str>, media: Option<&str>, bytes: Vec<u8>) -> Part {
        let mut head = format!("Content-Disposition: form-data; name=\"{}\"", quoted(self.name));
        if let Some(file) = file {
            let _ = write!(head, "; filename=\"{}\"", quoted(file));
        }
        head.push_str("\r\n");
        // The description names it: a line break in it would begin another header.
        if let Some(media) = media.filter(|media| !media.contains(['\r', '\n', '*'])) {
            let _ = write!(head, "Content-Type: {media}\r\n");
        }
        Part { head, bytes }
    }
}

/// The name of a file without folders.
fn base_name(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// A name between quotes, as browsers write it.
fn quoted(name: &str) -> String {
    let escape = |c: char| match c {
        '"' => "%22".to_owned(),
        '\r' => "%0D".to_owned(),
        '\n' => "%0A".to_owned(),
        c if c.is_control() => String::new(),
        c => c.to_string(),
    };
    name.chars().map(escape).collect()
}

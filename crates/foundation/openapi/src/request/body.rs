//! The body of a request: JSON, forms, text and bytes.

use serde_json::{Map, Value};

use super::{Fault, Payload, file, multipart, style};
use crate::model::{Arguments, Body, Encoding, Kind, Operation, Style};

/// The body of a call; none where it has none and may have none.
pub(super) fn write(
    operation: &Operation,
    body: &Body,
    arguments: &Map<String, Value>,
) -> Result<Option<Payload>, Fault> {
    let Some(value) = value(body, arguments)? else { return Ok(None) };
    let whole = match &body.arguments {
        Arguments::Whole(name) => name.as_str(),
        Arguments::Members(_) => "body",
    };
    let media = body.media.clone();
    let bytes = match (body.kind, value) {
        (Kind::Form, Value::Object(members)) => form(body, &members)?.into_bytes(),
        (Kind::Multipart, Value::Object(members)) => {
            return multipart::write(operation, body, &members).map(Some);
        }
        (Kind::Form | Kind::Multipart, _) => {
            return Err(Fault::argument(whole, format!("a body of {media} is an object")));
        }
        (Kind::Text, Value::String(text)) => text.into_bytes(),
        (Kind::Bytes, Value::String(text)) => {
            let file = file::read(&text).map_err(|why| Fault::argument(whole, why))?;
            // A wildcard names no media type; the file may.
            let media = if media.contains('*') { file.media.unwrap_or_else(octets) } else { media };
            return Ok(Some(Payload { media, bytes: file.bytes }));
        }
        (Kind::Bytes, _) => return Err(Fault::argument(whole, "it is neither Base64 nor a data: URI")),
        (Kind::Json | Kind::Text, value) => value.to_string().into_bytes(),
    };
    let media = if media.contains('*') { fallback(body.kind) } else { media };
    Ok(Some(Payload { media, bytes }))
}

fn octets() -> String {
    "application/octet-stream".to_owned()
}

/// What is sent where the description names a range of media types.
fn fallback(kind: Kind) -> String {
    match kind {
        Kind::Json => "application/json".to_owned(),
        Kind::Text => "text/plain".to_owned(),
        _ => octets(),
    }
}

/// The body as one value; `None`: the call has none.
fn value(body: &Body, arguments: &Map<String, Value>) -> Result<Option<Value>, Fault> {
    match &body.arguments {
        Arguments::Whole(name) => match arguments.get(name) {
            None if body.required => Err(Fault::argument(name, "it is required and missing")),
            value => Ok(value.cloned()),
        },
        Arguments::Members(members) => {
            let given = members.iter().filter_map(|member| Some((member, arguments.get(&member.argument)?)));
            let object: Map<_, _> = given.map(|(member, value)| (member.name.clone(), value.clone())).collect();
            Ok((body.required || !object.is_empty()).then_some(Value::Object(object)))
        }
    }
}

/// The argument that holds a member of the body.
pub(super) fn argument<'b>(body: &'b Body, member: &'b str) -> &'b str {
    match &body.arguments {
        Arguments::Whole(name) => name,
        Arguments::Members(members) => {
            members.iter().find(|known| known.name == member).map_or(member, |known| known.argument.as_str())
        }
    }
}

/// A form: pairs, each as its encoding says. Lists of values are repeated; objects without an encoding are JSON.
fn form(body: &Body, members: &Map<String, Value>) -> Result<String, Fault> {
    let mut pairs = Vec::new();
    for (name, value) in members {
        let encoding = body.encoding.get(name);
        if is_json(encoding, value) {
            pairs.push(style::pair(name, &value.to_string(), false));
            continue;
        }
        let written = match encoding {
            Some(Encoding { style, explode, allow_reserved, .. }) => {
                style::Written { style: *style, explode: *explode, reserved: *allow_reserved }
            }
            None => style::Written { style: Style::Form, explode: true, reserved: false },
        };
        let found = written.pairs(name, value);
        pairs.extend(found.map_err(|why| Fault::argument(argument(body, name), why))?);
    }
    Ok(pairs.join("&"))
}

fn is_json(encoding: Option<&Encoding>, value: &Value) -> bool {
    match encoding.map(|encoding| encoding.media.as_deref()) {
        Some(Some(media)) => Kind::of(media) == Kind::Json,
        Some(None) => false,
        None => match value {
            Value::Object(_) => true,
            Value::Array(items) => items.iter().any(|item| item.is_array() || item.is_object()),
            _ => false,
        },
    }
}

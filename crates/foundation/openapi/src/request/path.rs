//! The path of a request: the template with its values, each of which stays in its segment.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{Fault, content, escape, present, style};
use crate::model::{Operation, Parameter, Place};

/// How often a value is decoded to look for `..` in it: servers and proxies may each decode once.
const DECODINGS: usize = 3;

/// The path with its values, encoded; with the query that the template itself has.
pub(super) fn fill(operation: &Operation, arguments: &Map<String, Value>) -> Result<String, Fault> {
    let broken = |why: String| Fault::Description { at: operation.at.clone(), why };
    // A fragment is never sent.
    let template = operation.path.split('#').next().unwrap_or_default();
    let mut path = if template.starts_with('/') { String::new() } else { "/".to_owned() };
    let mut last = None;
    let mut rest = template;
    while let Some((literal, behind)) = rest.split_once('{') {
        let (name, after) = behind.split_once('}').ok_or_else(|| broken("a { without }".to_owned()))?;
        path.push_str(&escape::literal(literal));
        let found = present(operation, arguments, Place::Path).find(|(parameter, _)| parameter.name == name);
        let Some((parameter, value)) = found else { return Err(missing(operation, name)) };
        let _ = write!(path, "{}", filled(parameter, value)?);
        last = Some(parameter);
        rest = after;
    }
    path.push_str(&escape::literal(rest));
    let of_template = || broken("its path has the segment `.` or `..`".to_owned());
    check_segments(&path, last).map_err(|fault| fault.unwrap_or_else(of_template))?;
    Ok(path)
}

fn missing(operation: &Operation, name: &str) -> Fault {
    let parameter = operation.parameters.iter().find(|known| known.place == Place::Path && known.name == name);
    if let Some(parameter) = parameter {
        return Fault::argument(&parameter.argument, "it is required: it is part of the path");
    }
    let why = format!("the path has {{{}}}, and no parameter of that name", wire::escape::line(name));
    Fault::Description { at: operation.at.clone(), why }
}

/// The value of a path parameter, encoded.
fn filled(parameter: &Parameter, value: &Value) -> Result<String, Fault> {
    let fault = |why: &str| Fault::argument(&parameter.argument, why);
    if texts(value).iter().any(|text| climbs(text)) {
        return Err(fault("`.` and `..` between slashes lead out of the path"));
    }
    let written = match &parameter.media {
        Some(media) => escape::all(&content(parameter, media, value)?),
        None => style::path(parameter, value).map_err(|why| fault(&why))?,
    };
    // `;` is a list without items in the style `matrix`.
    if written.is_empty() || written == ";" {
        return Err(fault("it is empty; the path would be another one"));
    }
    Ok(written)
}

/// All texts in a value: also the names of members, which are written, too.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(members) => {
            members.iter().flat_map(|(name, value)| std::iter::once(name.clone()).chain(texts(value))).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a text has a segment `.` or `..` for a server that decodes once more than it should.
fn climbs(text: &str) -> bool {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..DECODINGS {
        let mut segments = bytes.split(|byte| matches!(byte, b'/' | b'\\'));
        if segments.any(|segment| matches!(segment, b"." | b"..")) {
            return true;
        }
        let decoded = escape::decoded(&String::from_utf8_lossy(&bytes));
        if decoded == bytes {
            return false;
        }
        bytes = decoded;
    }
    false
}

/// Refuses segments that are dots when value and template are together: `Some` where a value is to blame.
fn check_segments(path: &str, last: Option<&Parameter>) -> Result<(), Option<Fault>> {
    let path = path.split('?').next().unwrap_or_default();
    let is_dots = |segment: &str| matches!(escape::decoded(segment).as_slice(), b"." | b"..");
    if !path.split('/').any(is_dots) {
        return Ok(());
    }
    Err(last.map(|parameter| Fault::argument(&parameter.argument, "with it, the path has a segment of dots alone")))
}

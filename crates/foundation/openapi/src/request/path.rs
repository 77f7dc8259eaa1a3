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
    for text in texts(value) {
        match leads_out(&text) {
            Some(Leads::Up) => return Err(fault("`.` and `..` between slashes lead out of the path")),
            Some(Leads::On) if !parameter.allow_reserved => {
                return Err(fault("a slash in it may lead to another path; `slashes` in the configuration permits it"));
            }
            _ => {}
        }
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

/// Where a text leads if a server reads it as more than one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leads {
    /// To a path above.
    Up,
    /// To a path below.
    On,
}

/// Whether a text leaves its segment on a server that decodes more than it should.
fn leads_out(text: &str) -> Option<Leads> {
    let mut bytes = text.as_bytes().to_vec();
    let mut leads = None;
    for _ in 0..=DECODINGS {
        let plain = normalized(&bytes);
        if plain.split(|c| *c == '/').any(is_dots) {
            return Some(Leads::Up);
        }
        if plain.contains(&'/') {
            leads = Some(Leads::On);
        }
        let decoded = escape::decoded_bytes(&bytes);
        if decoded == bytes {
            break;
        }
        bytes = decoded;
    }
    leads
}

/// Whether a path has a segment that leads up, in any spelling that some server understands.
pub fn climbs(path: &str) -> bool {
    leads_out(path) == Some(Leads::Up)
}

/// Characters as servers may read them: every kind of slash as `/`, every kind of dot as `.`.
fn normalized(bytes: &[u8]) -> Vec<char> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(first) = rest.first() {
        // Too long forms of UTF-8 that old servers decode.
        let overlong = match rest {
            [0xC0, 0xAE, ..] => Some('.'),
            [0xC0, 0xAF, ..] | [0xC1, 0x9C, ..] => Some('/'),
            _ => None,
        };
        if let Some(c) = overlong {
            plain.push(c);
            rest = &rest[2..];
            continue;
        }
        let length = rest.iter().skip(1).take_while(|byte| **byte & 0xC0 == 0x80).count() + 1;
        match std::str::from_utf8(&rest[..length]) {
            Ok(text) => plain.extend(text.chars().map(usual)),
            Err(_) => plain.push(char::from(*first)),
        }
        rest = &rest[length..];
    }
    plain
}

const fn usual(c: char) -> char {
    match c {
        '\\' | '\u{ff0f}' | '\u{ff3c}' | '\u{2044}' | '\u{2215}' => '/',
        '\u{ff0e}' | '\u{2024}' => '.',
        c => c,
    }
}

/// Whether a segment is `.` or `..`, also with parameters (`..;x=1`), blanks or control characters that servers drop.
fn is_dots(segment: &[char]) -> bool {
    let name = segment.split(|c| *c == ';').next().unwrap_or_default();
    let mut seen = name.iter().filter(|c| !c.is_whitespace() && !c.is_control());
    matches!((seen.next(), seen.next(), seen.next()), (Some('.'), None, _) | (Some('.'), Some('.'), None))
}

/// Refuses segments that are dots when value and template are together: `Some` where a value is to blame.
fn check_segments(path: &str, last: Option<&Parameter>) -> Result<(), Option<Fault>> {
    if !climbs(path.split('?').next().unwrap_or_default()) {
        return Ok(());
    }
    Err(last.map(|parameter| Fault::argument(&parameter.argument, "with it, the path has a segment of dots alone")))
}

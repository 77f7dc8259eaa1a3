//! The request that a call of a tool becomes. Must not know how it is sent, authorized or repeated.
//!
//! A value never leaves the place that the description gives it: not its segment of the path, not its pair of the query, not
//! its header.

mod body;
pub(crate) mod escape;
mod file;
mod multipart;
mod path;
mod style;

#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::{Map, Value};

use crate::model::{Kind, Method, Operation, Parameter, Place};

pub(crate) use file::written as base64;
pub use path::climbs;

/// What is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// An absolute URL.
    pub url: String,
    /// Headers of the operation, names as the description has them; values without control characters.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<Payload>,
}

/// A body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Its media type, with parameters.
    pub media: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Why a call becomes no request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An argument is missing or cannot be sent.
    Argument {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// The description asks for something that cannot be sent.
    Description {
        /// Where: a JSON pointer into the description.
        at: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Fault {
    fn argument(name: &str, why: impl Into<String>) -> Self {
        Self::Argument { name: name.to_owned(), why: why.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument { name, why } => write!(f, "argument `{name}`: {why}"),
            Self::Description { at, why } => write!(f, "the description, at {at}: {why}"),
        }
    }
}

impl std::error::Error for Fault {}

/// Headers that the sender decides about: those that the specification reserves, and those that frame a message.
const RESERVED: [&str; 15] = [
    "accept",
    "authorization",
    "content-type",
    "accept-encoding",
    "connection",
    "content-length",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Whether a header parameter of this name is left out: the sender sets that header itself.
pub fn is_reserved_header(name: &str) -> bool {
    RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved))
}

/// The request that a call with these arguments becomes, below `base`: an absolute URL without query and fragment. Arguments
/// that the operation does not have are not looked at.
///
/// `null` is sent in JSON and is an empty value in forms; a parameter that is `null` is left out (RFC 6570).
pub fn build(operation: &Operation, arguments: &Map<String, Value>, base: &str) -> Result<Request, Fault> {
    for parameter in operation.parameters.iter().filter(|parameter| parameter.required) {
        if given(parameter, arguments).is_none() && !is_left_out(parameter) {
            return Err(Fault::argument(&parameter.argument, "it is required and missing"));
        }
    }
    let mut url = format!("{}{}", base.trim_end_matches('/'), path::fill(operation, arguments)?);
    let query = query(operation, arguments)?;
    if !query.is_empty() {
        url.push(if url.contains('?') { '&' } else { '?' });
        url.push_str(&query);
    }
    let headers = headers(operation, arguments)?;
    let body = operation.body.as_ref().map(|body| body::write(operation, body, arguments)).transpose()?.flatten();
    Ok(Request { method: operation.method, url, headers, body })
}

fn is_left_out(parameter: &Parameter) -> bool {
    parameter.place == Place::Header && is_reserved_header(&parameter.name)
}

/// The value of a parameter, where there is one.
fn given<'a>(parameter: &Parameter, arguments: &'a Map<String, Value>) -> Option<&'a Value> {
    arguments.get(&parameter.argument).filter(|value| !value.is_null())
}

/// The parameters of a place that have values.
fn present<'o>(
    operation: &'o Operation,
    arguments: &'o Map<String, Value>,
    place: Place,
) -> impl Iterator<Item = (&'o Parameter, &'o Value)> {
    let here = operation.parameters.iter().filter(move |parameter| parameter.place == place);
    here.filter_map(|parameter| Some((parameter, given(parameter, arguments)?)))
}

fn query(operation: &Operation, arguments: &Map<String, Value>) -> Result<String, Fault> {
    let mut pairs = Vec::new();
    for (parameter, value) in present(operation, arguments, Place::Query) {
        pairs.extend(pairs_of(parameter, value)?);
    }
    Ok(pairs.join("&"))
}

/// The pairs of a query or cookie parameter, encoded.
fn pairs_of(parameter: &Parameter, value: &Value) -> Result<Vec<String>, Fault> {
    let Parameter { name, style, explode, .. } = parameter;
    // In a cookie, a semicolon would begin another one.
    let allow_reserved = &(parameter.allow_reserved && parameter.place == Place::Query);
    if let Some(media) = &parameter.media {
        let text = content(parameter, media, value)?;
        return Ok(vec![style::pair(name, &text, *allow_reserved)]);
    }
    let written = style::Written { style: *style, explode: *explode, reserved: *allow_reserved };
    written.pairs(name, value).map_err(|why| Fault::argument(&parameter.argument, why))
}

/// The text of a parameter that is written in a media type.
fn content(parameter: &Parameter, media: &str, value: &Value) -> Result<String, Fault> {
    match (Kind::of(media), value) {
        (Kind::Json, value) => Ok(value.to_string()),
        (_, Value::String(text)) => Ok(text.clone()),
        (_, Value::Array(_) | Value::Object(_)) => {
            let why = format!("its media type {media} takes a text, not a list or an object");
            Err(Fault::argument(&parameter.argument, why))
        }
        (_, value) => Ok(value.to_string()),
    }
}

fn headers(operation: &Operation, arguments: &Map<String, Value>) -> Result<Vec<(String, String)>, Fault> {
    let mut headers = Vec::new();
    for (parameter, value) in present(operation, arguments, Place::Header) {
        if is_left_out(parameter) {
            continue;
        }
        if !wire::http::is_token(&parameter.name) {
            let why = format!("`{}` is not the name of a header", wire::escape::line(&parameter.name));
            return Err(Fault::Description { at: operation.at.clone(), why });
        }
        let text = match &parameter.media {
            Some(media) => content(parameter, media, value)?,
            None => style::plain(value, parameter.explode).map_err(|why| Fault::argument(&parameter.argument, why))?,
        };
        // A line break would begin another header.
        if text.chars().any(|c| c.is_control() && c != '\t') {
            let why = "a header holds no line breaks or other control characters";
            return Err(Fault::argument(&parameter.argument, why));
        }
        headers.push((parameter.name.clone(), text.trim().to_owned()));
    }
    let mut cookies = Vec::new();
    for (parameter, value) in present(operation, arguments, Place::Cookie) {
        cookies.extend(pairs_of(parameter, value)?);
    }
    if !cookies.is_empty() {
        headers.push(("Cookie".to_owned(), cookies.join("; ")));
    }
    Ok(headers)
}

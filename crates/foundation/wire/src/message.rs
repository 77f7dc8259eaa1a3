//! JSON-RPC 2.0 messages as MCP uses them, their text kept as it crossed, and a precise name for what is wrong with an invalid one.
//!
//! Reading is lenient about everything the envelope does not need (unknown members survive) and strict about the
//! envelope. Whether a *well-formed* message fits its method is the business of [`crate::shape`].

mod beginning;
mod fault;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::json::{self, Duplicate, Member, Outline, Token};

pub use beginning::begins_result;
pub use fault::{Fault, Malformed};

/// The identifier of a request: a string or an integer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestId {
    /// A JSON string, escapes resolved.
    String(String),
    /// A JSON number in canonical form: `1`, `1.0` and `1e0` are one identifier, of any size.
    Number(String),
}

impl RequestId {
    /// The identifier as JSON text.
    pub fn to_json(&self) -> String {
        match self {
            Self::String(text) => Value::from(text.as_str()).to_string(),
            Self::Number(text) => text.clone(),
        }
    }

    /// The identifier as a JSON value; an integer beyond 64 bits is rounded.
    pub fn to_value(&self) -> Value {
        match self {
            Self::String(text) => Value::from(text.as_str()),
            Self::Number(text) => serde_json::from_str(text).unwrap_or_default(),
        }
    }

    /// Reads an identifier from a JSON value; `None` for anything but a string or an integer.
    pub fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::String(text.clone())),
            Value::Number(number) => integer(&number.to_string()).map(Self::Number),
            _ => None,
        }
    }
}

impl From<i64> for RequestId {
    fn from(number: i64) -> Self {
        Self::Number(number.to_string())
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

/// The canonical text of a JSON number that is an integer. Exact: no size is rounded.
fn integer(number: &str) -> Option<String> {
    // Nearly every id is one of these, canonical as it stands.
    if number.len() <= 20 && number.bytes().all(|b| b.is_ascii_digit()) {
        return Some(number.to_owned());
    }
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return Some("0".to_owned());
    }
    let trailing = digits.len() - digits.trim_end_matches('0').len();
    let exponent: i64 = exponent.parse().ok()?;
    let (trailing, places) = (i64::try_from(trailing).ok()?, i64::try_from(fraction.len()).ok()?);
    let zeros = exponent.checked_add(trailing)?.checked_sub(places)?;
    match usize::try_from(zeros).ok()? {
        // Written out, an exponent would let ten bytes ask for gigabytes.
        zeros if zeros > 400 => Some(format!("{sign}{significant}e{zeros}")),
        zeros => Some(format!("{sign}{significant}{}", "0".repeat(zeros))),
    }
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Has a method and an id; wants an answer.
    Request,
    /// Has a method and no id.
    Notification,
    /// Answers a request with a result.
    Result,
    /// Answers a request with an error; its id may be absent or null where the request could not be read.
    Error,
}

impl Kind {
    /// Whether this is an answer: [`Kind::Result`] or [`Kind::Error`].
    pub const fn is_response(self) -> bool {
        matches!(self, Self::Result | Self::Error)
    }
}

/// One well-formed JSON-RPC message and its text, byte for byte.
#[derive(Clone, Debug)]
pub struct Message(Arc<Parts>);

/// What clones of a message share: it goes through many hands, by value.
#[derive(Debug)]
struct Parts {
    text: Arc<String>,
    kind: Kind,
    id: Option<RequestId>,
    null_id: bool,
    /// Where the id stands; empty without an id.
    id_at: Range<u32>,
    method: Option<Box<str>>,
    body: Option<Range<usize>>,
    members: Vec<Member>,
    /// The first name that stands twice in one object of `params`.
    repeated: Option<Box<str>>,
    value: OnceLock<Box<Value>>,
    meta: OnceLock<Option<Box<Value>>>,
}

impl Message {
    /// The text as it crossed.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The id, where there is one that is not null.
    pub fn id(&self) -> Option<&RequestId> {
        self.0.id.as_ref()
    }

    /// Whether the message has an `id` member and it is `null` (only an error may).
    pub fn has_null_id(&self) -> bool {
        self.0.null_id
    }

    /// The method of a request or notification.
    pub fn method(&self) -> Option<&str> {
        self.0.method.as_deref()
    }

    /// The raw text of `params`, `result` or `error`, whichever this kind of message has.
    pub fn body_text(&self) -> Option<&str> {
        self.0.body.clone().map(|span| &self.0.text[span])
    }

    /// The first name that is repeated within any one object of `params`, escapes resolved. Of a response, no name is looked at.
    pub fn repeated_parameter(&self) -> Option<&str> {
        self.0.repeated.as_deref()
    }

    /// The members of `params`, `result` or `error`, in order, repeated ones included: the name, escapes
    /// resolved, and the raw text of the value. None where that is not an object.
    pub fn body_members(&self) -> impl Iterator<Item = (Cow<'_, str>, &str)> {
        let text = |span: &Range<usize>| &self.0.text[span.clone()];
        self.0.members.iter().map(move |member| (json::unquote(text(&member.name)), text(&member.value)))
    }

    /// The whole message as a value, parsed on first use.
    pub fn value(&self) -> &Value {
        self.0.value.get_or_init(|| Box::new(json::lenient(&self.0.text).unwrap_or_default()))
    }

    /// `params` of a request or notification.
    pub fn params(&self) -> Option<&Value> {
        self.value().get("params")
    }

    /// `result` of a [`Kind::Result`].
    pub fn result(&self) -> Option<&Value> {
        if self.0.kind == Kind::Result { self.value().get("result") } else { None }
    }

    /// `error` of a [`Kind::Error`].
    pub fn error(&self) -> Option<&Value> {
        if self.0.kind == Kind::Error { self.value().get("error") } else { None }
    }

    /// `error.code` of a [`Kind::Error`].
    pub fn error_code(&self) -> Option<i64> {
        self.error()?.get("code")?.as_i64()
    }

    /// Method and parameters as canonical JSON, without the members of `params` named in `except`: equal for requests
    /// that ask for the same thing. Missing parameters count as empty ones.
    pub fn content_key(&self, except: &[&str]) -> String {
        let mut params = self.params().cloned().unwrap_or_else(|| Value::Object(serde_json::Map::new()));
        if let Value::Object(members) = &mut params {
            members.retain(|name, _| !except.contains(&name.as_str()));
        }
        let params = json::canonical(&params);
        format!("{}\n{}", self.method().unwrap_or_default(), String::from_utf8_lossy(&params))
    }

    /// `params._meta` or `result._meta`, parsed on first use; nothing else is parsed for it.
    pub fn meta(&self) -> Option<&Value> {
        let read = || {
            let meta = self.body_value("_meta").filter(|_| self.0.kind != Kind::Error)?;
            Some(Box::new(meta))
        };
        self.0.meta.get_or_init(read).as_deref()
    }

    /// A member of `params._meta` or `result._meta`. Nothing is parsed where the text cannot hold that name.
    pub fn meta_member(&self, name: &str) -> Option<&Value> {
        let raw = self.body_member("_meta")?.as_bytes();
        let is_named = |quote: usize| raw[quote + 1..].starts_with(name.as_bytes());
        let may_hold = memchr::memchr2_iter(b'"', b'\\', raw).any(|at| raw[at] == b'\\' || is_named(at));
        if may_hold { self.meta()?.get(name) } else { None }
    }

    /// The raw text of a member of `params`, `result` or `error`: the last one of this name, as readers of JSON take it.
    pub fn body_member(&self, name: &str) -> Option<&str> {
        let found = self.0.members.iter().rev().find(|member| json::says(&self.0.text[member.name.clone()], name))?;
        Some(&self.0.text[found.value.clone()])
    }

    /// The same as a value; nothing else is parsed for it.
    pub fn body_value(&self, name: &str) -> Option<Value> {
        self.body_member(name).map(|text| json::lenient(text).unwrap_or_default())
    }

    /// The same of a member that is a string, escapes resolved.
    pub fn string_member(&self, name: &str) -> Option<Cow<'_, str>> {
        self.body_member(name).filter(|text| text.starts_with('"')).map(json::unquote)
    }

    /// The text with another id in place of the one that it has.
    pub fn with_id(&self, id: &RequestId) -> String {
        let at = self.0.id_at.start as usize..self.0.id_at.end as usize;
        if at.is_empty() {
            return self.text().to_owned();
        }
        let id = id.to_json();
        let mut text = String::with_capacity(self.0.text.len() + id.len());
        text.push_str(&self.0.text[..at.start]);
        text.push_str(&id);
        text.push_str(&self.0.text[at.end..]);
        text
    }

    /// Where the id stands, and the body as a member; its name has no place.
    pub(crate) fn parts(&self) -> (Range<usize>, Option<Member>) {
        let body = self.0.body.clone().map(|value| {
            let kind = match self.0.text.as_bytes()[value.start] {
                b'{' => Token::ObjectStart,
                b'[' => Token::ArrayStart,
                b'"' => Token::String,
                b't' | b'f' => Token::Bool,
                b'n' => Token::Null,
                _ => Token::Number,
            };
            Member { name: 0..0, kind, value, members: self.0.members.clone() }
        });
        (self.0.id_at.start as usize..self.0.id_at.end as usize, body)
    }

    /// The text by value; copied only where another clone of the message holds it too.
    pub fn into_text(self) -> String {
        match Arc::try_unwrap(self.0) {
            Ok(parts) => Arc::try_unwrap(parts.text).unwrap_or_else(|text| text.to_string()),
            Err(shared) => shared.text.to_string(),
        }
    }

    /// The text, shared with the message.
    pub fn shared_text(&self) -> Arc<String> {
        Arc::clone(&self.0.text)
    }
}

/// What one frame carries.
#[derive(Clone, Debug)]
pub enum Packet {
    /// One message.
    Message(Message),
    /// A JSON-RPC batch, not empty. Only 2025-03-26 has batches.
    Batch(Vec<Result<Message, Malformed>>),
}

/// Reads one frame: a message or a batch.
pub fn parse(bytes: &[u8]) -> Result<Packet, Malformed> {
    let text = std::str::from_utf8(bytes).map_err(|e| not_utf8(&e))?;
    packet(text, || text.to_owned().into())
}

/// The same of a text that is shared with the message.
pub fn parse_shared(text: &Arc<String>) -> Result<Packet, Malformed> {
    packet(text, || Arc::clone(text))
}

/// The same of bytes that are the frame's own: a message keeps them instead of a copy.
pub fn parse_owned(bytes: Vec<u8>) -> Result<Packet, Malformed> {
    let text = String::from_utf8(bytes).map_err(|e| not_utf8(&e.utf8_error()))?;
    parse_shared(&Arc::new(text))
}

/// How many elements a batch has, without reading them; 0 for anything else.
pub fn batch_length(bytes: &[u8]) -> usize {
    let text = if bytes.trim_ascii_start().starts_with(b"[") { std::str::from_utf8(bytes).ok() } else { None };
    match text.map(json::outline) {
        Some(Ok(Outline::Array(parts))) => parts.len(),
        _ => 0,
    }
}

fn not_utf8(error: &std::str::Utf8Error) -> Malformed {
    Malformed { fault: Fault::NotUtf8, at: error.valid_up_to(), id: None, names_method: false }
}

/// `kept` gives the text that the message keeps.
fn packet(text: &str, kept: impl FnOnce() -> Arc<String>) -> Result<Packet, Malformed> {
    let plain = |fault, at| Malformed { fault, at, id: None, names_method: false };
    if text.trim_ascii().is_empty() {
        return Err(plain(Fault::Empty, 0));
    }
    match outline(text)? {
        (Outline::Array(parts), _) if parts.is_empty() => Err(plain(Fault::EmptyBatch, 0)),
        (Outline::Array(parts), _) => Ok(Packet::Batch(parts.into_iter().map(|span| element(text, span)).collect())),
        (Outline::Object(members), repeated) => envelope(text, kept, members, repeated).map(Packet::Message),
        (Outline::Scalar(_), _) => Err(plain(Fault::NotObject, 0)),
    }
}

fn outline(text: &str) -> Result<(Outline, Option<Duplicate>), Malformed> {
    json::outline_watching(text, "params").map_err(|fault| {
        let what = if fault.why == json::Why::TooDeep { Fault::TooDeep } else { Fault::NotJson(fault.why) };
        Malformed { fault: what, at: fault.at, id: None, names_method: false }
    })
}

fn element(text: &str, span: Range<usize>) -> Result<Message, Malformed> {
    let shift = |mut malformed: Malformed| {
        malformed.at += span.start;
        malformed
    };
    let part = &text[span.clone()];
    match outline(part).map_err(shift)? {
        (Outline::Object(members), repeated) => {
            envelope(part, || part.to_owned().into(), members, repeated).map_err(shift)
        }
        (Outline::Array(_), _) => {
            Err(Malformed { fault: Fault::NestedBatch, at: span.start, id: None, names_method: false })
        }
        (Outline::Scalar(_), _) => {
            Err(Malformed { fault: Fault::NotObject, at: span.start, id: None, names_method: false })
        }
    }
}

#[derive(Default)]
struct Members<'m> {
    jsonrpc: Option<&'m Member>,
    id: Option<&'m Member>,
    method: Option<&'m Member>,
    params: Option<&'m Member>,
    result: Option<&'m Member>,
    error: Option<&'m Member>,
}

/// Sorts the members of the envelope out; a repeated one makes the message ambiguous.
fn sort<'m>(text: &str, members: &'m [Member]) -> (Members<'m>, Option<(Fault, usize)>) {
    let mut sorted = Members::default();
    let mut fault = None;
    for member in members {
        let name = json::unquote(&text[member.name.clone()]);
        let place = match name.as_ref() {
            "jsonrpc" => &mut sorted.jsonrpc,
            "id" => &mut sorted.id,
            "method" => &mut sorted.method,
            "params" => &mut sorted.params,
            "result" => &mut sorted.result,
            "error" => &mut sorted.error,
            _ => continue,
        };
        if place.replace(member).is_some() {
            fault.get_or_insert((Fault::DuplicateMember(name.into_owned()), member.name.start));
        }
    }
    (sorted, fault)
}

fn envelope(
    text: &str,
    kept: impl FnOnce() -> Arc<String>,
    mut members: Vec<Member>,
    repeated: Option<Duplicate>,
) -> Result<Message, Malformed> {
    let head = read_envelope(text, &members)?;
    let body = head.body.map(|index| members.swap_remove(index));
    let (body, members) = body.map(|body| (body.value, body.members)).unzip();
    Ok(Message(Arc::new(Parts {
        kind: head.kind,
        null_id: head.null_id,
        id: head.id,
        id_at: head.id_at,
        method: head.method,
        body,
        members: members.unwrap_or_default(),
        repeated: repeated.map(|repeated| repeated.name.into()),
        text: kept(),
        value: OnceLock::new(),
        meta: OnceLock::new(),
    })))
}

/// What the envelope says, and which of the members is the body.
struct Head {
    kind: Kind,
    id: Option<RequestId>,
    null_id: bool,
    id_at: Range<u32>,
    method: Option<Box<str>>,
    body: Option<usize>,
}

fn read_envelope(text: &str, members: &[Member]) -> Result<Head, Malformed> {
    let (has, duplicate) = sort(text, members);
    let id = has.id.map(|member| read_id(text, member));
    let readable = id.as_ref().and_then(|id| id.as_ref().ok().cloned());
    let names_method = has.method.is_some();
    let fail = |fault: Fault, at: usize| Err(Malformed { fault, at, id: readable.clone(), names_method });
    if let Some((fault, at)) = duplicate {
        return fail(fault, at);
    }
    match has.jsonrpc {
        None => return fail(Fault::JsonrpcMissing, 0),
        Some(m) if m.kind != Token::String || json::unquote(&text[m.value.clone()]) != "2.0" => {
            return fail(Fault::JsonrpcWrong, m.value.start);
        }
        Some(_) => {}
    }
    let (kind, body) = match classify(text, &has) {
        Ok(found) => found,
        Err((fault, at)) => return fail(fault, at),
    };
    let id = match id {
        Some(Err(Fault::IdNull)) if kind == Kind::Error => None,
        Some(Err(fault)) => return fail(fault, has.id.map_or(0, |m| m.value.start)),
        Some(Ok(id)) => Some(id),
        None if kind == Kind::Result => return fail(Fault::ResultWithoutId, 0),
        None => None,
    };
    Ok(Head {
        kind,
        null_id: id.is_none() && has.id.is_some(),
        id_at: has.id.map_or(0..0, |member| place(&member.value)),
        id,
        method: has.method.map(|m| json::unquote(&text[m.value.clone()]).into()),
        body: body.and_then(|body| members.iter().position(|m| m.value == body.value)),
    })
}

/// A span in fewer bytes; empty beyond 4 GiB, where nothing is read.
fn place(span: &Range<usize>) -> Range<u32> {
    match (u32::try_from(span.start), u32::try_from(span.end)) {
        (Ok(start), Ok(end)) => start..end,
        _ => 0..0,
    }
}

fn read_id(text: &str, member: &Member) -> Result<RequestId, Fault> {
    let raw = &text[member.value.clone()];
    match member.kind {
        Token::String => Ok(RequestId::String(json::unquote(raw).into_owned())),
        Token::Number => integer(raw).map(RequestId::Number).ok_or(Fault::IdFraction),
        Token::Null => Err(Fault::IdNull),
        _ => Err(Fault::IdType),
    }
}

type Classified<'m> = (Kind, Option<&'m Member>);

fn classify<'m>(text: &str, has: &Members<'m>) -> Result<Classified<'m>, (Fault, usize)> {
    match (has.method, has.result, has.error) {
        (Some(_), Some(m), _) | (Some(_), None, Some(m)) => Err((Fault::RequestAndResponse, m.name.start)),
        (Some(method), None, None) => {
            if method.kind != Token::String {
                return Err((Fault::MethodNotString, method.value.start));
            }
            if let Some(params) = has.params
                && !matches!(params.kind, Token::ObjectStart | Token::ArrayStart)
            {
                return Err((Fault::ParamsType, params.value.start));
            }
            Ok((if has.id.is_some() { Kind::Request } else { Kind::Notification }, has.params))
        }
        (None, Some(_), Some(error)) => Err((Fault::ResultAndError, error.name.start)),
        (None, Some(result), None) => Ok((Kind::Result, Some(result))),
        (None, None, Some(error)) => {
            error_object(text, error)?;
            Ok((Kind::Error, Some(error)))
        }
        (None, None, None) => Err((Fault::Nothing, 0)),
    }
}

fn error_object(text: &str, error: &Member) -> Result<(), (Fault, usize)> {
    let start = error.value.start;
    let raw = &text[error.value.clone()];
    let Ok(Outline::Object(members)) = json::outline(raw) else { return Err((Fault::ErrorType, start)) };
    let member = |name: &str| members.iter().find(|m| json::unquote(&raw[m.name.clone()]) == name);
    match member("code") {
        Some(m) if m.kind == Token::Number && integer(&raw[m.value.clone()]).is_some() => {}
        other => return Err((Fault::ErrorCode, start + other.map_or(0, |m| m.value.start))),
    }
    match member("message") {
        Some(m) if m.kind == Token::String => Ok(()),
        other => Err((Fault::ErrorMessage, start + other.map_or(0, |m| m.value.start))),
    }
}

//! Decides which era a message belongs to, and checks what the modern era demands of every request: the required `_meta`,
//! headers that agree with the body, a served version. Knows only the methods whose names decide.

use std::borrow::Cow;

use hyper::HeaderMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use wire::http::{METHOD, NAME, PROTOCOL_VERSION, SESSION_ID, decode_value};
use wire::{Era, Message, Revision};

use crate::service::{RpcError, code};

/// The few members of `params` that the envelope of the modern era needs, as they stand in the text.
#[derive(Default)]
struct Params<'a> {
    meta: Option<&'a str>,
    name: Option<&'a str>,
    uri: Option<&'a str>,
    task: Option<&'a str>,
}

impl<'a> Params<'a> {
    /// Where one of them stands twice, nobody can tell which is meant: none is read.
    fn of(message: &'a Message) -> Self {
        let mut params = Self::default();
        for (name, value) in message.body_members() {
            let place = match name.as_ref() {
                "_meta" => &mut params.meta,
                "name" => &mut params.name,
                "uri" => &mut params.uri,
                "taskId" => &mut params.task,
                _ => continue,
            };
            if place.replace(value).is_some() {
                return Self::default();
            }
        }
        params.meta = params.meta.filter(|meta| *meta != "null");
        params
    }
}

/// The reserved members of a request's `_meta`.
#[derive(Default, Deserialize)]
struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientInfo")]
    client: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/logLevel")]
    log_level: Option<&'a RawValue>,
}

/// A message seen through what decides its era.
pub(crate) struct EraCheck<'a> {
    message: &'a Message,
    headers: Option<&'a HeaderMap>,
    params: Params<'a>,
    meta: Option<Meta<'a>>,
}

impl<'a> EraCheck<'a> {
    pub(crate) fn new(message: &'a Message, headers: Option<&'a HeaderMap>) -> Self {
        let params = Params::of(message);
        let meta = params.meta.and_then(object);
        Self { message, headers, params, meta }
    }

    /// A request is modern when its `_meta` carries the protocol version, when its version header names a modern
    /// revision, or, where no legacy version is named, when a header, the method or a member of its `_meta` is one that
    /// only the modern era has. `initialize` is legacy whatever other headers say (2026-07-28, basic/versioning): tower-mcp
    /// sends `Mcp-Method` with it.
    pub(crate) fn era(&self) -> Era {
        if self.meta.as_ref().is_some_and(|meta| meta.version.is_some()) {
            return Era::Modern;
        }
        let named = self.header(PROTOCOL_VERSION).and_then(|version| version.parse::<Revision>().ok());
        if let Some(revision) = named {
            return revision.era();
        }
        // So is what comes in a session, which the modern era has not.
        let in_session = self.headers.is_some_and(|headers| headers.contains_key(SESSION_ID)) && self.meta.is_none();
        if in_session || self.message.method() == Some("initialize") {
            return Era::Legacy;
        }
        let modern_header = |name| self.headers.is_some_and(|headers| headers.contains_key(name));
        let modern_method = matches!(self.message.method(), Some("server/discover" | "subscriptions/listen"));
        let modern_meta = self.meta.as_ref().is_some_and(|meta| meta.capabilities.is_some() || meta.client.is_some());
        if modern_method || modern_meta || modern_header(METHOD) || modern_header(NAME) {
            Era::Modern
        } else {
            Era::Legacy
        }
    }

    /// The era, as a server sees it that serves these: one of the legacy era alone knows of no other.
    pub(crate) fn era_among(&self, served: &[Revision]) -> Era {
        let knows = served.iter().any(|revision| revision.era() == Era::Modern);
        if knows { self.era() } else { Era::Legacy }
    }

    /// Lets a modern request in and tells its revision, or tells why not. The order is: `_meta`, headers, version.
    pub(crate) fn admit(&self, served: &[Revision]) -> Result<Revision, RpcError> {
        let version = self.required_meta()?;
        if self.headers.is_some() {
            self.headers_agree(&version)?;
        }
        let modern = version.parse().ok().filter(|r: &Revision| r.era() == Era::Modern && served.contains(r));
        modern.ok_or_else(|| unsupported(&version, served))
    }

    /// basic/index: a request without a required `_meta` member is malformed (-32602).
    fn required_meta(&self) -> Result<Cow<'a, str>, RpcError> {
        let bad = |what: &str| RpcError::invalid_params(format!("Invalid params: `_meta` {what}"));
        self.params.meta.ok_or_else(|| bad("is missing"))?;
        let meta = self.meta.as_ref().ok_or_else(|| bad("is not an object that can be read"))?;
        let version = meta.version.ok_or_else(|| bad("lacks `io.modelcontextprotocol/protocolVersion`"))?;
        let version = string(version.get()).ok_or_else(|| bad("has a protocol version that is not a string"))?;
        match meta.capabilities {
            None => return Err(bad("lacks `io.modelcontextprotocol/clientCapabilities`")),
            Some(raw) if !raw.get().starts_with('{') => {
                return Err(bad("has client capabilities that are not an object"));
            }
            Some(_) => {}
        }
        if meta.client.is_some_and(|raw| object::<Implementation<'_>>(raw.get()).is_none()) {
            return Err(bad("has a clientInfo without a string `name` and `version`"));
        }
        if meta.log_level.is_some_and(|raw| !is_log_level(raw.get())) {
            return Err(bad("has an unknown log level"));
        }
        Ok(version)
    }

    /// basic/transports/streamable-http#server-validation
    fn headers_agree(&self, version: &str) -> Result<(), RpcError> {
        self.same(PROTOCOL_VERSION, version, false)?;
        let method = self.message.method().unwrap_or_default();
        self.same(METHOD, method, false)?;
        let source = match method {
            "tools/call" | "prompts/get" => self.params.name,
            "resources/read" => self.params.uri,
            // The extension io.modelcontextprotocol/tasks.
            "tasks/get" | "tasks/update" | "tasks/cancel" => self.params.task,
            _ => None,
        };
        // A body without the member, or with one that is no string, is refused for that by the method itself.
        match source.and_then(string) {
            Some(name) => self.same(NAME, &name, true),
            None => Ok(()),
        }
    }

    fn same(&self, header: &str, body: &str, encoded: bool) -> Result<(), RpcError> {
        let mismatch = |what: String| RpcError::new(code::HEADER_MISMATCH, format!("Header mismatch: {header} {what}"));
        let mut values = self.headers.map(|headers| headers.get_all(header)).into_iter().flatten();
        let value = values.next().ok_or_else(|| mismatch("is missing".to_owned()))?;
        if values.next().is_some() {
            return Err(mismatch("stands twice".to_owned()));
        }
        let text = value.to_str().map_err(|_| mismatch("has characters that a header may not have".to_owned()))?;
        let decoded = if encoded { decode_value(text) } else { Ok(text.into()) };
        match decoded {
            Ok(decoded) if decoded == body => Ok(()),
            Ok(_) => Err(mismatch(format!("`{}` is not what the body says", wire::escape::line(text)))),
            Err(bad) => Err(mismatch(format!("is malformed: {bad}"))),
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers?.get(name)?.to_str().ok()
    }
}

/// The least an `Implementation` has.
#[derive(Deserialize)]
struct Implementation<'a> {
    #[serde(borrow, rename = "name")]
    _name: Cow<'a, str>,
    #[serde(borrow, rename = "version")]
    _version: Cow<'a, str>,
}

/// An object read as a `T`. An array is none, though its elements would do for the members of a `T`.
fn object<'a, T: Deserialize<'a>>(raw: &'a str) -> Option<T> {
    if raw.starts_with('{') { serde_json::from_str(raw).ok() } else { None }
}

/// The text of a JSON string, without a copy where nothing in it is escaped.
fn string(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))?;
    if inner.contains('\\') { serde_json::from_str(raw).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(inner)) }
}

fn is_log_level(raw: &str) -> bool {
    const LEVELS: [&str; 8] = [
        "\"debug\"",
        "\"info\"",
        "\"notice\"",
        "\"warning\"",
        "\"error\"",
        "\"critical\"",
        "\"alert\"",
        "\"emergency\"",
    ];
    LEVELS.contains(&raw)
}

/// basic/versioning#protocol-version-negotiation
fn unsupported(requested: &str, served: &[Revision]) -> RpcError {
    // A legacy revision in `_meta` is served, though not this way: naming it again would send the client in circles.
    let supported: Vec<_> = served.iter().map(|r| r.as_str()).filter(|r| *r != requested).collect();
    RpcError::new(code::UNSUPPORTED_VERSION, "Unsupported protocol version")
        .with_data(serde_json::json!({ "supported": supported, "requested": requested }))
}

//! From [`Outgoing`] to one HTTP request: our headers for the era, the user's, then the caller's deviations. Values only.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use hyper::Request;
use hyper::header::{HeaderName, HeaderValue};
use serde_json::Value;
use url::Position;
use wire::Message;
use wire::http::{PROTOCOL_VERSION, modern_headers};
use wire::trace::Headers;

use super::HttpAddress;
use super::authorizer::Authorizer;
use super::body::{Cuts, Pieces};
use super::error::SendError;
use super::http::HyperRequest;
use super::outgoing::{Edit, Outgoing, Session};

/// The input schemas of tools by name, where arguments may be mirrored in headers.
pub(crate) type ToolSchemas = HashMap<String, Value>;

/// The state of the connection that a request depends on.
pub(crate) struct Context {
    pub(crate) address: HttpAddress,
    /// Where POSTs go, if not to the address itself.
    pub(crate) endpoint: Option<String>,
    pub(crate) session: Option<String>,
    /// `MCP-Protocol-Version`, where it is required.
    pub(crate) version: Option<String>,
    /// Present in the modern era only.
    pub(crate) tools: Option<ToolSchemas>,
    /// Supplies credentials.
    pub(crate) authorizer: Option<Arc<dyn Authorizer>>,
}

/// A request ready to be written.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Headers,
    pub(crate) body: Option<Bytes>,
    pub(crate) cuts: Cuts,
}

impl Prepared {
    pub(crate) fn new(outgoing: &Outgoing, message: Option<&Message>, context: &Context) -> Self {
        let method = outgoing.method.clone().unwrap_or_else(|| "POST".to_owned());
        let own = || context.address.url[Position::BeforePath..Position::AfterQuery].to_owned();
        let posted = || context.endpoint.clone().filter(|_| method == "POST");
        let mut target = outgoing.target.clone().or_else(posted).unwrap_or_else(own);
        if let Some(more) = &outgoing.query {
            target.push(if target.contains('?') { '&' } else { '?' });
            target.push_str(more);
        }
        let mut headers = basic(&method, outgoing, context);
        add_protocol(&mut headers, outgoing, message, context);
        if let Some(authorizer) = &context.authorizer {
            headers.extend(authorizer.headers(&method, &context.address.url));
        }
        for (name, value) in &context.address.headers {
            set(&mut headers, name, value);
        }
        for edit in &outgoing.edits {
            match edit {
                Edit::Set(name, value) => set(&mut headers, name, value),
                Edit::Add(name, value) => headers.push((name.clone(), value.clone())),
                Edit::Remove(name) => headers.retain(|(n, _)| !n.eq_ignore_ascii_case(name)),
                Edit::RemoveAll(prefix) => {
                    headers.retain(|(n, _)| !n.get(..prefix.len()).is_some_and(|n| n.eq_ignore_ascii_case(prefix)));
                }
            }
        }
        // The HTTP library writes names in lower case.
        for (name, _) in &mut headers {
            name.make_ascii_lowercase();
        }
        let body = outgoing.body.clone().map(Bytes::from);
        Self { method, target, headers, body, cuts: outgoing.cuts.clone() }
    }

    pub(crate) fn request(&self) -> Result<HyperRequest, SendError> {
        let unsendable = |what: &str, why: String| SendError::Unsendable { why: format!("{what}: {why}") };
        let method =
            hyper::Method::from_bytes(self.method.as_bytes()).map_err(|e| unsendable("method", e.to_string()))?;
        let uri: hyper::Uri = self.target.parse().map_err(|e| unsendable("target", format!("{e}")))?;
        let mut request = Request::new(Pieces::new(self.body.clone().unwrap_or_default(), &self.cuts));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        for (name, value) in &self.headers {
            let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|e| unsendable(name, e.to_string()))?;
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| unsendable(name, e.to_string()))?;
            request.headers_mut().append(name, value);
        }
        Ok(request)
    }
}

fn basic(method: &str, outgoing: &Outgoing, context: &Context) -> Headers {
    let url = &context.address.url;
    let host = url[Position::BeforeHost..Position::AfterPort].to_owned();
    let mut headers = Headers::new();
    let mut add = |name: &str, value: String| headers.push((name.to_owned(), value));
    add("host", host);
    add("user-agent", concat!("proofhouse/", env!("CARGO_PKG_VERSION")).to_owned());
    match method {
        "POST" => add("accept", "application/json, text/event-stream".to_owned()),
        "GET" => add("accept", "text/event-stream".to_owned()),
        _ => {}
    }
    if let Some(body) = &outgoing.body {
        add("content-type", "application/json".to_owned());
        add("content-length", body.len().to_string());
    }
    headers
}

fn add_protocol(headers: &mut Headers, outgoing: &Outgoing, message: Option<&Message>, context: &Context) {
    let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
    let session = match &outgoing.session {
        Session::Own => context.session.as_deref(),
        Session::None => None,
        Session::Other(id) => Some(id.as_str()),
    };
    let starts_over = message.is_some_and(|m| m.method() == Some("initialize"));
    if let Some(session) = session.filter(|_| !starts_over || outgoing.session != Session::Own) {
        add("mcp-session-id", session);
    }
    let Some(tools) = &context.tools else {
        if let Some(version) = context.version.as_deref().filter(|_| !starts_over) {
            add("mcp-protocol-version", version);
        }
        return;
    };
    let called = message.and_then(|m| m.params()?.get("name")?.as_str());
    let schema = called.and_then(|name| tools.get(name));
    let mirrored = message.map(|m| modern_headers(m, schema)).unwrap_or_default();
    // Where the body states no version, the connection's own stands in for it.
    let stated = mirrored.iter().any(|(name, _)| name == PROTOCOL_VERSION);
    if let Some(version) = context.version.as_deref().filter(|_| !stated) {
        add("mcp-protocol-version", version);
    }
    headers.extend(mirrored);
}

fn set(headers: &mut Headers, name: &str, value: &str) {
    headers.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
    headers.push((name.to_owned(), value.to_owned()));
}

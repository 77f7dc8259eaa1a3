//! What MCP demands of the HTTP around a message: header names, media types, the modern era's mirrored headers. Pure
//! text; sockets, sessions and what to do about a bad request are for others.

mod annotation;
mod challenge;
mod media;
mod mirror;
mod retry_after;
mod value;

pub use annotation::{Annotation, AnnotationFault, Annotations, annotations};
pub use challenge::{Challenge, challenges};
pub use media::{accepts, has_media_type, lists, media_type};
pub use mirror::{HeaderFault, check_headers, modern_headers, modern_headers_at, named_by};
pub use retry_after::retry_after;
pub use value::{BadSentinel, decode_value, encode_always, encode_value, is_safe_value, says};

use crate::trace::Headers;

/// `Accept`
pub const ACCEPT: &str = "Accept";
/// `Allow`, which a 405 carries.
pub const ALLOW: &str = "Allow";
/// `Authorization`
pub const AUTHORIZATION: &str = "Authorization";
/// `Content-Type`
pub const CONTENT_TYPE: &str = "Content-Type";
/// `Host`
pub const HOST: &str = "Host";
/// `Origin`
pub const ORIGIN: &str = "Origin";
/// `WWW-Authenticate`, which a 401 carries.
pub const WWW_AUTHENTICATE: &str = "WWW-Authenticate";
/// `X-Accel-Buffering`, with which a server asks proxies to let an event stream through (2026-07-28).
pub const ACCEL_BUFFERING: &str = "X-Accel-Buffering";
/// `Last-Event-ID`, with which a stream is resumed (2025-03-26 to 2025-11-25).
pub const LAST_EVENT_ID: &str = "Last-Event-ID";
/// `Mcp-Session-Id` (2025-03-26 to 2025-11-25).
pub const SESSION_ID: &str = "Mcp-Session-Id";
/// `MCP-Protocol-Version` (2025-06-18 and later).
pub const PROTOCOL_VERSION: &str = "MCP-Protocol-Version";
/// `Mcp-Method`, the method of the body's request (2026-07-28).
pub const METHOD: &str = "Mcp-Method";
/// `Mcp-Name`, what the body's request names (2026-07-28).
pub const NAME: &str = "Mcp-Name";
/// What the header of a mirrored tool parameter begins with (2026-07-28).
pub const PARAM_PREFIX: &str = "Mcp-Param-";

/// `application/json`
pub const JSON: &str = "application/json";
/// `text/event-stream`
pub const EVENT_STREAM: &str = "text/event-stream";

/// All values of header `name`, joined as RFC 9110 joins a list; `None` where there is none.
pub fn combined(headers: &Headers, name: &str) -> Option<String> {
    let values: Vec<&str> =
        headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str()).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// Whether `text` is a field name by RFC 9110: one or more `tchar`.
pub fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

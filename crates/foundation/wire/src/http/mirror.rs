//! The headers that mirror a modern message (2026-07-28, basic/transports/streamable-http#request-metadata): which
//! there must be, and whether those that came match the body.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::{METHOD, NAME, PARAM_PREFIX, PROTOCOL_VERSION, annotations, value};
use crate::message::{Kind, Message};
use crate::trace::Headers;
use crate::{Revision, meta};

/// A header that must be there and the value of the body that it mirrors.
struct Mirrored {
    header: String,
    value: Value,
    /// Whether the Base64 form may be in it.
    encoded: bool,
}

/// The headers that `message` must carry, values encoded. `tool_schema` is the called tool's `inputSchema`; annotations in
/// it that may not stand are passed over. What the body lacks, the headers lack: a request without a protocol version in
/// its `_meta` gets no such header here. Headers of notifications are not defined beyond the version's.
pub fn modern_headers(message: &Message, tool_schema: Option<&Value>) -> Vec<(String, String)> {
    texts(mirrored(message, tool_schema))
}

/// The same of a message that is sent in another form: at `revision`, and about another `name` where one is given. Its
/// arguments are those of `message`.
pub fn modern_headers_at(
    revision: Revision,
    message: &Message,
    name: Option<&str>,
    tool_schema: Option<&Value>,
) -> Vec<(String, String)> {
    let own = if name.is_none() { name_in(message) } else { None };
    texts(mirrored_as(message, Some(revision.as_str()), name.or(own.as_deref()), tool_schema))
}

fn texts(mirrored: Vec<Mirrored>) -> Vec<(String, String)> {
    let value_text = |mirrored: Mirrored| {
        let text = value::plain_text(&mirrored.value)?;
        let text = if mirrored.encoded { value::encode_value(&text).into_owned() } else { text };
        Some((mirrored.header, text))
    };
    mirrored.into_iter().filter_map(value_text).collect()
}

// Only the members that are mirrored are read: the rest of a message may be large.
fn mirrored(message: &Message, tool_schema: Option<&Value>) -> Vec<Mirrored> {
    let version = message.meta_member(meta::PROTOCOL_VERSION).and_then(Value::as_str);
    mirrored_as(message, version, name_in(message).as_deref(), tool_schema)
}

/// What a request is about, where its method has such a parameter.
fn name_in(message: &Message) -> Option<Cow<'_, str>> {
    message.method().and_then(named_by).and_then(|member| message.string_member(member))
}

fn mirrored_as(
    message: &Message,
    version: Option<&str>,
    name: Option<&str>,
    tool_schema: Option<&Value>,
) -> Vec<Mirrored> {
    let mut found = Vec::new();
    let mut add = |header: &str, text: Option<&str>, encoded| {
        if let Some(text) = text {
            found.push(Mirrored { header: header.to_owned(), value: Value::from(text), encoded });
        }
    };
    let asks = message.method().is_some();
    add(PROTOCOL_VERSION, version.filter(|_| asks), false);
    if message.kind() != Kind::Request {
        return found;
    }
    add(METHOD, message.method(), false);
    add(NAME, name, true);
    if message.method() == Some("tools/call") {
        found.extend(tool_schema.into_iter().flat_map(|schema| parameters(message, schema)));
    }
    found
}

/// The parameter that [`NAME`] mirrors in requests of that method. The last three are the tasks extension's.
pub fn named_by(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

fn parameters(message: &Message, schema: &Value) -> Vec<Mirrored> {
    let annotations = annotations(schema).valid;
    if annotations.is_empty() {
        return Vec::new();
    }
    let Some(arguments) = message.body_value("arguments") else { return Vec::new() };
    let at = |path: &[String]| path.iter().try_fold(&arguments, |value, name| value.as_object()?.get(name));
    let mirror = |annotation: super::Annotation| {
        let value = at(&annotation.path)?.clone();
        value::plain_text(&value)?;
        Some(Mirrored { header: format!("{PARAM_PREFIX}{}", annotation.name), value, encoded: true })
    };
    annotations.into_iter().filter_map(mirror).collect()
}

/// What is wrong with a header of a modern request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderFault {
    /// It is not there.
    Missing {
        /// The header's name.
        header: String,
    },
    /// It is there more than once, with different values.
    Ambiguous {
        /// The header's name.
        header: String,
    },
    /// It holds characters that a header cannot carry unencoded.
    Unsafe {
        /// The header's name.
        header: String,
        /// Its value as it came.
        value: String,
    },
    /// It differs from the body.
    Differs {
        /// The header's name.
        header: String,
        /// Its value as it came.
        value: String,
        /// The body's value.
        body: Value,
    },
}

impl fmt::Display for HeaderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { header } => write!(f, "header {header} is missing"),
            Self::Ambiguous { header } => write!(f, "header {header} stands twice with different values"),
            Self::Unsafe { header, value } => {
                write!(f, "header {header} is `{}`, which holds characters that must be encoded", value.escape_debug())
            }
            Self::Differs { header, value, body } => {
                write!(f, "header {header} is `{}`, the body says {body}", value.escape_debug())
            }
        }
    }
}

/// What a server must refuse in the headers of a modern message, in the order of [`modern_headers`].
pub fn check_headers(headers: &Headers, message: &Message, tool_schema: Option<&Value>) -> Vec<HeaderFault> {
    mirrored(message, tool_schema).into_iter().filter_map(|mirrored| check(headers, mirrored)).collect()
}

fn check(headers: &Headers, mirrored: Mirrored) -> Option<HeaderFault> {
    let Mirrored { header, value: body, encoded } = mirrored;
    let mut values = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(&header)).map(|(_, v)| v);
    let Some(value) = values.next() else { return Some(HeaderFault::Missing { header }) };
    if values.any(|other| other != value) {
        return Some(HeaderFault::Ambiguous { header });
    }
    let trimmed = value.trim_matches([' ', '\t']);
    let value = value.clone();
    if !value::is_safe_value(trimmed) {
        return Some(HeaderFault::Unsafe { header, value });
    }
    let same = if encoded { value::says(trimmed, &body) } else { body == trimmed };
    (!same).then_some(HeaderFault::Differs { header, value, body })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{self, Packet};
    use serde_json::json;

    fn message(value: &Value) -> Message {
        match message::parse(value.to_string().as_bytes()) {
            Ok(Packet::Message(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    fn call(arguments: &Value) -> Message {
        message(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "run ü", "arguments": arguments, "_meta": { meta::PROTOCOL_VERSION: "2026-07-28" } } }))
    }

    fn schema() -> Value {
        json!({ "type": "object", "properties": {
            "zone": { "type": "string", "x-mcp-header": "Zone" },
            "limits": { "type": "object", "properties": { "rows": { "type": "integer", "x-mcp-header": "Rows" } } },
            "dry": { "type": "boolean", "x-mcp-header": "Dry" },
            "bad": { "type": "number", "x-mcp-header": "Bad" } } })
    }

    fn pairs(list: &[(&str, &str)]) -> Headers {
        list.iter().map(|&(n, v)| (n.to_owned(), v.to_owned())).collect()
    }

    #[test]
    fn a_call_carries_what_its_schema_annotates() {
        let message = call(&json!({ "zone": " z ", "limits": { "rows": -3.0 }, "dry": false, "bad": 1, "rows": 9 }));
        let expected = pairs(&[
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "=?base64?cnVuIMO8?="),
            ("Mcp-Param-Zone", "=?base64?IHog?="),
            ("Mcp-Param-Rows", "-3"),
            ("Mcp-Param-Dry", "false"),
        ]);
        assert_eq!(modern_headers(&message, Some(&schema())), expected);
        assert_eq!(modern_headers(&message, None), expected[..3]);
        assert_eq!(check_headers(&expected, &message, Some(&schema())), []);
    }

    #[test]
    fn what_is_absent_or_null_has_no_header() {
        for arguments in [json!({}), json!({ "zone": null, "limits": null }), json!({ "limits": [1] }), json!([1])] {
            assert_eq!(modern_headers(&call(&arguments), Some(&schema())).len(), 3, "{arguments}");
        }
    }

    #[test]
    fn other_messages_carry_what_they_name() {
        let names =
            |value: Value| modern_headers(&message(&value), None).into_iter().map(|(_, v)| v).collect::<Vec<_>>();
        let read = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": "a://b" } });
        assert_eq!(names(read), ["resources/read", "a://b"]);
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "name": "no" } });
        assert_eq!(names(list), ["tools/list"]);
        assert!(names(json!({ "jsonrpc": "2.0", "method": "notifications/x" })).is_empty());
        assert!(names(json!({ "jsonrpc": "2.0", "id": 1, "result": {} })).is_empty());
    }

    #[test]
    fn headers_that_lie_are_faults() {
        let message = call(&json!({ "limits": { "rows": 42 } }));
        let good = [
            ("mcp-protocol-version", "2026-07-28"),
            ("MCP-METHOD", " tools/call"),
            ("mcp-name", "=?base64?cnVuIMO8?="),
            ("Mcp-Param-rows", "42.0"),
        ];
        assert_eq!(check_headers(&pairs(&good), &message, Some(&schema())), []);
        let mut bad = good;
        bad[0].1 = "=?base64?MjAyNi0wNy0yOA==?=";
        bad[1].1 = "Tools/Call";
        bad[2].1 = "run ü";
        bad[3].0 = "Mcp-Param-Row";
        let faults = check_headers(&pairs(&bad), &message, Some(&schema()));
        assert!(faults[..2].iter().all(|f| matches!(f, HeaderFault::Differs { .. })), "{faults:?}");
        assert_eq!(faults[2], HeaderFault::Unsafe { header: "Mcp-Name".to_owned(), value: "run ü".to_owned() });
        assert_eq!(faults[3..], [HeaderFault::Missing { header: "Mcp-Param-Rows".to_owned() }]);
        let mut twice = pairs(&good);
        twice.push(("Mcp-Method".to_owned(), "tools/list".to_owned()));
        let faults = check_headers(&twice, &message, Some(&schema()));
        assert_eq!(faults, [HeaderFault::Ambiguous { header: "Mcp-Method".to_owned() }]);
    }
}

//! Faults of the headers that mirror a modern request's body.

use net::server::http::{HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};
use wire::Revision;
use wire::error_code::{HEADER_MISMATCH, METHOD_NOT_FOUND};
use wire::http::encode_always;

use super::outgoing::{Alteration, Outgoing};
use super::{Fault, HTTP, Http, IncomingMessage, Kind, fault, http};

const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
const REGION: &str = "mcp-param-region";
const SHARD: &str = "mcp-param-shard";

pub(super) const FAULTS: &[&Fault] = &[
    &header(
        "version-header-not-compared",
        "http.version-header-matches",
        "a version header that differs from the body is passed over",
        |heard| agree(heard, VERSION, Only::Present),
    ),
    &header(
        "method-header-not-compared",
        "http.method-header-matches",
        "an `Mcp-Method` that differs from the body is passed over",
        |heard| agree(heard, METHOD, Only::Present),
    )
    .breaks_too(&["http.header-values-exact-case"]),
    &header(
        "method-header-optional",
        "http.method-header-required",
        "a request without `Mcp-Method` is served",
        |heard| {
            agree(heard, METHOD, Only::Absent);
        },
    ),
    &header(
        "header-values-any-case",
        "http.header-values-exact-case",
        "an `Mcp-Method` that differs in letter case is taken",
        |heard| agree(heard, METHOD, Only::OtherCase),
    ),
    &header(
        "name-header-not-compared",
        "http.name-header-matches",
        "an `Mcp-Name` that differs from the body is passed over",
        |heard| agree(heard, NAME, Only::Plain),
    )
    .breaks_too(&["http.markers-exact"]),
    &header(
        "name-header-of-tools-alone",
        "http.name-header-matches",
        "an `Mcp-Name` that differs from the body is passed over, but for tools",
        |heard| {
            if !heard.is("tools/call") {
                agree(heard, NAME, Only::Plain);
            }
        },
    )
    .breaks_too(&["http.markers-exact"]),
    &header("name-header-optional", "http.name-header-required", "a call without `Mcp-Name` is served", |heard| {
        agree(heard, NAME, Only::Absent);
    }),
    &header(
        "name-header-malformed",
        "http.name-header-characters",
        "an `Mcp-Name` that is malformed Base64 is passed over",
        |heard| agree(heard, NAME, Only::Encoded),
    ),
    &header(
        "name-header-encoded",
        "http.encoded-name-decoded",
        "an `Mcp-Name` in Base64 form is compared as it stands",
        |heard| mistake(heard, NAME, |value| value.starts_with("=?base64?")),
    ),
    &header(
        "markers-any-case",
        "http.markers-exact",
        "an `Mcp-Name` in Base64 form is decoded whatever the case of its markers",
        |heard| agree(heard, NAME, Only::OtherMarkers),
    ),
    &header(
        "param-header-not-compared",
        "http.param-header-matches",
        "an `Mcp-Param` header that differs from the argument is passed over",
        |heard| agree(heard, REGION, Only::Plain),
    ),
    &header(
        "param-header-optional",
        "http.param-header-required",
        "a call without the `Mcp-Param` header of an argument is served",
        |heard| agree(heard, REGION, Only::Absent),
    ),
    &header(
        "param-header-malformed",
        "http.param-header-characters",
        "an `Mcp-Param` header that is malformed Base64 is passed over",
        |heard| agree(heard, REGION, Only::Encoded),
    )
    .breaks_too(&["http.encoded-param-decoded"]),
    &header(
        "param-header-raw",
        "http.param-header-characters",
        "an `Mcp-Param` header that is more than ASCII is passed over",
        |heard| {
            let Some(wanted) = body(heard, REGION) else { return };
            let Some(headers) = heard.headers.as_deref_mut() else { return };
            let is_raw = headers.get(REGION).is_some_and(|value| !value.as_bytes().is_ascii());
            if let (true, Ok(wanted)) = (is_raw, HeaderValue::from_str(&encode_always(&wanted))) {
                headers.insert(HeaderName::from_static(REGION), wanted);
            }
        },
    ),
    &header(
        "param-header-encoded",
        "http.encoded-param-decoded",
        "an `Mcp-Param` header in Base64 form is compared as it stands",
        |heard| mistake(heard, REGION, |value| value.starts_with("=?base64?")),
    ),
    &header(
        "integers-as-text",
        "http.integers-compared-as-numbers",
        "a mirrored integer is compared as text",
        |heard| mistake(heard, SHARD, |value| value.contains('.')),
    ),
    &fault(
        "header-failure-422",
        "http.header-failure-answer",
        "a request that is refused for its headers is answered with 422",
        Kind::Http(Http {
            response: |_, response| http::status(response, HEADER_MISMATCH, StatusCode::UNPROCESSABLE_ENTITY),
            ..HTTP
        }),
    )
    .modern()
    .http(),
    &header(
        "param-header-expected",
        "http.param-header-not-expected",
        "a call without an argument that would be mirrored is refused for want of its header",
        |heard| {
            let named = heard.message["params"]["arguments"]["region"].is_string();
            if heard.is("tools/call") && !named {
                let Some(headers) = heard.headers.as_deref_mut() else { return };
                headers.entry(REGION).or_insert(HeaderValue::from_static("somewhere"));
            }
        },
    ),
    &fault(
        "version-header-optional",
        "http.version-header-required",
        "a server of only the newest version serves requests without the version header",
        Kind::Several(&[
            Kind::Receives(|heard| agree(heard, VERSION, Only::Absent)),
            Kind::Http(Http { response: |_, response| list_newest(response), ..HTTP }),
        ]),
    )
    // What a server of the newest version has no more: sessions, and the stream that GET opens.
    .breaks_too(&["http.get-405", "http.delete-405", "http.no-session-minted"])
    .modern()
    .http(),
];

/// Discovery lists the newest version and no other, and the handshake of older clients is refused.
fn list_newest(response: &mut Outgoing<'_>) {
    let Some(text) = &response.text else { return };
    let Ok(mut message) = serde_json::from_slice::<Value>(text) else { return };
    if let Some(listed) = message.pointer_mut("/result/supportedVersions") {
        *listed = json!([Revision::NEWEST.as_str()]);
        response.body = Alteration::Replaced(message.to_string().into());
    } else if message.pointer("/result/protocolVersion").is_some() {
        let data = json!({ "supported": [Revision::NEWEST.as_str()] });
        let error = json!({ "code": METHOD_NOT_FOUND, "message": "Method not found", "data": data });
        let refusal = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
        response.body = Alteration::Replaced(refusal.to_string().into());
    }
}

const fn header(
    name: &'static str,
    rule: &'static str,
    about: &'static str,
    hears: fn(&mut IncomingMessage<'_>),
) -> Fault {
    fault(name, rule, about, Kind::Receives(hears)).modern().http()
}

/// Which headers are made to agree with the body.
#[derive(Clone, Copy)]
enum Only {
    Absent,
    Present,
    OtherCase,
    Plain,
    Encoded,
    OtherMarkers,
}

/// What the body says where a header should say it too.
fn body(heard: &IncomingMessage<'_>, header: &str) -> Option<String> {
    if !heard.is_modern() {
        return None;
    }
    let value = match header {
        VERSION => heard.meta("protocolVersion").clone(),
        METHOD => heard.message["method"].clone(),
        NAME if heard.is("resources/read") => heard.message["params"]["uri"].clone(),
        NAME if heard.is("tools/call") || heard.is("prompts/get") => heard.message["params"]["name"].clone(),
        REGION if heard.is("tools/call") => heard.message["params"]["arguments"]["region"].clone(),
        _ => return None,
    };
    if let Value::String(text) = value { Some(text) } else { None }
}

/// Makes a header say what the body says, as if nobody had compared them.
fn agree(heard: &mut IncomingMessage<'_>, header: &'static str, only: Only) {
    let Some(wanted) = body(heard, header) else { return };
    let Some(headers) = heard.headers.as_deref_mut() else { return };
    let value = headers.get(header).and_then(|value| value.to_str().ok());
    let chosen = match (only, value) {
        (Only::Absent, None) | (Only::Present, Some(_)) => true,
        (Only::OtherCase, Some(value)) => value.eq_ignore_ascii_case(&wanted),
        (Only::Plain, Some(value)) => !value.starts_with("=?base64?"),
        (Only::Encoded, Some(value)) => value.starts_with("=?base64?"),
        (Only::OtherMarkers, Some(value)) => value.starts_with("=?BASE64?"),
        _ => false,
    };
    if let (true, Ok(wanted)) = (chosen, HeaderValue::from_str(&wanted)) {
        headers.insert(HeaderName::from_static(header), wanted);
    }
}

/// Makes a header say something else where its value `is` of some kind.
fn mistake(heard: &mut IncomingMessage<'_>, header: &'static str, is: fn(&str) -> bool) {
    let Some(headers) = heard.headers.as_deref_mut() else { return };
    if headers.get(header).and_then(|value| value.to_str().ok()).is_some_and(is) {
        headers.insert(HeaderName::from_static(header), HeaderValue::from_static("something-else"));
    }
}

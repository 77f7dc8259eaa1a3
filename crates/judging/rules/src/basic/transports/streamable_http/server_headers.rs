//! Headers that mirror the body of a modern request: which requests must be refused for them, and which must not.

use std::collections::BTreeMap;

use serde_json::Value;
use wire::error_code::HEADER_MISMATCH;
use wire::http::{self, HeaderFault, check_headers, decode_value};
use wire::meta;
use wire::revision::{R2025_06_18, R2026_07_28};
use wire::{Era, Party, Revision, Transport};

use super::foreign_origin;
use super::metadata::impossible;
use crate::reading::content::canonical;
use crate::rule::{Anchor, Rule, at, server};
use crate::verdict::{Located, Verdict};
use crate::view::{Exchange, MessageAt, View};

const HTTP: &[Transport] = &[Transport::StreamableHttp];
const VERSION: Anchor = at("basic/transports/streamable-http", "protocol-version-header");
const VALUES: Anchor = at("basic/transports/streamable-http", "value-encoding");
const CUSTOM: Anchor = at("basic/transports/streamable-http", "server-behavior-for-custom-headers");
const CASE: Anchor = at("basic/transports/streamable-http", "case-sensitivity");
const VALIDATION: Anchor = at("basic/transports/streamable-http", "server-validation");

/// The sections' rules, in their own order.
pub(crate) const RULES: &[Rule] = &[
    server("http.version-header-matches")
        .on(HTTP)
        .says(R2026_07_28, VERSION, "A request whose version header and `_meta` differ MUST be rejected.")
        .how("Repeats a request that is served with another version in the header than in `_meta`.")
        .fix("Compare `MCP-Protocol-Version` with `_meta` and refuse with 400 and -32020 where they differ.")
        .judge(|view| rejected(view, |fault| differs(fault, http::PROTOCOL_VERSION))),
    server("http.version-header-required")
        .on(HTTP)
        .says(
            R2026_07_28,
            VERSION,
            "A request without the version header MUST be rejected by a server with no clients older than 2025-06-18.",
        )
        .how("Leaves the version header out of a request to a server whose list of revisions begins with 2025-06-18 or later.")
        .fix("Refuse a POST without `MCP-Protocol-Version` with 400 and -32020.")
        .judge(version_header_required),
    server("http.encoded-name-decoded")
        .on(HTTP)
        .says(R2026_07_28, VALUES, "An `Mcp-Name` in Base64 form MUST be decoded before it is compared with the body.")
        .how("Sends the name of a request that is served between the Base64 markers.")
        .fix("Decode `=?base64?…?=` in Mcp-Name before comparing.")
        .judge(|view| not_refused(view, Oddity::EncodedName)),
    server("http.encoded-param-decoded")
        .on(HTTP)
        .says(R2026_07_28, VALUES, "An `Mcp-Param` header in Base64 form MUST be decoded before it is compared with the body.")
        .how("Sends a mirrored argument between the Base64 markers.")
        .fix("Decode `=?base64?…?=` in Mcp-Param headers before comparing.")
        .judge(|view| not_refused(view, Oddity::EncodedParam)),
    server("http.markers-exact")
        .on(HTTP)
        .says(
            R2026_07_28,
            VALUES,
            "The Base64 markers MUST be `=?base64?` and `?=` exactly: in another case they encode nothing.",
        )
        .how("Sends the name of a request that is served, in Base64, with the opening marker in upper case.")
        .fix("Compare the markers byte by byte, and take what stands between others as it is.")
        .judge(|view| rejected(view, misspelt_marker)),
    server("http.param-header-characters")
        .on(HTTP)
        .says(R2026_07_28, CUSTOM, "A recognized `Mcp-Param` header with invalid characters MUST be rejected.")
        .how("Puts characters that are not Base64 between the markers, or beyond ASCII without them.")
        .fix("Refuse with 400 and -32020 what cannot be decoded.")
        .judge(|view| rejected(view, |fault| is_param(name_of(fault)) && unreadable(fault))),
    server("http.param-header-matches")
        .on(HTTP)
        .says(R2026_07_28, CUSTOM, "An `Mcp-Param` header that differs from the argument it mirrors MUST be rejected.")
        .how("Calls a tool with a mirrored argument and says another value in its header, or leaves the argument out and the header in.")
        .fix("Compare each mirrored argument with its header and refuse with 400 and -32020 where they differ.")
        .judge(param_header_matches),
    server("http.param-header-required")
        .on(HTTP)
        .says(R2026_07_28, CUSTOM, "A call with a mirrored argument but without its header MUST be rejected.")
        .how("Calls a tool with a mirrored argument and leaves its header out.")
        .fix("Refuse with 400 and -32020 where an argument is there and its header is not.")
        .judge(|view| rejected(view, |fault| is_param(name_of(fault)) && missing(fault))),
    server("http.param-header-not-expected")
        .on(HTTP)
        .says(R2026_07_28, CUSTOM, "For an argument that is null or absent, a server MUST NOT expect a header.")
        .how("Calls a tool without its mirrored argument, or with null, and without the header.")
        .fix("Ask for a header only where the argument has a value.")
        .judge(|view| not_refused(view, Oddity::NoParam)),
    server("http.header-names-any-case")
        .on(HTTP)
        .says(R2026_07_28, CASE, "Header names MUST be compared without regard to case.")
        .how("Sends the mirroring headers of a request in lower and in upper case.")
        .fix("Look headers up case-insensitively.")
        .judge(|view| not_refused(view, Oddity::NameCase)),
    server("http.header-values-exact-case")
        .on(HTTP)
        .says(R2026_07_28, CASE, "A header whose value differs from the body in case alone MUST be rejected: values are case-sensitive.")
        .how("Repeats a request that is served with the method or name in the header in another case.")
        .fix("Compare header values byte by byte.")
        .judge(|view| rejected(view, |fault| standard(fault) && case_alone(fault))),
    server("http.method-header-matches")
        .on(HTTP)
        .says(R2026_07_28, VALIDATION, "A request whose `Mcp-Method` is not the body's method MUST be rejected.")
        .how("Repeats a request that is served with another method in the header.")
        .fix("Compare `Mcp-Method` with the body and refuse with 400 and -32020 where they differ.")
        .judge(|view| rejected(view, |fault| differs(fault, http::METHOD) && !case_alone(fault))),
    server("http.method-header-required")
        .on(HTTP)
        .says(R2026_07_28, VALIDATION, "A request without `Mcp-Method` MUST be rejected.")
        .how("Repeats a request that is served without the header.")
        .fix("Refuse a request without `Mcp-Method` with 400 and -32020.")
        .judge(|view| rejected(view, |fault| missing(fault) && name_of(fault) == http::METHOD)),
    server("http.name-header-matches")
        .on(HTTP)
        .says(R2026_07_28, VALIDATION, "A request whose `Mcp-Name` is not what the body names MUST be rejected.")
        .how("Repeats a request that is served with another name in the header, plain and in Base64.")
        .fix("Compare `Mcp-Name`, decoded, with the body and refuse with 400 and -32020 where they differ.")
        .judge(|view| rejected(view, |fault| differs(fault, http::NAME) && !case_alone(fault) && readable_difference(fault))),
    server("http.name-header-required")
        .on(HTTP)
        .says(
            R2026_07_28,
            VALIDATION,
            "A tools/call, resources/read or prompts/get without `Mcp-Name` MUST be rejected.",
        )
        .how("Repeats a request that is served without the header.")
        .fix("Refuse such a request with 400 and -32020.")
        .judge(|view| rejected(view, |fault| missing(fault) && name_of(fault) == http::NAME)),
    server("http.name-header-characters")
        .on(HTTP)
        .says(R2026_07_28, VALIDATION, "A request whose `Mcp-Name` holds invalid characters MUST be rejected.")
        .how("Puts characters that are not Base64 between the markers, or beyond ASCII without them.")
        .fix("Refuse with 400 and -32020 what cannot be decoded.")
        .judge(|view| rejected(view, |fault| name_of(fault) == http::NAME && unreadable(fault))),
    server("http.integers-compared-as-numbers")
        .on(HTTP)
        .says(R2026_07_28, VALIDATION, "A mirrored integer SHOULD be compared as a number: 42.0 in the header is 42.")
        .how("Writes a mirrored integer with a fraction of zero in its header.")
        .fix("Parse the header's value before comparing it with an integer.")
        .judge(|view| not_refused(view, Oddity::Number)),
    server("http.header-failure-answer")
        .on(HTTP)
        .says(R2026_07_28, VALIDATION, "A request refused for its headers MUST be answered with 400 and the error -32020.")
        .how("Looks at status and code wherever a request is refused that differs from a served one in its headers alone.")
        .fix("Answer 400 with a JSON-RPC error, code -32020.")
        .judge(header_failure_answer),
];

/// A modern request in an exchange of its own, complete in `_meta`, and what is wrong with its headers.
#[derive(Clone)]
pub(crate) struct Posted<'a, 'v> {
    /// The exchange.
    pub exchange: &'a Exchange<'v>,
    /// The request.
    pub request: MessageAt<'v>,
    /// The version in `_meta`.
    pub version: &'v str,
    /// What is wrong with the headers, as far as we know what they mirror.
    pub faults: Vec<HeaderFault>,
    /// The input schema of the tool that is called, where a list had it.
    schema: Option<&'v Value>,
    /// The first request of the same method and parameters (`_meta` aside) that was served, with nothing wrong in its
    /// headers.
    pub twin: Option<&'a Exchange<'v>>,
}

impl Located for Posted<'_, '_> {
    fn event(&self) -> usize {
        self.exchange.event()
    }
}

/// Every modern request that was answered by the endpoint itself.
pub(crate) fn posted<'a, 'v>(view: &'a View<'v>) -> Vec<Posted<'a, 'v>> {
    let all = view.endpoint_exchanges();
    let sound =
        all.into_iter().filter(|x| x.is("POST") && x.status().is_some() && !x.turned_away() && !foreign_origin(x));
    let schemas = Schemas::of(view);
    let mut posted: Vec<_> = sound.filter_map(|x| read(&schemas, x)).collect();
    let mut twins: BTreeMap<_, &Exchange<'v>> = BTreeMap::new();
    for p in posted.iter().filter(|p| p.faults.is_empty() && p.exchange.served() && !impossible(p.version)) {
        twins.entry(p.request.message.content_key(&["_meta"])).or_insert(p.exchange);
    }
    for p in &mut posted {
        p.twin = twins.get(&p.request.message.content_key(&["_meta"])).copied();
    }
    posted
}

fn read<'a, 'v>(schemas: &Schemas<'v>, exchange: &'a Exchange<'v>) -> Option<Posted<'a, 'v>> {
    let request = exchange.question()?;
    let meta = request.message.meta()?;
    let version = meta.get(meta::PROTOCOL_VERSION)?.as_str()?;
    meta.get(meta::CLIENT_CAPABILITIES)?.as_object()?;
    let (.., headers) = exchange.request?;
    let schema = schemas.at(request);
    let mut faults = check_headers(headers, request.message, schema);
    // Extensions name what they mirror by rules of their own.
    faults.retain(|f| name_of(f) != http::NAME || names(request).is_some());
    Some(Posted { exchange, request, version, faults, schema, twin: None })
}

/// What the core protocol mirrors into `Mcp-Name`.
pub(crate) fn names(request: MessageAt<'_>) -> Option<&Value> {
    let member = match request.message.method()? {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return None,
    };
    request.message.params()?.get(member)
}

/// Whether a request of a method whose requests all carry `Mcp-Name` names nothing. A client has nothing to send there; a
/// server may yet refuse it for the header, which is required.
fn unnamed(request: MessageAt<'_>) -> bool {
    let member = request.message.method().and_then(http::named_by);
    member.is_some_and(|member| !request.message.params().and_then(|p| p.get(member)).is_some_and(Value::is_string))
}

/// The events of a list's request and response, and the input schema of a tool in it.
type Listed<'v> = (usize, usize, Option<&'v Value>);

/// The input schemas of each tool, in the order of the requests.
pub(crate) struct Schemas<'v>(BTreeMap<String, Vec<Listed<'v>>>);

impl<'v> Schemas<'v> {
    pub(crate) fn of(view: &View<'v>) -> Self {
        let mut schemas: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for call in view.calls_by(Party::Client).filter(|c| c.request.is("tools/list")) {
            let (Some(response), Some(tools)) = (call.response, call.result().and_then(|r| r.get("tools")?.as_array()))
            else {
                continue;
            };
            for tool in tools {
                let Some(name) = tool.get("name") else { continue };
                let listed = (call.request.event, response.event, tool.get("inputSchema"));
                schemas.entry(canonical(name)).or_default().push(listed);
            }
        }
        Self(schemas)
    }

    /// The input schema of the tool that a request calls, as last listed before.
    pub(crate) fn at(&self, request: MessageAt<'v>) -> Option<&'v Value> {
        let name = names(request).filter(|_| request.is("tools/call"))?;
        let listed = self.0.get(&canonical(name))?;
        let requested = listed.partition_point(|(requested, ..)| *requested < request.event);
        listed[..requested].iter().rfind(|(_, answered, _)| *answered < request.event)?.2
    }
}

pub(crate) fn name_of(fault: &HeaderFault) -> &str {
    match fault {
        HeaderFault::Missing { header }
        | HeaderFault::Ambiguous { header }
        | HeaderFault::Unsafe { header, .. }
        | HeaderFault::Differs { header, .. } => header,
    }
}

const fn missing(fault: &HeaderFault) -> bool {
    matches!(fault, HeaderFault::Missing { .. })
}

fn differs(fault: &HeaderFault, name: &str) -> bool {
    matches!(fault, HeaderFault::Differs { header, .. } if header == name)
}

pub(crate) fn is_param(name: &str) -> bool {
    name.to_ascii_lowercase().starts_with("mcp-param-")
}

fn standard(fault: &HeaderFault) -> bool {
    matches!(name_of(fault), http::METHOD | http::NAME)
}

/// Whether a header says what the body says but for the case of letters.
fn case_alone(fault: &HeaderFault) -> bool {
    let HeaderFault::Differs { value, body, .. } = fault else { return false };
    body.as_str().is_some_and(|body| value.trim().eq_ignore_ascii_case(body))
}

/// Whether a header's value cannot be read: characters beyond visible ASCII, or other than Base64's between the markers.
fn unreadable(fault: &HeaderFault) -> bool {
    match fault {
        HeaderFault::Unsafe { .. } => true,
        // Padding that is missing is left to the reader's taste; characters that no Base64 has are not.
        HeaderFault::Differs { value, .. } => {
            let inner = value.trim().strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
            let legal = |b: u8| b.is_ascii_alphanumeric() || b"+/=-_".contains(&b);
            inner.is_some_and(|inner| !inner.bytes().all(legal))
        }
        _ => false,
    }
}

/// Whether a header says, readably, something else than the body.
fn readable_difference(fault: &HeaderFault) -> bool {
    let readable = matches!(fault, HeaderFault::Differs { value, .. } if decode_value(value.trim()).is_ok());
    readable && !misspelt_marker(fault)
}

/// Whether a header would say what the body says, were its opening marker in the right case.
fn misspelt_marker(fault: &HeaderFault) -> bool {
    const MARKER: &str = "=?base64?";
    let HeaderFault::Differs { value, body, .. } = fault else { return false };
    let Some((marker, rest)) = value.trim().split_at_checked(MARKER.len()) else { return false };
    let meant = format!("{MARKER}{rest}");
    let says = || decode_value(&meant).is_ok_and(|sent| body.as_str() == Some(&sent));
    marker != MARKER && marker.eq_ignore_ascii_case(MARKER) && says()
}

/// Requests with one fault, of that kind, are not served.
fn rejected(view: &View<'_>, kind: fn(&HeaderFault) -> bool) -> Verdict {
    let all = posted(view);
    let judged = all.iter().filter(|p| {
        let known = p.exchange.served() || p.exchange.error_code() == Some(HEADER_MISMATCH) || p.twin.is_some();
        matches!(p.faults.as_slice(), [fault] if kind(fault)) && known
    });
    Verdict::every(judged.cloned(), "no request had such a header and nothing else wrong", |p| {
        if !p.exchange.served() {
            return Ok(());
        }
        Err(p.exchange.status_breach(format!("served, although {}", p.faults[0])))
    })
}

fn param_header_matches(view: &View<'_>) -> Verdict {
    let excess = posted(view).into_iter().filter(|p| p.faults.is_empty() && in_excess(p) == 1).filter_map(|p| {
        let event = p.exchange.event();
        if p.exchange.served() {
            let why = "served, although a header mirrors an argument that is not there";
            return Some(Verdict::Broken(p.exchange.status_breach(why)));
        }
        (p.exchange.error_code() == Some(HEADER_MISMATCH)).then(|| Verdict::witnessed(vec![event], ""))
    });
    let excess: Vec<_> = excess.collect();
    let differs = rejected(view, |fault| is_param(name_of(fault)) && readable_difference(fault));
    let broken = |verdict: &&Verdict| verdict.is_broken();
    match (differs.is_broken(), excess.iter().find(broken), &differs) {
        (false, Some(broken), _) => broken.clone(),
        (false, None, Verdict::NotSeen(_)) => excess.into_iter().next().unwrap_or(differs),
        _ => differs,
    }
}

/// How many headers mirror an argument that is absent or null.
fn in_excess(p: &Posted<'_, '_>) -> usize {
    mirrored(p).iter().filter(|pair| matches!(pair, (Some(_), None))).count()
}

fn version_header_required(view: &View<'_>) -> Verdict {
    let Some(served) = view.served_revisions() else {
        return Verdict::NotSeen("which revisions the server serves is not known here".to_owned());
    };
    let negotiated = view.legacy_handshakes().filter_map(|call| call.result()?.get("protocolVersion")?.as_str());
    if served.iter().copied().chain(negotiated).any(|v| v < R2025_06_18.as_str()) {
        return Verdict::NotApplicable("the server serves clients that know no version header".to_owned());
    }
    // A list of modern revisions alone may leave out the legacy ones that are served as well.
    let lists_legacy = served.iter().any(|v| *v < R2026_07_28.as_str());
    if !lists_legacy && view.modern_only() != Some(true) {
        return Verdict::NotSeen("whether the server serves older clients is not known here".to_owned());
    }
    rejected(view, |fault| missing(fault) && name_of(fault) == http::PROTOCOL_VERSION)
}

/// What is unusual, though legal, about the headers of a request: if one is refused, this must be why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Oddity {
    /// `Mcp-Name` is in Base64.
    EncodedName,
    /// A mirrored argument is in Base64.
    EncodedParam,
    /// A mirrored argument is null or absent, and so is its header.
    NoParam,
    /// A mirrored integer is written in another way than in the body.
    Number,
    /// The name of a header is spelt in another case than the specification's.
    NameCase,
}

/// A mirrored argument of a call: the header's value and the body's, where there are any.
type Mirrored<'v> = (Option<&'v str>, Option<&'v Value>);

fn mirrored<'v>(p: &Posted<'_, 'v>) -> Vec<Mirrored<'v>> {
    let arguments = p.request.message.params().and_then(|params| params.get("arguments"));
    let valid = p.schema.map(|schema| http::annotations(schema).valid).unwrap_or_default();
    let value = |path: &[String]| {
        path.iter().try_fold(arguments?, |value, name| value.get(name)).filter(|value| !value.is_null())
    };
    let header = |name: &str| p.exchange.request_header(&format!("{}{name}", http::PARAM_PREFIX)).map(str::trim);
    valid.into_iter().map(|a| (header(&a.name), value(&a.path))).collect()
}

/// Whether every argument that the tool's schema wants mirrored is of the type that it names, or null or absent, and the
/// schema itself is in order. What no header can carry may be refused for the header.
fn can_mirror(p: &Posted<'_, '_>) -> bool {
    let Some(schema) = p.schema else { return true };
    let found = http::annotations(schema);
    let arguments = p.request.message.params().and_then(|params| params.get("arguments")).unwrap_or(&Value::Null);
    found.faults.is_empty() && found.valid.iter().all(|annotation| is_mirrorable(schema, arguments, &annotation.path))
}

/// The greatest integer, either way, that may be mirrored.
const SAFE: f64 = 9_007_199_254_740_991.0;

fn is_mirrorable(schema: &Value, arguments: &Value, path: &[String]) -> bool {
    let (mut schema, mut value) = (schema, arguments);
    for name in path {
        match value {
            Value::Null => return true,
            Value::Object(members) => value = members.get(name).unwrap_or(&Value::Null),
            _ => return false,
        }
        let Some(property) = schema.get("properties").and_then(|all| all.get(name)) else { return false };
        schema = property;
    }
    let is = |kind: &Value| match kind.as_str() {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.as_f64().is_some_and(|n| n.fract() == 0.0 && n.abs() <= SAFE),
        _ => false,
    };
    let kinds = schema.get("type");
    let listed = |kinds: &Value| kinds.as_array().is_some_and(|kinds| kinds.iter().any(is));
    value.is_null() || kinds.is_some_and(|kinds| is(kinds) || listed(kinds))
}

fn encoded(value: &str) -> bool {
    value.trim().starts_with("=?base64?") && value.trim().ends_with("?=")
}

fn oddities(p: &Posted<'_, '_>) -> Vec<Oddity> {
    let mirrored = mirrored(p);
    let any = |is: fn(&Mirrored<'_>) -> bool| mirrored.iter().any(is);
    let canonical = [http::PROTOCOL_VERSION, http::METHOD, http::NAME];
    let misspelt = |n: &str| canonical.iter().any(|c| c.eq_ignore_ascii_case(n) && *c != n);
    let names = p.exchange.request.map_or(&[][..], |(.., headers)| headers.as_slice());
    let number = |&(header, value): &Mirrored<'_>| {
        let number = value.and_then(Value::as_i64);
        number.is_some_and(|n| header.is_some_and(|h| !encoded(h) && h != n.to_string()))
    };
    let found = [
        (p.exchange.request_header(http::NAME).is_some_and(encoded), Oddity::EncodedName),
        (any(|(header, _)| header.is_some_and(encoded)), Oddity::EncodedParam),
        (any(|pair| matches!(pair, (None, None))), Oddity::NoParam),
        (any(number), Oddity::Number),
        (names.iter().any(|(n, _)| misspelt(n)), Oddity::NameCase),
    ];
    found.into_iter().filter_map(|(is, oddity)| is.then_some(oddity)).collect()
}

/// Requests with nothing wrong in their headers and nothing unusual but `oddity` are not refused for them.
fn not_refused(view: &View<'_>, oddity: Oddity) -> Verdict {
    let all = posted(view);
    let spelling = Oddity::NameCase;
    let tolerated = all.iter().any(|p| p.exchange.served() && oddities(p) == [spelling]);
    let judged = all.into_iter().filter(|p| {
        let known = p.schema.is_some() || !p.request.is("tools/call");
        let mut odd = oddities(p);
        // Much software writes all names in lower case: once that was seen to be fine, it explains nothing.
        odd.retain(|o| *o == oddity || !(tolerated && *o == spelling));
        p.faults.is_empty() && in_excess(p) == 0 && !unnamed(p.request) && known && can_mirror(p) && odd == [oddity]
    });
    let answered = judged.filter(|p| p.exchange.served() || p.exchange.error_code() == Some(HEADER_MISMATCH));
    Verdict::every(answered, "no request that is otherwise valid had such headers", |p| {
        if p.exchange.served() {
            return Ok(());
        }
        Err(p.exchange.status_breach("refused with -32020, although every header says what the body says"))
    })
}

/// Whether the version header names a revision of the legacy era, unlike `_meta`.
fn names_legacy(fault: &HeaderFault) -> bool {
    let HeaderFault::Differs { value, .. } = fault else { return false };
    let named = value.trim().parse::<Revision>().ok();
    differs(fault, http::PROTOCOL_VERSION) && named.is_some_and(|revision| revision.era() == Era::Legacy)
}

fn header_failure_answer(view: &View<'_>) -> Verdict {
    let all = posted(view);
    let only_modern = view.modern_only() == Some(true);
    let judged = all.iter().filter(|p| {
        let Some(fault) = p.faults.first() else { return p.exchange.error_code() == Some(HEADER_MISMATCH) };
        // A server of both eras may take a request without the version header, or with a legacy one, for a legacy request,
        // and refuse it as such; and where `_meta` itself names an impossible version, that may be what is refused.
        let seems_legacy = missing(fault) && name_of(fault) == http::PROTOCOL_VERSION || names_legacy(fault);
        let excused = seems_legacy && !only_modern || impossible(p.version);
        let refused = !p.exchange.served();
        p.exchange.error_code() == Some(HEADER_MISMATCH) || refused && !excused && p.twin.is_some()
    });
    Verdict::every(judged.cloned(), "no request was refused for its headers", |p| {
        let x = &p.exchange;
        match (x.status(), x.error_code()) {
            (Some(400), Some(HEADER_MISMATCH)) => Ok(()),
            (status, code) => {
                let (status, code) = (status.unwrap_or_default(), code.map_or("no".to_owned(), |c| c.to_string()));
                Err(x.status_breach(format!("refused with status {status} and code {code}; expected 400 and -32020")))
            }
        }
    })
}

//! Bytes of the judged party that should have been a message and are not, with what can still be read of them. Which rule
//! such a fault breaks is for the rules to say.

use serde_json::Value;
use wire::json::{self, Outline};
use wire::message::{Fault, Malformed};
use wire::trace::{Content, Event, header};

use crate::verdict::{Breach, Verdict};
use crate::view::{MessageAt, View};

/// Bytes that should have been a message.
pub(super) struct InvalidText<'v> {
    pub(super) event: usize,
    pub(super) connection: u32,
    pub(super) malformed: &'v Malformed,
    /// Whether the bytes at least set out to be a JSON object or array: a log line on stdout does not.
    pub(super) looks_like_json: bool,
    /// The message itself (of a batch: the element) as a value, where it is JSON.
    pub(super) value: Option<Value>,
}

impl InvalidText<'_> {
    pub(super) fn has(&self, member: &str) -> bool {
        self.value.as_ref().is_some_and(|v| v.get(member).is_some())
    }

    pub(super) fn method(&self) -> Option<&str> {
        self.value.as_ref()?.get("method")?.as_str()
    }

    pub(super) fn fault(&self) -> &Fault {
        &self.malformed.fault
    }
}

/// Every fault of the judged party that it cannot blame on a cut connection, on our own limits or on HTTP: an error page
/// is not a message, so bodies count only in a 200 response to a request that claims to be JSON, and in a refusal that says
/// itself that it is JSON-RPC.
pub(super) fn by_subject<'v>(view: &View<'v>) -> Vec<InvalidText<'v>> {
    let lines = view.invalid_by_subject().map(|g| (g.event, g.connection, g.malformed));
    let bodies = view.exchanges().iter().filter_map(|x| {
        let (response, status, headers) = x.response?;
        let (event, _) = x.response_body?;
        let is_json = view.frame(response).from == view.subject()
            && x.media_type().as_deref() == Some("application/json")
            && header(headers, "content-encoding").is_none();
        let answers = || status == 200 && x.client_messages.iter().any(|s| s.message.kind() == wire::Kind::Request);
        let refuses = || matches!(status, 400..=499) && is_error_of_jsonrpc(view, event);
        let claims = is_json && (answers() || refuses());
        claims.then_some((event, x.connection, x.unreadable?))
    });
    let mut all: Vec<_> = lines
        .chain(bodies)
        .filter(|&(event, _, m)| !m.fault.is_ours() && m.fault != Fault::Empty && is_whole(view, event))
        .map(|(event, connection, malformed)| read(view, event, connection, malformed))
        .collect();
    all.sort_by_key(|f| (f.event, f.malformed.at));
    all
}

/// Whether a body is an object with the version of JSON-RPC and an `error` object.
fn is_error_of_jsonrpc(view: &View<'_>, event: usize) -> bool {
    let value: Option<Value> = text_of(view, event).and_then(|text| serde_json::from_str(text).ok());
    value.is_some_and(|value| value["jsonrpc"] == "2.0" && value["error"].is_object())
}

fn is_whole(view: &View<'_>, event: usize) -> bool {
    match &view.frame(event).content {
        Content::Line { terminated, .. } => *terminated,
        Content::Body { complete, .. } => *complete,
        _ => true,
    }
}

fn read<'v>(view: &View<'v>, event: usize, connection: u32, malformed: &'v Malformed) -> InvalidText<'v> {
    let text = text_of(view, event).map(|text| element(text, malformed.at));
    let value = text.and_then(|t| serde_json::from_str(t).ok());
    let first = bytes_of(view, event).iter().find(|b| !b.is_ascii_whitespace());
    let looks_like_json = first.is_none_or(|b| matches!(b, b'{' | b'['));
    InvalidText { event, connection, malformed, looks_like_json, value }
}

/// The bytes of a line, a body or a text frame; nothing for an event stream.
fn bytes_of<'v>(view: &View<'v>, event: usize) -> &'v [u8] {
    match &view.frame(event).content {
        Content::Line { bytes, .. } | Content::Body { bytes, .. } | Content::WebSocket { bytes, .. } => bytes,
        _ => &[],
    }
}

fn text_of<'v>(view: &View<'v>, event: usize) -> Option<&'v str> {
    match view.events().nth(event)?.1 {
        Event::Sse { fields, .. } => fields.data.as_deref(),
        _ => std::str::from_utf8(bytes_of(view, event)).ok(),
    }
}

/// The element of a batch in which offset `at` lies; anything else as it is.
fn element(text: &str, at: usize) -> &str {
    match json::outline(text) {
        Ok(Outline::Array(parts)) => parts.into_iter().find(|p| p.contains(&at)).map_or(text, |p| &text[p]),
        _ => text,
    }
}

/// Broken by the first fault that `binds`; else holds on the messages that `could` have had it.
pub(super) fn free_of(
    view: &View<'_>,
    binds: impl Fn(&InvalidText<'_>) -> bool,
    could: impl Fn(&MessageAt<'_>) -> bool,
    unseen: &str,
) -> Verdict {
    let offenders = by_subject(view).into_iter().filter(|f| binds(f) && !provoked(view, f));
    let breaches = offenders.map(|f| Breach::at(f.event, "", format!("the message is {}", words(f.fault()))));
    Verdict::never(breaches, view.by_subject().filter(could).map(|s| s.event), unseen)
}

fn words(fault: &Fault) -> String {
    match fault {
        Fault::NotUtf8
        | Fault::NotJson(_)
        | Fault::NotObject
        | Fault::EmptyBatch
        | Fault::RequestAndResponse
        | Fault::ResultWithoutId
        | Fault::Empty
        | Fault::TooDeep => fault.to_string(),
        _ => format!("malformed: {fault}"),
    }
}

/// Whether the other party sent an id that is not a string or integer before: a party that echoes it is not to blame.
fn provoked(view: &View<'_>, invalid_text: &InvalidText<'_>) -> bool {
    let about_id = matches!(invalid_text.fault(), Fault::IdNull | Fault::IdFraction | Fault::IdType);
    let odd = |fault: &Fault| {
        matches!(fault, Fault::IdNull | Fault::IdFraction | Fault::IdType | Fault::JsonrpcWrong | Fault::JsonrpcMissing)
    };
    about_id
        && !invalid_text.has("method")
        && view
            .invalid_by_peer()
            .any(|g| g.connection == invalid_text.connection && g.event < invalid_text.event && odd(&g.malformed.fault))
}

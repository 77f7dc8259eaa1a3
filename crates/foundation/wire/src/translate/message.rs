//! Whole messages on their way between a client and a server of other revisions. Edited as text: what has no reason to
//! change stays byte for byte. Must not know who sends a message where.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value};

use super::table::{Loss, losses};
use super::{CACHEABLE, content, error_code, implementation, with_envelope};
use crate::error_code::RESOURCE_NOT_FOUND;
use crate::json::{Member, Token, unquote};
use crate::splice::{Addition, Splice, member, members, members_at, object};
use crate::{Era, Kind, Message, RequestId, Revision, meta};

/// Members of `params` that only a modern request has: they answer questions that a legacy server asks otherwise.
const MODERN_PARAMS: [&str; 2] = ["inputResponses", "requestState"];
/// Members of a modern request's `_meta` that a legacy server could take for a modern client's.
const MODERN_META: [&str; 4] = [meta::PROTOCOL_VERSION, meta::CLIENT_INFO, meta::CLIENT_CAPABILITIES, meta::LOG_LEVEL];

/// What a modern request says of its client; a legacy client said it when it connected.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// The revision of the server.
    pub revision: Revision,
    /// `clientInfo`.
    pub client: &'a Value,
    /// `clientCapabilities`.
    pub capabilities: &'a Value,
    /// `logLevel`.
    pub log_level: Option<&'a str>,
}

/// A message for its receiver, and what it lost on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translated<'t> {
    /// The message.
    pub text: Cow<'t, str>,
    /// What it lost; mostly nothing.
    pub losses: Vec<Loss>,
}

impl<'t> Translated<'t> {
    const fn same(text: &'t str) -> Self {
        Self { text: Cow::Borrowed(text), losses: Vec::new() }
    }

    fn of(splice: Splice<'t>, text: &'t str, losses: Vec<Loss>) -> Self {
        Self { text: if splice.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(splice.finish()) }, losses }
    }
}

/// How a request differs on the server's side.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestEdits<'a> {
    /// The id that it has there.
    pub id: Option<&'a RequestId>,
    /// A string member of `params`, and what it says there.
    pub name: Option<(&'a str, &'a str)>,
    /// The progress token that it has there. Only a request that has one gets another.
    pub progress_token: Option<i64>,
    /// Added where a legacy request goes to a modern server.
    pub envelope: Option<Envelope<'a>>,
    /// Whether it comes from the modern era and goes to a legacy server.
    pub to_legacy: bool,
}

impl RequestEdits<'_> {
    /// Whether the request passes as it came.
    pub const fn is_empty(&self) -> bool {
        self.id.is_none() && self.progress_token.is_none() && self.is_id_alone()
    }

    /// Whether nothing changes but, perhaps, what tells requests apart.
    const fn is_id_alone(&self) -> bool {
        self.name.is_none() && self.envelope.is_none() && !self.to_legacy
    }

    /// A request that was read, as its server gets it.
    pub fn apply<'m>(&self, message: &'m Message) -> Cow<'m, str> {
        match self.id {
            // Without `_meta` there is no progress token: the outline need not be made once more.
            Some(id) if self.is_id_alone() && message.body_member("_meta").is_none() => Cow::Owned(message.with_id(id)),
            _ if self.is_empty() => Cow::Borrowed(message.text()),
            _ => match message.parts() {
                (id, Some(params)) if params.kind == Token::ObjectStart => {
                    edit_request(message.text(), Some(id), Some(&params), self)
                }
                // Without parameters, the place where they are added is looked for.
                _ => request(message.text(), self),
            },
        }
    }
}

/// A request as its server gets it.
pub fn request<'t>(text: &'t str, edits: &RequestEdits<'_>) -> Cow<'t, str> {
    if edits.is_empty() {
        return Cow::Borrowed(text);
    }
    let Some(all) = members(text) else { return Cow::Borrowed(text) };
    let id = member(text, &all, "id").map(|id| id.value.clone());
    if let Some(params) = member(text, &all, "params").filter(|params| params.kind == Token::ObjectStart) {
        return edit_request(text, id, Some(params), edits);
    }
    let Some(envelope) = &edits.envelope else { return edit_request(text, id, None, edits) };
    let mut splice = Splice::new(text);
    replace_id(&mut splice, text, id, edits.id);
    let start = text.find('{').unwrap_or_default();
    let params = format!("{{\"_meta\":{}}}", object(&envelope_members(envelope)));
    splice.object(&(start..text.len()), &all, |name| name != "params", &[("params", params)]);
    Cow::Owned(splice.finish())
}

fn edit_request<'t>(
    text: &'t str,
    id: Option<Range<usize>>,
    params: Option<&Member>,
    edits: &RequestEdits<'_>,
) -> Cow<'t, str> {
    let mut splice = Splice::new(text);
    replace_id(&mut splice, text, id, edits.id);
    if let Some(params) = params {
        request_params(&mut splice, text, params, edits);
    }
    if splice.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(splice.finish()) }
}

/// Puts the id `new` where one stands.
fn replace_id(splice: &mut Splice<'_>, text: &str, at: Option<Range<usize>>, new: Option<&RequestId>) {
    if let (Some(new), Some(at)) = (new, at.filter(|at| !at.is_empty())) {
        let new = new.to_json();
        if text[at.clone()] != new {
            splice.replace(at, new);
        }
    }
}

fn request_params(splice: &mut Splice<'_>, text: &str, params: &Member, edits: &RequestEdits<'_>) {
    if let Some((name, value)) = edits.name
        && let Some(at) = member(text, &params.members, name)
    {
        splice.replace(at.value.clone(), Value::from(value).to_string());
    }
    let mut additions = edits.envelope.as_ref().map(envelope_members).unwrap_or_default();
    let at = member(text, &params.members, "_meta").filter(|at| at.kind == Token::ObjectStart);
    let inner = at.and_then(|at| members_at(text, &at.value)).unwrap_or_default();
    let token = edits.progress_token.filter(|_| member(text, &inner, "progressToken").is_some());
    additions.extend(token.map(|token| ("progressToken", token.to_string())));
    let dropped = |name: &str| {
        (edits.to_legacy && MODERN_META.contains(&name))
            || (token.is_some() && name == "progressToken")
            || (edits.envelope.is_some() && MODERN_META.contains(&name))
    };
    let left = inner.iter().any(|member| !dropped(&unquote(&text[member.name.clone()])));
    let whole = at.is_none() && !additions.is_empty();
    let emptied = at.is_some() && !inner.is_empty() && !left && additions.is_empty();
    if let (Some(at), false) = (at, emptied) {
        splice.object(&at.value, &inner, |name| !dropped(name), &additions);
    }
    let added: Vec<Addition<'_>> = if whole { vec![("_meta", object(&additions))] } else { Vec::new() };
    let keep = |name: &str| {
        !((edits.to_legacy && MODERN_PARAMS.contains(&name))
            || (edits.envelope.is_some() && name == "task")
            || (name == "_meta" && (emptied || whole)))
    };
    splice.object(&params.value, &params.members, keep, &added);
}

fn envelope_members(envelope: &Envelope<'_>) -> Vec<Addition<'static>> {
    let mut members = vec![
        (meta::PROTOCOL_VERSION, format!("\"{}\"", envelope.revision.as_str())),
        (meta::CLIENT_INFO, text_of(&implementation(envelope.client, envelope.revision))),
        (meta::CLIENT_CAPABILITIES, text_of(envelope.capabilities)),
    ];
    members.extend(envelope.log_level.map(|level| (meta::LOG_LEVEL, Value::from(level).to_string())));
    members
}

/// A value as JSON text. `Display` writes the same, a piece at a time through a formatter.
fn text_of(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| value.to_string())
}

/// A response as its client gets it: `method` of revision `from` for a client of `to`, under `id`.
pub fn response<'m>(
    message: &'m Message,
    method: &str,
    from: Revision,
    to: Revision,
    id: &RequestId,
    server: &Value,
) -> Translated<'m> {
    let text = message.text();
    let mut splice = Splice::new(text);
    let mut lost = Vec::new();
    let (id_at, body) = message.parts();
    replace_id(&mut splice, text, Some(id_at), Some(id));
    match (message.kind(), &body) {
        (Kind::Result, Some(result)) if result.kind == Token::ObjectStart => {
            match changed_content(text, result, method, from, to, server) {
                Some((changed, losses)) => {
                    splice.replace(result.value.clone(), changed);
                    lost = losses;
                }
                None if from.era() != to.era() => result_members(&mut splice, text, result, method, to, server),
                None => {}
            }
        }
        (Kind::Error, Some(error)) => error_members(&mut splice, text, error, method, from.era(), to.era()),
        _ => {}
    }
    Translated::of(splice, text, lost)
}

/// The whole result, where its content changes between the revisions, and what is lost.
fn changed_content(
    text: &str,
    result: &Member,
    method: &str,
    from: Revision,
    to: Revision,
    server: &Value,
) -> Option<(String, Vec<Loss>)> {
    // Newer revisions know all that older ones have, except that a tool's `execution` was in one revision only.
    if from == to || (to.at_least(from) && method != "tools/list") {
        return None;
    }
    // Results may be large: only where something in them may change are they read as a tree.
    let structured = member(text, &result.members, "structuredContent").map(|structured| structured.kind);
    if !content::may_change(method, to, structured) {
        return None;
    }
    let original: Value = serde_json::from_str(&text[result.value.clone()]).ok()?;
    let mut members: Map<String, Value> = original.as_object().cloned()?;
    let lost = content::translate(method, &mut members, to);
    if Some(&members) == original.as_object() {
        return None;
    }
    if from.era() != to.era() {
        members = with_envelope(method, members, to, server);
    }
    Some((Value::Object(members).to_string(), lost))
}

fn result_members(splice: &mut Splice<'_>, text: &str, result: &Member, method: &str, to: Revision, server: &Value) {
    let modern = to.era() == Era::Modern;
    let has = |name: &str| member(text, &result.members, name).is_some();
    let mut additions: Vec<Addition<'_>> = Vec::new();
    if modern && !has("resultType") {
        additions.push(("resultType", "\"complete\"".to_owned()));
    }
    if modern && CACHEABLE.contains(&method) {
        let unknown = [("ttlMs", "0"), ("cacheScope", "\"private\"")];
        additions
            .extend(unknown.into_iter().filter(|(name, _)| !has(name)).map(|(name, text)| (name, text.to_owned())));
    }
    let server = modern.then(|| (meta::SERVER_INFO, text_of(&implementation(server, to))));
    let at = member(text, &result.members, "_meta").filter(|at| at.kind == Token::ObjectStart);
    let inner = at.and_then(|at| members_at(text, &at.value)).unwrap_or_default();
    let reserved = |name: &str| name.starts_with(meta::PREFIX) && name != meta::RELATED_TASK;
    let left = inner.iter().any(|member| !reserved(&unquote(&text[member.name.clone()])));
    let emptied = at.is_some() && !left && server.is_none();
    if let (Some(at), false) = (at, emptied) {
        let additions: Vec<_> = server.iter().cloned().collect();
        splice.object(&at.value, &inner, |name| !reserved(name), &additions);
    } else if let Some(server) = server {
        additions.push(("_meta", object(&[server])));
    }
    // Only an object can hold the server's name.
    let replaced = modern && at.is_none();
    let keep = |name: &str| {
        (modern || !["resultType", "ttlMs", "cacheScope"].contains(&name))
            && !(name == "_meta" && (emptied || replaced))
    };
    splice.object(&result.value, &result.members, keep, &additions);
}

fn error_members(splice: &mut Splice<'_>, text: &str, error: &Member, method: &str, from: Era, to: Era) {
    let Some(at) = member(text, &error.members, "code") else { return };
    let Ok(code) = text[at.value.clone()].parse::<i64>() else { return };
    // An invalid argument is not a missing resource: only an error that names the resource is one.
    let names_uri = || text[error.value.clone()].to_ascii_lowercase().contains("not found") || text.contains("\"uri\"");
    let translated = error_code(method, code, Some(from), to);
    if translated != code && (translated != RESOURCE_NOT_FOUND || names_uri()) {
        splice.replace(at.value.clone(), translated.to_string());
    }
}

/// A notification with the progress token of its receiver, and without a subscription's id.
pub fn notification<'t>(text: &'t str, progress_token: Option<&str>, to: Revision) -> Translated<'t> {
    let Some(all) = members(text) else { return Translated::same(text) };
    let Some(params) = member(text, &all, "params").filter(|params| params.kind == Token::ObjectStart) else {
        return Translated::same(text);
    };
    let mut splice = Splice::new(text);
    if let (Some(token), Some(at)) = (progress_token, member(text, &params.members, "progressToken")) {
        splice.replace(at.value.clone(), token);
    }
    let at = member(text, &params.members, "_meta").filter(|at| at.kind == Token::ObjectStart);
    let inner = at.and_then(|at| members_at(text, &at.value)).unwrap_or_default();
    let dropped = |name: &str| name == meta::SUBSCRIPTION_ID;
    let emptied = !inner.is_empty() && inner.iter().all(|member| dropped(&unquote(&text[member.name.clone()])));
    if let (Some(at), false) = (at, emptied) {
        splice.object(&at.value, &inner, |name| !dropped(name), &[]);
    }
    // 2024-11-05 has no text with progress.
    let silent = progress_token.is_some() && to == Revision::R2024_11_05;
    let keep = |name: &str| !((silent && name == "message") || (emptied && name == "_meta"));
    splice.object(&params.value, &params.members, keep, &[]);
    let lost = silent && member(text, &params.members, "message").is_some();
    Translated::of(splice, text, lost.then_some(losses::PROGRESS_TEXT).into_iter().collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Envelope, RequestEdits, Translated, losses, notification, request};
    use crate::message::{Message, Packet, parse};
    use crate::revision::{R2024_11_05, R2025_06_18, R2025_11_25, R2026_07_28};
    use crate::{RequestId, Revision};

    fn read(text: &str) -> Message {
        match parse(text.as_bytes()) {
            Ok(Packet::Message(message)) => message,
            other => panic!("{text}: {other:?}"),
        }
    }

    fn response(
        text: &str,
        method: &str,
        from: Revision,
        to: Revision,
        id: &RequestId,
        server: &Value,
    ) -> Translated<'static> {
        let message = read(text);
        let Translated { text, losses } = super::response(&message, method, from, to, id, server);
        Translated { text: text.into_owned().into(), losses }
    }

    fn parsed(text: &str) -> Value {
        serde_json::from_str(text).unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    #[test]
    fn row_24_a_legacy_request_gets_the_envelope_and_keeps_the_rest() {
        let text = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":{"n":1.50},"_meta":{"progressToken":"p","x":1},"task":{"ttl":1}}}"#;
        let (client, capabilities) = (json!({ "name": "c", "version": "1" }), json!({ "roots": {} }));
        let envelope =
            Envelope { revision: R2026_07_28, client: &client, capabilities: &capabilities, log_level: Some("info") };
        let edits = RequestEdits { envelope: Some(envelope), ..RequestEdits::default() };
        let changed = request(text, &edits);
        assert!(changed.contains(r#""arguments":{"n":1.50}"#), "{changed}");
        let params = &parsed(&changed)["params"];
        assert_eq!(params["_meta"]["io.modelcontextprotocol/clientCapabilities"], capabilities);
        assert_eq!(params["_meta"]["io.modelcontextprotocol/logLevel"], "info");
        assert_eq!(params["_meta"]["progressToken"], "p");
        assert!(params.get("task").is_none());
        let bare = request(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#, &edits).into_owned();
        assert_eq!(parsed(&bare)["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        let empty = request(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}"#, &edits).into_owned();
        assert_eq!(parsed(&empty)["params"]["_meta"]["io.modelcontextprotocol/clientInfo"], client);
    }

    #[test]
    fn row_24_a_modern_request_loses_the_reserved_members() {
        let text = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name":"x","requestState":"s","inputResponses":{}}}"#;
        let id = 5.into();
        let edits = RequestEdits { id: Some(&id), name: Some(("name", "y")), to_legacy: true, ..Default::default() };
        assert_eq!(request(text, &edits), r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"y"}}"#);
        assert_eq!(request(text, &RequestEdits::default()), text, "nothing to change");
    }

    #[test]
    fn a_request_that_was_read_is_edited_as_its_text_is() {
        let id = 5.into();
        let edits = [
            RequestEdits::default(),
            RequestEdits { id: Some(&id), progress_token: Some(5), ..RequestEdits::default() },
            RequestEdits { id: Some(&id), to_legacy: true, ..RequestEdits::default() },
            RequestEdits { id: Some(&id), name: Some(("name", "y")), ..RequestEdits::default() },
        ];
        for text in [
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}}"#,
            r#"{"jsonrpc":"2.0","method":"ping", "id" : 1.0 }"#,
            r#"{"id":1,"jsonrpc":"2.0","method":"m","params":{"_meta":{"progressToken":"p"},"name":"x"}}"#,
        ] {
            let message = read(text);
            for edits in &edits {
                assert_eq!(edits.apply(&message), request(text, edits), "{edits:?}");
            }
        }
    }

    #[test]
    fn row_25_results_cross_eras() {
        let server = json!({ "name": "s", "version": "1" });
        let text = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"\u00e9"}],"_meta":{"io.modelcontextprotocol/serverInfo":{}},"n":1e2}}"#;
        assert_eq!(
            response(text, "tools/call", R2026_07_28, R2025_11_25, &"c".into(), &server).text,
            r#"{"jsonrpc":"2.0","id":"c","result":{"content":[{"type":"text","text":"\u00e9"}],"n":1e2}}"#
        );
        let text = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#;
        let modern = parsed(&response(text, "tools/list", R2025_11_25, R2026_07_28, &1.into(), &server).text);
        assert_eq!(modern["result"]["resultType"], "complete");
        assert_eq!(modern["result"]["ttlMs"], 0);
        assert_eq!(modern["result"]["_meta"]["io.modelcontextprotocol/serverInfo"], server);
        assert_eq!(response(text, "tools/list", R2025_11_25, R2025_11_25, &1.into(), &server).text, text);
    }

    #[test]
    fn row_33_a_tool_loses_what_its_client_does_not_know() {
        let text =
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","title":"A","icons":[],"execution":{}}]}}"#;
        let translated = response(text, "tools/list", R2025_11_25, R2025_06_18, &1.into(), &json!({}));
        assert_eq!(translated.losses, [losses::TOOL_MEMBER]);
        let changed = parsed(&translated.text);
        assert_eq!(changed["result"], json!({ "tools": [{ "name": "a", "title": "A" }] }));
    }

    #[test]
    fn row_29_a_missing_resource_has_the_code_of_its_era() {
        let error = |code: i64, message: &str| {
            json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": code, "message": message } }).to_string()
        };
        let code = |text: &str, from, to| {
            parsed(&response(text, "resources/read", from, to, &1.into(), &json!({})).text)["error"]["code"].clone()
        };
        assert_eq!(code(&error(-32002, "gone"), R2025_11_25, R2026_07_28), -32602);
        assert_eq!(code(&error(-32602, "Resource not found"), R2026_07_28, R2025_11_25), -32002);
        assert_eq!(code(&error(-32602, "uri must be a string"), R2026_07_28, R2025_11_25), -32602);
        assert_eq!(code(&error(-32002, "gone"), R2025_11_25, R2025_06_18), -32002);
    }

    #[test]
    fn row_56_progress_comes_back_under_the_clients_token() {
        let text = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9,"progress":0.10,"message":"m"}}"#;
        assert_eq!(notification(text, Some("\"p\""), R2026_07_28).text, text.replace(":9,", ":\"p\","));
        assert_eq!(notification(text, Some("1"), R2024_11_05).losses, [losses::PROGRESS_TEXT]);
        assert_eq!(
            notification(text, Some("1"), R2024_11_05).text,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.10}}"#
        );
    }

    #[test]
    fn row_53_a_legacy_client_sees_no_subscription() {
        let text = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}"#;
        assert_eq!(
            notification(text, None, R2025_11_25).text,
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}"#
        );
    }
}

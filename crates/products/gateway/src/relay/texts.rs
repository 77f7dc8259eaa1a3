//! The texts of requests and responses that the gateway changes or makes.

use std::borrow::Cow;

use net::service::{Answer, RpcError, code};
use serde_json::Value;
use wire::splice::{Addition, Splice, member, members, members_at};
use wire::{Kind, Message, RequestId};

use crate::telemetry::{NAMES, Outgoing};

/// The code of an error: that of an internal one, where the server gave none that is an integer. Nothing of a result.
pub(super) fn code_of(message: &Message) -> Option<i64> {
    (message.kind() == Kind::Error).then(|| message.error_code().unwrap_or(code::INTERNAL_ERROR))
}

/// A request with the members of its next round.
pub(super) fn with_round(text: &str, responses: Option<&Value>, state: Option<&str>) -> String {
    let mut additions = Vec::new();
    additions.extend(responses.map(|responses| ("inputResponses", responses.to_string())));
    additions.extend(state.map(|state| ("requestState", state.to_owned())));
    with_params(text, &["inputResponses", "requestState"], &additions)
}

/// A request with other members in `params`.
pub(crate) fn with_params(text: &str, drop: &[&str], additions: &[Addition<'_>]) -> String {
    let Some(all) = members(text) else { return text.to_owned() };
    let Some(params) = member(text, &all, "params") else { return text.to_owned() };
    let mut splice = Splice::new(text);
    splice.object(&params.value, &params.members, |name| !drop.contains(&name), additions);
    splice.finish()
}

/// A request that says in `_meta` what its trace is, and nothing else of a trace. All other texts stay as they are.
pub(super) fn with_trace<'t>(text: Cow<'t, str>, trace: Option<&Outgoing>) -> Cow<'t, str> {
    let Some(trace) = trace else { return text };
    let Some(all) = members(&text) else { return text };
    let added = trace.members();
    let object = || {
        let members: Vec<_> = added.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    };
    let mut splice = Splice::new(&text);
    let params = member(&text, &all, "params");
    let meta = params.and_then(|params| member(&text, &params.members, "_meta"));
    match (params, meta) {
        (_, Some(meta)) if text.get(meta.value.clone()).is_some_and(|text| text.starts_with('{')) => {
            let Some(inner) = members_at(&text, &meta.value) else { return text };
            splice.object(&meta.value, &inner, |name| !NAMES.contains(&name), &added);
        }
        // What is no object is the server's to refuse.
        (_, Some(_)) => return text,
        (Some(params), None) => splice.object(&params.value, &params.members, |_| true, &[("_meta", object())]),
        (None, None) => {
            let params = [("params", format!("{{\"_meta\":{}}}", object()))];
            splice.object(&(0..text.len()), &all, |_| true, &params);
        }
    }
    Cow::Owned(splice.finish())
}

/// The raw text of a member of the result.
pub(super) fn member_text(message: &Message, name: &str) -> Option<String> {
    message.body_members().find(|(found, _)| found == name).map(|(_, text)| text.to_owned())
}

/// A response with the id of the server's request.
pub(super) fn with_id(text: &str, id: Option<&RequestId>) -> String {
    let (Some(all), Some(id)) = (members(text), id) else { return text.to_owned() };
    let mut splice = Splice::new(text);
    if let Some(at) = member(text, &all, "id") {
        splice.replace(at.value.clone(), id.to_json());
    }
    splice.finish()
}

/// A response to a server's request.
pub(crate) fn result_text(id: Option<&RequestId>, result: &Value) -> String {
    let id = id.map_or_else(|| "null".to_owned(), RequestId::to_json);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// An error for a server's request.
pub(crate) fn error_text(id: Option<&RequestId>, error: &RpcError) -> String {
    String::from_utf8_lossy(Answer::error(id, error).text()).into_owned()
}

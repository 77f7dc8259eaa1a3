//! The tools of the gateway itself, where clients search a long list: what is shown, what is found, what a call of `call_tool` means.

use std::borrow::Cow;
use std::sync::Arc;

use net::service::{Answer, Call, RpcError};
use serde_json::{Value, json};
use wire::message::{Packet, parse_owned};
use wire::translate::{result, result_and_losses};

use super::{Inner, identity};
use crate::catalogue::{List, Merged};
use crate::failure;
use crate::search::{CALL, FIND, MOST, shown, unwrapped};
use crate::settings::SearchSettings;
use crate::upstream::Client;

/// The header that repeats the name of a tool (2026-07-28).
const NAME_HEADER: &str = "mcp-name";

impl Inner {
    /// The call that is meant, with its own name: every stage sees that one.
    pub(super) fn meant(&self, call: Call) -> Call {
        let is_meant = call.message.method() == Some("tools/call") && self.shaping.search().is_some();
        if !is_meant || call.message.string_member("name").as_deref() != Some(CALL) {
            return call;
        }
        match unwrapped(call.message.text()).map(|text| parse_owned(text.into_bytes())) {
            Some(Ok(Packet::Message(message))) => Call { message, ..call },
            _ => call,
        }
    }

    /// Whether the headers of a call are about `call_tool`, and the call is about another tool.
    pub(super) fn is_unwrapped(&self, call: &Call) -> bool {
        let header = || call.context.headers.as_ref()?.get(NAME_HEADER)?.to_str().ok();
        call.message.method() == Some("tools/call")
            && self.shaping.search().is_some()
            && header() == Some(CALL)
            && call.message.string_member("name").as_deref() != Some(CALL)
    }

    /// The tools of a list that are shown; nothing where that is all of them.
    pub(super) fn searched(&self, list: List, merged: &Merged, allowed: Option<Vec<Value>>) -> Option<Vec<Value>> {
        match self.shaping.search().filter(|_| list == List::Tools) {
            None => allowed,
            Some(search) => Some(shown(search, allowed.unwrap_or_else(|| merged.items.clone()))),
        }
    }

    /// The answer to a call of the gateway's own tools; nothing for any other.
    pub(super) async fn own_tool(self: &Arc<Self>, call: &Call, client: &Client) -> Option<Answer> {
        let search = self.shaping.search().filter(|_| call.message.method() == Some("tools/call"))?;
        let name = call.message.string_member("name").map(Cow::into_owned)?;
        let answered = match name.as_str() {
            FIND => self.found(search, call, client).await,
            // A valid one has become the call that it means.
            CALL => {
                let what = format!("Invalid params: `{CALL}` needs the `name` of a tool that `{FIND}` has found");
                Err(failure::PARAMS_INVALID.error(what))
            }
            _ => return None,
        };
        Some(match answered {
            Ok(body) => Answer::result(call.id(), &body),
            Err(error) => Answer::error(Some(call.id()), &error),
        })
    }

    async fn found(self: &Arc<Self>, search: &SearchSettings, call: &Call, client: &Client) -> Result<Value, RpcError> {
        let argument = |name: &str| call.message.params().and_then(|params| params.get("arguments")?.get(name));
        let invalid = |what: &str| failure::PARAMS_INVALID.error(format!("Invalid params: {what}"));
        let query = argument("query").and_then(Value::as_str).ok_or_else(|| invalid("`query` is not a text"))?;
        let limit = match argument("limit") {
            None => search.results,
            Some(limit) => {
                let limit = limit.as_u64().and_then(|limit| usize::try_from(limit).ok());
                let limit = limit.filter(|limit| (1..=MOST).contains(limit));
                limit.ok_or_else(|| invalid("`limit` is not a whole number from 1 to 50"))?
            }
        };
        let merged = self.merged(List::Tools, client).await;
        let tools = merged.index().rank(query).into_iter().filter_map(|number| merged.items.get(number));
        // What a client may not use is not found.
        let tools = tools.filter(|tool| {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            ![FIND, CALL].contains(&name) && self.allows(List::Tools, name, (&merged, None), client)
        });
        let tools: Vec<_> = tools.take(limit).cloned().collect();
        let revision = call.context.revision;
        let (mut body, _) = result_and_losses("tools/list", &json!({ "tools": tools }), revision, &identity());
        let mut text = json!({ "tools": body["tools"].take() });
        super::missing::note(&mut text, &merged.missing);
        let body = json!({ "content": [{ "type": "text", "text": text.to_string() }] });
        Ok(result("tools/call", &body, revision, &identity()))
    }
}

//! The tools of the gateway itself, where clients search a long list: what is shown, what is found, what a call of `call_tool` means.

use std::borrow::Cow;
use std::sync::Arc;

use net::service::{Answer, Call, RpcError};
use serde_json::{Value, json};
use wire::message::{Packet, parse_owned};
use wire::translate::{result, result_and_losses};

use super::{Inner, identity};
use crate::access::Action;
use crate::audit::Trail;
use crate::catalogue::{List, Merged};
use crate::failure;
use crate::search::{CALL, FIND, MOST, shown, unwrapped};
use crate::settings::SearchSettings;
use crate::upstream::Client;

/// How many tools are decided about at a time.
const DECIDED: usize = 50;
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
    pub(super) async fn own_tool(self: &Arc<Self>, call: &Call, whose: (&Client, &Trail)) -> Option<Answer> {
        let search = self.shaping.search().filter(|_| call.message.method() == Some("tools/call"))?;
        let name = call.message.string_member("name").map(Cow::into_owned)?;
        let answered = match name.as_str() {
            FIND => self.found(search, call, whose).await,
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

    async fn found(
        self: &Arc<Self>,
        search: &SearchSettings,
        call: &Call,
        (client, trail): (&Client, &Trail),
    ) -> Result<Value, RpcError> {
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
        let named = |item| Some((Value::as_str(Value::get(item, "name")?)?, Some(item)));
        let ranked: Vec<_> = tools.filter_map(named).filter(|(name, _)| ![FIND, CALL].contains(name)).collect();
        // What a client may not use is not found. The best ones are decided about first, the others only where these do not do.
        let mut tools: Vec<Value> = Vec::new();
        for some in ranked.chunks(limit.max(DECIDED)) {
            let may = self.may_each(Action::ToolsList, some, (client, trail)).await?;
            tools.extend(some.iter().zip(may).filter(|(_, may)| *may).filter_map(|((_, item), _)| item.cloned()));
            if tools.len() >= limit {
                break;
            }
        }
        tools.truncate(limit);
        let revision = call.context.revision;
        let (mut body, _) = result_and_losses("tools/list", &json!({ "tools": tools }), revision, &identity());
        let mut text = json!({ "tools": body["tools"].take() });
        super::missing::note(&mut text, &merged.missing);
        let body = json!({ "content": [{ "type": "text", "text": text.to_string() }] });
        Ok(result("tools/call", &body, revision, &identity()))
    }
}

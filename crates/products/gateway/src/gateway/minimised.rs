//! A call with what its server may get of its arguments. It stands before everything that looks at arguments, so that interceptors,
//! access, the user and the cache see what is sent.

use std::borrow::Cow;
use std::sync::Arc;

use net::service::{Call, RpcError};
use serde_json::json;
use wire::Era;
use wire::message::{Packet, parse_owned};

use super::{Inner, missing};
use crate::access::Action;
use crate::answers::request::KEY_ARGUMENT;
use crate::audit::Trail;
use crate::catalogue::List;
use crate::failure;
use crate::inputs::{Inputs, Refusal};
use crate::relay::header_fault;
use crate::upstream::Client;

/// The stage of the audit log.
const STAGE: &str = "inputs";

impl Inner {
    /// The call as its server gets it, or why it is not made.
    pub(super) async fn minimised(
        self: &Arc<Self>,
        inputs: &Inputs,
        call: Call,
        client: &mut Client,
        trail: &Trail,
    ) -> Result<Call, RpcError> {
        client.shape.was_minimised = true;
        let name = call.message.string_member("name").filter(|_| call.message.method() == Some("tools/call"));
        let Some(name) = name.map(Cow::into_owned) else { return Ok(call) };
        let rule = inputs.rule(&name);
        // A request with a member twice is refused by what would carry it.
        if !rule.looks() || call.message.repeated_parameter().is_some() {
            return Ok(call);
        }
        let mut tools = self.known_tools(client).await;
        if tools.item(&name).is_none() {
            tools = self.merged(List::Tools, client).await;
        }
        let none = json!({});
        let arguments = call.message.params().and_then(|params| params.get("arguments")).unwrap_or(&none);
        // What the client may not use reads as what does not exist.
        if !self.may(Action::ToolsCall, &name, (&tools, Some(arguments)), (&*client, trail)).await? {
            trail.decided(false);
            return Err(missing::unknown("tool", &name, &tools.missing));
        }
        if let Some(blocked) = tools.withheld.get(&name) {
            return Err(self.refused_by_list(blocked, (List::Tools, &name), trail));
        }
        let tool = tools.item(&name);
        if tool.is_none() && rule.needs_schema() {
            return Err(missing::unknown("tool", &name, &tools.missing));
        }
        let schema = tool.and_then(|tool| tool.get("inputSchema"));
        // The idempotency key is for the gateway, which takes it out where the tool has no such argument.
        let own = self.answers.settings.idempotency.as_ref().map(|_| KEY_ARGUMENT);
        let (text, changed) = rule.apply(call.message.text(), schema, own).map_err(|why| {
            trail.stage(STAGE, "refused");
            refusal(&why)
        })?;
        if !changed.is_any() {
            trail.stage(STAGE, "unchanged");
            return Ok(call);
        }
        // They are made again from what is sent: until then, they must say what the client's arguments say.
        let headers =
            call.context.headers.as_ref().filter(|_| call.context.era() == Era::Modern && !client.shape.is_edited);
        if let Some(error) = headers.zip(schema).and_then(|(all, schema)| header_fault(all, &call.message, schema)) {
            return Err(error);
        }
        trail.noted(STAGE, changed.summary());
        let Ok(Packet::Message(message)) = parse_owned(text.into_owned().into_bytes()) else {
            return Err(failure::GATEWAY_FAILED.error("The call could not be read again"));
        };
        client.shape.is_edited = true;
        Ok(Call { message, ..call })
    }
}

fn refusal(why: &Refusal) -> RpcError {
    match why {
        Refusal::Unknown(place) => {
            let place = wire::escape::line(place).into_owned();
            let what = format!("Invalid params: the tool has no argument `{place}`");
            failure::INPUT_UNKNOWN.error_with(what, json!({ "pointer": place }))
        }
        Refusal::Secret => {
            failure::INPUT_SECRET.error("Invalid params: the arguments contain a secret or personal data")
        }
        Refusal::Unchecked(why) => {
            failure::INPUT_UNCHECKED.error(format!("Invalid params: the arguments cannot be checked: {why}"))
        }
    }
}

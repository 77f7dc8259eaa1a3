//! A request that needs a consent of its user first: clients that can show an address get it as a question, others as an
//! error. Must not know how consents are kept.

use std::sync::Arc;

use net::service::{Answer, Call};
use serde_json::{Value, json};
use wire::message::{Packet, parse};
use wire::translate::{input_request_params, result};
use wire::{Era, Revision};

use super::guarded::without_answer;
use super::{Inner, identity};
use crate::audit::Trail;
use crate::failure;

/// How our states begin.
const STATE: &str = "proof-gateway.consent.1.";
/// The question's key in a round.
const KEY: &str = "consent";
/// The requests that may have rounds (2026-07-28).
const ROUNDS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

/// A consent that a request needs.
struct Needed {
    upstream: String,
    url: String,
    id: String,
    message: String,
}

impl Needed {
    fn of(answer: &Answer) -> Option<Self> {
        if answer.code() != failure::CONSENT_NEEDED.code || !answer.is_own_error() {
            return None;
        }
        let Ok(Packet::Message(message)) = parse(answer.text()) else { return None };
        let error = message.error()?;
        let data = error.get("data").filter(|data| data["failure"] == failure::CONSENT_NEEDED.name)?;
        let text = |name: &str| data.get(name)?.as_str().map(str::to_owned);
        let message = error.get("message")?.as_str()?.to_owned();
        Some(Self { upstream: text("upstream")?, url: text("url")?, id: text("elicitationId")?, message })
    }

    /// The question to the user (2025-11-25, client/elicitation).
    fn question(&self) -> Value {
        let message = format!("Connect your account: the server `{}` needs your consent.", self.upstream);
        json!({ "mode": "url", "elicitationId": self.id, "url": self.url, "message": message })
    }
}

impl Inner {
    /// Whether users are asked for a consent at some server.
    pub(super) fn asks_for_consent(&self) -> bool {
        self.upstreams.iter().any(|upstream| upstream.asks_for_consent())
    }

    /// Answers a request, or asks for the consent that it needs.
    pub(super) async fn answered_or_asked(self: Arc<Self>, call: Call, trail: Trail) -> Answer {
        let (id, revision, era) = (call.id().clone(), call.context.revision, call.context.era());
        let method = call.message.method().unwrap_or_default().to_owned();
        let client = self.client(&call, &Trail::default()).ok();
        let shows_urls = client.is_some_and(|client| client.capabilities().pointer("/elicitation/url").is_some());
        let (call, has_declined) = match answer_taken(call) {
            Ok(taken) => taken,
            Err(answer) => return answer,
        };
        let answer = self.answer_to(call, trail).await;
        if !shows_urls || has_declined {
            return answer;
        }
        let Some(needed) = Needed::of(&answer) else { return answer };
        match era {
            Era::Legacy if revision == Revision::R2025_11_25 => {
                let Needed { upstream, url, .. } = &needed;
                let data = json!({ "upstream": upstream, "url": url, "elicitations": [needed.question()] });
                Answer::error(Some(&id), &failure::CONSENT_ASKED.error_with(needed.message, data))
            }
            Era::Modern if ROUNDS.contains(&method.as_str()) => {
                let params = input_request_params("elicitation/create", &needed.question(), revision, KEY);
                let request = json!({ "method": "elicitation/create", "params": params });
                let state = format!("{STATE}{}", needed.id);
                let body =
                    json!({ "resultType": "input_required", "inputRequests": { KEY: request }, "requestState": state });
                Answer::result(&id, &result(&method, &body, revision, &identity()))
            }
            _ => answer,
        }
    }
}

/// The call without the answer to our question, and whether the user declined.
fn answer_taken(call: Call) -> Result<(Call, bool), Answer> {
    let state = call.message.string_member("requestState");
    if call.context.era() != Era::Modern || !state.is_some_and(|state| state.starts_with(STATE)) {
        return Ok((call, false));
    }
    let responses = call.message.params().and_then(|params| params.get("inputResponses"));
    let action = responses.and_then(|all| all.get(KEY)?.get("action")?.as_str());
    let has_declined = matches!(action, Some("decline" | "cancel"));
    Ok((without_answer(call)?, has_declined))
}

//! Users who must consent before a tool is called: their client shows them where, if it can, and else the model does.

use factory::CallableOperation;
use net::service::{RpcError, code};
use openapi::answer::Answered;
use reference::Server;
use reference::catalogue::{Invocation, Outcome, Question, ask};
use serde_json::json;
use url::Url;
use wire::Era;
use wire::revision::R2025_11_25;
use wire::serf::{Category, Details};

use super::{caller, outcome};

/// What a client is asked by.
const KEY: &str = "consent";

/// What comes of a call whose user has not consented to all that it needs; `None`: it can be made.
pub(super) async fn missing<'o>(
    server: &Server,
    invocation: &Invocation,
    operations: impl Iterator<Item = &'o CallableOperation>,
) -> Option<Outcome> {
    let who = caller(&invocation.call.context);
    for operation in operations {
        if let Some(url) = operation.consent(&who).await {
            let asked = Asked { operation, url };
            if let Some(outcome) = asked.answered(server, invocation).await {
                return Some(outcome);
            }
        }
    }
    None
}

/// An operation, and where its user may consent.
struct Asked<'o> {
    operation: &'o CallableOperation,
    url: Url,
}

impl Asked<'_> {
    /// What comes of the call instead of its answer; `None` once the user has consented.
    async fn answered(&self, server: &Server, invocation: &Invocation) -> Option<Outcome> {
        let why = format!("Let this server use {} for you", self.operation.host());
        let question = Question::url(KEY, why.clone(), self.url.to_string(), oauth::random());
        let context = &invocation.call.context;
        if !context.revision.at_least(R2025_11_25) || !question.can_be_asked(invocation) {
            return Some(self.failure(invocation, "the user must consent first"));
        }
        if context.era() == Era::Legacy {
            let elicitation = json!({
                "mode": "url", "message": why, "url": self.url.as_str(), "elicitationId": oauth::random(),
            });
            let error = RpcError::new(code::URL_ELICITATION_REQUIRED, "The user must consent first");
            return Some(Outcome::Refused(error.with_data(json!({ "elicitations": [elicitation] }))));
        }
        match ask(server, invocation, vec![question]).await {
            Err(unanswered) => Some(unanswered.into()),
            Ok(answers) if answers[0]["action"] != "accept" => Some(self.failure(invocation, "the user declined")),
            // The page is open; it may take a while.
            Ok(_) if self.operation.consented(&caller(context)).await => None,
            Ok(_) => Some(self.failure(invocation, "the user has not consented yet")),
        }
    }

    fn failure(&self, invocation: &Invocation, why: &str) -> Outcome {
        let action = "Ask the user to open the address in a browser on this machine, then call the tool again";
        let text = format!("{}: {why}: open {} in a browser on this machine", self.operation.host(), self.url);
        let answered = Answered::failed(Details::new(Category::PermissionDenied, action), text);
        Outcome::Done(outcome::output(answered, invocation.call.context.revision))
    }
}

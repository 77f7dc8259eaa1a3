//! `visit`: does nothing before its user has been to a page. At 2025-11-25 an error says so, and the next call takes it
//! that the visit is over; a modern client is asked by the result (client/elicitation).

use std::sync::PoisonError;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use net::service::{RpcError, code};
use serde_json::json;
use wire::Era;
use wire::revision::R2025_11_25;
use wire::serf::Category;

use crate::Server;
use crate::catalogue::{Hints, Invocation, Outcome, Question, Tool, ask};
use crate::logging::{SessionState, Visit};

/// A page that says that it is an example.
const PAGE: &str = "https://example.com/";

const WHY: &str = "Please visit this page first, and then try again";

pub(super) fn tool() -> Tool {
    Tool::later("visit", "Wants a page to be visited before it does anything", run)
        .titled("Visit first")
        .since(R2025_11_25)
        .hints(Hints::ASKS)
}

async fn run(server: Server, invocation: Invocation) -> Outcome {
    let mut bytes = [0; 12];
    if getrandom::fill(&mut bytes).is_err() {
        return Outcome::failure(Category::InternalError, "The system gives no randomness to name the visit with");
    }
    let id = URL_SAFE_NO_PAD.encode(bytes);
    let question = Question::url("page", WHY, PAGE, id.clone());
    if invocation.call.context.era() == Era::Modern {
        return match ask(&server, &invocation, vec![question]).await {
            Ok(answers) if answers[0]["action"] == "accept" => Outcome::text("Thank you for the visit."),
            Ok(_) => Outcome::text("You would rather not go there."),
            Err(unanswered) => unanswered.into(),
        };
    }
    if !question.can_be_asked(&invocation) {
        return Outcome::failure(Category::InvalidInput, "This client cannot send its user to a page");
    }
    required(&invocation, id)
}

/// Says that the visit is due, once for each session; whoever calls again has been there.
fn required(invocation: &Invocation, id: String) -> Outcome {
    let Some(session) = invocation.call.context.session.as_ref() else {
        return Outcome::failure(Category::InvalidInput, "Without a session nobody can come back");
    };
    let mut visit = session.state::<SessionState>().visit.lock().unwrap_or_else(PoisonError::into_inner);
    match std::mem::replace(&mut *visit, Visit::Over) {
        Visit::Pending => {
            let elicitation = json!({ "mode": "url", "message": WHY, "url": PAGE, "elicitationId": id });
            *visit = Visit::Announced(id);
            let error = RpcError::new(code::URL_ELICITATION_REQUIRED, "A page has to be visited first");
            Outcome::Refused(error.with_data(json!({ "elicitations": [elicitation] })))
        }
        Visit::Announced(told) => {
            invocation.notify("notifications/elicitation/complete", json!({ "elicitationId": told }));
            Outcome::text("Thank you for the visit.")
        }
        Visit::Over => Outcome::text("You have been there."),
    }
}

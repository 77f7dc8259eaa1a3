//! Questions of which the next depends on the answers before: a conversation with the client's model, say.

use net::service::RpcError;
use serde_json::Value;
use wire::Era;

use super::{Question, Unanswered, closed, fitting, foreign_state, missing_capabilities, opened};
use crate::Server;
use crate::catalogue::Invocation;

/// Asks what `next` says after each answer, until it says nothing, and gives all answers. Not for tasks.
pub async fn ask_on(
    server: &Server,
    invocation: &Invocation,
    next: impl Fn(&[Value]) -> Option<Question> + Send + Sync,
) -> Result<Vec<Value>, Unanswered> {
    if invocation.call.context.era() == Era::Modern {
        return ask_on_by_result(server, invocation, next);
    }
    let mut answers = Vec::new();
    while let Some(question) = next(&answers) {
        if !question.can_be_asked(invocation) {
            return Err(Unanswered::Failed(format!("This client did not declare {}", question.needs())));
        }
        answers.extend(super::legacy(invocation, &[vec![question]]).await?);
    }
    Ok(answers)
}

/// One round by the result of a modern call; the state holds the answers so far.
fn ask_on_by_result(
    server: &Server,
    invocation: &Invocation,
    next: impl Fn(&[Value]) -> Option<Question>,
) -> Result<Vec<Value>, Unanswered> {
    let mut progress = match &invocation.request_state {
        None => super::Progress::default(),
        Some(state) => opened(server, invocation, state).ok_or_else(foreign_state)?,
    };
    if let Some(question) = next(&progress.answers)
        && invocation.request_state.is_some()
        && let Some(answers) = fitting(invocation.input_responses.as_ref(), std::slice::from_ref(&question))
    {
        progress.answers.extend(answers);
        progress.rounds += 1;
    }
    let Some(question) = next(&progress.answers) else { return Ok(progress.answers) };
    if !question.can_be_asked(invocation) {
        return Err(Unanswered::Refused(missing(&question)));
    }
    let state = closed(server, invocation, &progress);
    Err(super::asked(invocation, std::slice::from_ref(&question), Some(state)))
}

fn missing(question: &Question) -> RpcError {
    missing_capabilities(&[question])
}

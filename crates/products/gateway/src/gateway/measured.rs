//! A call of a tool, and how long it took from the client's point of view, where tools have objectives. Must not know what
//! the objectives are.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::Either;
use net::service::{Answer, Call, code};
use tokio::time::timeout;
use wire::Era;
use wire::json::mentions;
use wire::message::{Packet, parse};

use super::Inner;
use crate::audit::Trail;
use crate::budget::class_of;
use crate::failure::Category;
use crate::relay::Edits;
use crate::result_kind::ResultKind;
use crate::slo::{Ending, Measured, Slo};
use crate::upstream::{Client, Upstream};

/// How long it may take to learn what a tool does.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest answer that is looked into, in bytes. A longer one is a result.
const LONGEST: usize = 64 << 10;
/// The longest name of a tool that is counted.
const LONGEST_NAME: usize = 256;
/// Errors of servers that are their clients' doing.
const OF_CLIENTS: [i64; 8] = [
    code::INVALID_REQUEST,
    code::METHOD_NOT_FOUND,
    code::INVALID_PARAMS,
    code::RESOURCE_NOT_FOUND,
    code::HEADER_MISMATCH,
    code::MISSING_CLIENT_CAPABILITY,
    code::UNSUPPORTED_VERSION,
    code::URL_ELICITATION_REQUIRED,
];

/// A call that is being measured. One whose client does not wait for its end counts where it has become too slow.
struct Running {
    slo: Slo,
    upstream: String,
    tool: String,
    arrived: Instant,
    /// The client was asked something: the time is not the tool's.
    asked: Arc<AtomicBool>,
    is_over: bool,
}

impl Running {
    fn measured(&self, ending: Ending) -> Option<Measured> {
        let took = self.arrived.elapsed();
        let counts = !self.asked.load(Ordering::Relaxed);
        counts.then(|| Measured { upstream: self.upstream.clone(), tool: self.tool.clone(), took, ending })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(measured) = self.measured(Ending::NotJudged).filter(|_| !self.is_over) {
            self.slo.record(&measured, Instant::now());
        }
    }
}

impl Inner {
    /// Carries a request. A call of a tool is measured, where there are objectives.
    pub(super) fn measured(
        self: Arc<Self>,
        upstream: Arc<Upstream>,
        (client, trail): (Client, &Trail),
        call: Call,
        mut edits: Edits,
    ) -> impl Future<Output = Answer> + Send + '_ {
        let tool = call.message.string_member("name").filter(|_| call.message.method() == Some("tools/call"));
        let tool = tool.filter(|tool| tool.len() <= LONGEST_NAME).map(std::borrow::Cow::into_owned);
        let (Some(slo), Some(tool)) = (self.slo.clone(), tool) else {
            return Either::Left(self.carry(upstream, (client, trail), call, edits));
        };
        let asked = Arc::new(AtomicBool::new(false));
        edits.asked = Some(Arc::clone(&asked));
        let (arrived, era) = (edits.arrived.unwrap_or_else(Instant::now), call.context.era());
        let mut running = Running { slo, upstream: upstream.name.clone(), tool, arrived, asked, is_over: false };
        Either::Right(Box::pin(async move {
            let answer = Arc::clone(&self).carry(upstream, (client.clone(), trail), call, edits).await;
            running.is_over = true;
            if let Some(measured) = ending(&answer, era).and_then(|ending| running.measured(ending))
                && !running.slo.record(&measured, Instant::now())
            {
                // No call waits for what only its figures need.
                let (slo, client) = (running.slo.clone(), client.kept());
                tokio::spawn(async move { self.learn(&slo, &measured, &client).await });
            }
            answer
        }))
    }

    /// Learns what the called tool does, if some server lists it.
    async fn learn(self: Arc<Self>, slo: &Slo, measured: &Measured, client: &Client) {
        let Ok(tools) = timeout(PATIENCE, self.known_tools(client)).await else { return };
        if let Some(item) = tools.item(&measured.tool) {
            slo.learn(measured, class_of(item.get("annotations")), Instant::now());
        }
    }
}

/// How a call ended; nothing where it goes on: as a task, or with a question.
fn ending(answer: &Answer, era: Era) -> Option<Ending> {
    let Some(code) = answer.code() else { return ending_of_result(answer, era) };
    if !answer.is_own_error() {
        return Some(if OF_CLIENTS.contains(&code) { Ending::Answered } else { Ending::Failed });
    }
    let Ok(Packet::Message(message)) = parse(answer.text()) else { return Some(Ending::Failed) };
    let category = message.error().and_then(|error| error.get("data")?.get("category")?.as_str());
    let failed = [Category::UpstreamFailure, Category::InternalError].iter().any(|one| category == Some(one.as_str()));
    Some(if failed { Ending::Failed } else { Ending::NotJudged })
}

fn ending_of_result(answer: &Answer, era: Era) -> Option<Ending> {
    let text = answer.text();
    // Only these members mark a result that is not final. A name may be written with escapes.
    let may_go_on = mentions(text, "resultType") || mentions(text, "\"task\"") || mentions(text, "\\u");
    if text.len() > LONGEST || !may_go_on {
        return Some(Ending::Answered);
    }
    match ResultKind::of_answer(answer, era) {
        ResultKind::Complete => Some(Ending::Answered),
        ResultKind::Question | ResultKind::Task => None,
        ResultKind::Unknown => Some(Ending::Failed),
    }
}

#[cfg(test)]
mod tests {
    use net::service::Answer;
    use wire::{Era, RequestId};

    use super::{Ending, ending};
    use crate::failure;

    #[test]
    fn what_the_client_did_is_no_failure_of_the_tool() {
        let id = RequestId::from(1);
        let own = |failure: failure::Failure| ending(&Answer::error(Some(&id), &failure.error("x")), Era::Modern);
        assert_eq!(own(failure::SERVER_UNREACHABLE), Some(Ending::Failed));
        assert_eq!(own(failure::BREAKER_OPEN), Some(Ending::Failed));
        assert_eq!(own(failure::RATE_LIMITED), Some(Ending::NotJudged));
        assert_eq!(own(failure::PARAMS_INVALID), Some(Ending::NotJudged));
        let text = br#"{"error":{"data":{"category":"INVALID_INPUT"}}}"#;
        let server = |code| ending(&Answer::raw(text.to_vec(), Some(code)), Era::Modern);
        assert_eq!((server(-32602), server(-32603)), (Some(Ending::Answered), Some(Ending::Failed)));
    }

    #[test]
    fn a_call_that_goes_on_has_no_end() {
        let of = |result: &str| {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
            ending(&Answer::raw(text.into_bytes(), None), Era::Modern)
        };
        assert_eq!(of(r#"{"resultType":"input_required","inputRequests":{}}"#), None);
        assert_eq!(of(r#"{"resultType":"task","taskId":"t"}"#), None);
        assert_eq!(of(r#"{"task":{"taskId":"t"}}"#), None);
        assert_eq!(of(r#"{"content":[{"type":"text","text":"\"task\" \"input_required\""}]}"#), Some(Ending::Answered));
        assert_eq!(of(r#"{"content":[],"isError":true}"#), Some(Ending::Answered));
        assert_eq!(of(r#"{"resultType":"later"}"#), Some(Ending::Failed));
    }
}

//! A request on its way to an upstream: within its budget of time, counted, and in the log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use net::service::{Answer, Call, RpcError};
use serde_json::Value;
use tokio::time::timeout;

use super::Inner;
use super::answering::name_there;
use crate::access::Action;
use crate::audit::Trail;
use crate::budget::{Begun, Budgets};
use crate::metrics::is_failed;
use crate::relay::{Edits, Relay};
use crate::stats::{Finished, clipped};
use crate::telemetry::UpstreamSpan;
use crate::upstream::{Client, Upstream};

/// How much of a name or URI is logged and shown, in characters.
const LONGEST: usize = 1024;
/// How long a call waits to learn what its tool does. After that, nothing is known of it.
const PATIENCE: Duration = Duration::from_secs(2);

/// The name or URI that a request is about, as it is logged.
fn target_of(call: &Call) -> Option<String> {
    let target = call.message.string_member("name").or_else(|| call.message.string_member("uri"));
    target.map(|target| clipped(&target, LONGEST).to_owned())
}

impl Inner {
    /// Carries a request to an upstream and counts it.
    pub(super) async fn carry(
        self: Arc<Self>,
        upstream: Arc<Upstream>,
        (client, trail): (Client, &Trail),
        call: Call,
        mut edits: Edits,
    ) -> Answer {
        edits.output = match self.output_check(&upstream, &call, &client).await {
            Ok(check) => check,
            Err(error) => return Answer::error(Some(call.id()), &error),
        };
        let passage = match &self.traffic {
            Some(traffic) => {
                let tool = call.message.string_member("name").filter(|_| call.message.method() == Some("tools/call"));
                let there = tool.as_deref().map(|shown| name_there(&edits, shown));
                match Box::pin(traffic.pass((&call, there), (&client, trail), &upstream)).await {
                    Ok(passage) => Some(passage),
                    Err(refused) => return refused,
                }
            }
            None => None,
        };
        let begun = match self.budgets.as_ref().filter(|_| call.message.method() == Some("tools/call")) {
            Some(budgets) => match self.budgeted(budgets, (&call, &client, &edits)).await {
                Ok(begun) => Some(begun),
                Err(error) => {
                    trail.trace.stage("budget", "refused");
                    return Answer::error(Some(call.id()), &error);
                }
            },
            None => None,
        };
        let allowance = begun.as_ref().map(|begun| Arc::clone(&begun.0));
        let (began, stats) = (Instant::now(), Arc::clone(&self.stats));
        let numbered = client.shape.intercepted.as_ref().map(|intercepted| intercepted.request);
        let request = trail.request().or(numbered).unwrap_or_else(|| stats.number());
        let method = call.message.method().unwrap_or_default().to_owned();
        let target = target_of(&call);
        let name = upstream.name.clone();
        let there = edits.name.as_ref().map(|(_, name)| name.as_str());
        let span = trail.trace.carried((&upstream.name, request), &call, there);
        edits.trace = span.as_ref().map(UpstreamSpan::outgoing);
        // The largest part of a request on its way: on the heap, it moves with nobody.
        let answer = Box::pin(
            Relay::new(self, upstream, client, call, edits, (request, trail.clone()), (allowance, passage)).run(),
        )
        .await;
        if let Some(span) = span {
            span.end(&answer);
        }
        if let Some(begun) = begun.filter(|_| answer.code().is_none()) {
            begun.0.succeeded();
        }
        let took = began.elapsed();
        tracing::info!(
            request,
            upstream = name,
            method,
            name = target,
            micros = took.as_micros() as u64,
            error = answer.code()
        );
        let (error, failed) = (answer.code(), method == "tools/call" && is_failed(&answer));
        let target = target.as_deref();
        stats.finished(&Finished { request, upstream: &name, method: &method, name: target, took, error, failed });
        answer
    }

    /// Lets a call of a tool in, with the time that it has; or says why it is not sent.
    async fn budgeted(
        self: &Arc<Self>,
        budgets: &Budgets,
        (call, client, edits): (&Call, &Client, &Edits),
    ) -> Result<Begun, RpcError> {
        let tool = call.message.string_member("name").unwrap_or_default();
        let mut request = budgets.request(call, client, &tool, edits.arrived.unwrap_or_else(Instant::now))?;
        if budgets.needs_list(&request)
            && let Ok(tools) = timeout(PATIENCE, self.known_tools(client)).await
        {
            let named = |item| Some((Value::as_str(Value::get(item, "name")?)?, Some(item)));
            let mut steps: Vec<_> = tools.items.iter().filter_map(named).collect();
            steps.retain(|(name, _)| request.steps().any(|step| step == name));
            // Hide tools without a decision.
            let may = self.may_each(Action::ToolsList, &steps, (client, &Trail::default())).await.unwrap_or_default();
            let seen: Vec<_> = steps.into_iter().zip(may).filter(|(_, may)| *may).map(|(step, _)| step).collect();
            budgets.take_in(&mut request, |tool| seen.iter().find(|(name, _)| *name == tool)?.1);
        }
        budgets.admit(request)
    }

    /// Waits for what becomes of another request that is equal, within the budget of this one.
    pub(super) async fn in_budget<T>(
        &self,
        (call, client, edits): (&Call, &Client, &Edits),
        waiting: impl Future<Output = T>,
    ) -> Result<T, RpcError> {
        let Some(budgets) = self.budgets.as_ref().filter(|_| call.message.method() == Some("tools/call")) else {
            return Ok(waiting.await);
        };
        let tool = call.message.string_member("name").unwrap_or_default();
        let request = budgets.request(call, client, &tool, edits.arrived.unwrap_or_else(Instant::now))?;
        let (patience, kind) = request.patience();
        timeout(patience, waiting).await.map_err(|_| budgets.waited_too_long(kind))
    }
}

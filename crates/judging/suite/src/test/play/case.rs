//! Runs one case: fills in its variables, sends its request and judges the reply.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Instant;

use client::Client;
use document::TooLong;
use serde_json::{Map, Value};

use super::coverage_recorder::CoverageRecorder;
use super::session::Session;
use super::{Player, skipped};
use crate::advice::Words;
use crate::requests::{Reply, Request, send};
use crate::test::Failure;
use crate::test::judge::{Observed, captured, essence, failure, judge};
use crate::test::outcome::{CaseResult, Verdict};
use crate::test::plan::{Case, RequestTemplate};
use crate::test::redacted;

impl Player<'_> {
    /// Runs a case with its repetitions.
    pub(super) async fn run_case(&self, session: &Session, case: &Case) -> CaseResult {
        let begun = Instant::now();
        let mut essence = None;
        let mut failures = Vec::new();
        let missing = {
            let vars = session.vars.lock().unwrap_or_else(PoisonError::into_inner);
            case.uses.iter().find(|name| vars.get(name.as_str()).is_none()).cloned()
        };
        if let Some(name) = missing {
            return skipped(case, format!("`{name}` was not captured"));
        }
        for _ in 0..case.repeat {
            let (reply, failed) = self.run_once(session, case).await;
            essence = reply;
            failures = failed;
            if !failures.is_empty() {
                break;
            }
        }
        let verdict = match (&case.xfail, failures.is_empty()) {
            (None, true) => Verdict::Passed,
            (None, false) => Verdict::Failed(failures),
            (Some(why), false) => Verdict::ExpectedFailure(why.clone()),
            (Some(why), true) => {
                let expected = format!("a failure (xfail): {}", wire::escape::line(why));
                let found = "the case passes: remove `xfail`".to_owned();
                Verdict::Failed(vec![failure(case.at, expected, found)])
            }
        };
        let verdict = redacted::verdict(&self.options.redactor, verdict);
        CaseResult { name: case.name.clone(), at: case.at, verdict, elapsed: begun.elapsed(), essence }
    }

    async fn run_once(&self, session: &Session, case: &Case) -> (Option<Value>, Vec<Failure>) {
        let vars = session.vars.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let from = session.notifications.lock().unwrap_or_else(PoisonError::into_inner).len();
        session.respondent.set_script(case.answers.clone());
        session.status.store(0, Ordering::Relaxed);
        let begun = Instant::now();
        let timeout = case.timeout.unwrap_or(self.options.timeout);
        let answered = tokio::time::timeout(
            timeout,
            send_template(&session.client, &case.request, &vars, (self.coverage, self.options.words)),
        )
        .await;
        let reply = if let Ok(reply) = answered {
            reply
        } else {
            session.client.cancel_all("timeout").await;
            Reply::NoAnswer(format!("no answer within {:.1} s", timeout.as_secs_f64()))
        };
        let elapsed = begun.elapsed();
        session.respondent.set_script(None);
        let notifications = session.notifications.lock().unwrap_or_else(PoisonError::into_inner).split_off(from);
        let status = Some(session.status.load(Ordering::Relaxed)).filter(|status| *status > 0);
        let mut failures = judge(case, &reply, &Observed { elapsed, notifications, status }, &vars);
        let Reply::Result(result) = reply else { return (None, failures) };
        let (captured, missing) = captured(case, &result);
        if let Value::Object(vars) = &mut *session.vars.lock().unwrap_or_else(PoisonError::into_inner) {
            vars.extend(captured);
        }
        // Captures of a wrong result would only repeat its failures.
        if failures.is_empty() {
            failures = missing;
        }
        let essence = essence(&result, &case.volatile);
        if let Some(snapshot) = case.expect.snapshot.as_ref().filter(|_| failures.is_empty()) {
            failures.extend(self.snapshots.judge(case, snapshot, &essence));
        }
        (Some(essence), failures)
    }
}

/// Fills in the variables of a request and sends it.
async fn send_template(
    client: &Client,
    request: &RequestTemplate,
    vars: &Value,
    (coverage, words): (&CoverageRecorder, Words),
) -> Reply {
    match filled(request, vars) {
        Ok(request) => {
            coverage.record(&request);
            Reply::of(send(client, request).await, words)
        }
        Err(TooLong) => Reply::NoAnswer("the request is too long with its variables filled in".to_owned()),
    }
}

/// The request with its variables filled in.
fn filled(request: &RequestTemplate, vars: &Value) -> Result<Request, TooLong> {
    let map = |value: Value| match value {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    Ok(match request {
        RequestTemplate::Call { tool, arguments } => {
            Request::Call { tool: tool.fill(vars)?, arguments: map(arguments.fill(vars)?) }
        }
        RequestTemplate::Read(uri) => Request::Read(uri.fill(vars)?),
        RequestTemplate::Get { prompt, arguments } => {
            Request::Get { prompt: prompt.fill(vars)?, arguments: map(arguments.fill(vars)?) }
        }
        RequestTemplate::Complete { reference, argument, value, known } => Request::Complete {
            reference: reference.fill(vars)?,
            argument: argument.clone(),
            value: value.fill(vars)?,
            known: map(known.fill(vars)?),
        },
        RequestTemplate::List(list) => Request::List(*list),
        RequestTemplate::Raw { method, params } => {
            Request::Raw { method: method.clone(), params: map(params.fill(vars)?) }
        }
    })
}

//! Runs one case: fills in its variables, sends its request and judges the reply.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Instant;

use client::Client;
use document::{TooLong, nearest};
use serde_json::{Map, Value};
use wire::escape::snippet;

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

/// How many characters of a tool's name are shown.
const NAME: usize = 60;

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
        failures.extend(unlisted(session, case).await);
        let repeat = if failures.is_empty() { case.repeat } else { 0 };
        for _ in 0..repeat {
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

/// A call of a tool that the server does not list, where it must; a failure to list shows in the call itself.
async fn unlisted(session: &Session, case: &Case) -> Option<Failure> {
    let RequestTemplate::Call { tool, .. } = &case.request else { return None };
    let name = tool.fill(&Value::Null).ok().filter(|_| case.must_be_listed)?;
    let (tools, _) = session.client.tools().await.ok()?;
    let known: Vec<String> = tools.iter().map(|tool| snippet(tool.name(), NAME)).collect();
    if tools.iter().any(|tool| tool.name() == name) {
        return None;
    }
    let expected = match known.as_slice() {
        [] => "a tool of the server, which lists none".to_owned(),
        known => format!("a tool of the server: {}", nearest(&name, known.iter().map(String::as_str))),
    };
    Some(failure(case.at, expected, format!("`{}`, which it does not list", snippet(&name, NAME))))
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

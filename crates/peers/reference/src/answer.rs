//! How a result is dressed for its era: bare in the legacy one; with `resultType`, the server's name and, where the
//! method has them, caching hints in the modern one (basic/index#result-responses, server/utilities/caching).

use net::service::{Answer, Call, Context, Reply, RpcError};
use serde::Serialize;
use serde_json::{Map, Value, json};
use wire::revision::R2025_06_18;
use wire::{Era, RequestId, Revision};

use crate::Server;
use crate::catalogue::{Finished, Invocation, Outcome, Run};

/// What a handler gives.
pub(crate) type Handled = Result<Value, RpcError>;

/// Who we say we are.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Implementation<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    version: &'a str,
}

/// Who we say we are in `revision`: `title` came with 2025-06-18.
pub(crate) fn implementation(server: &Server, revision: Revision) -> Implementation<'_> {
    let catalogue = server.catalogue();
    Implementation {
        name: &catalogue.name,
        title: catalogue.title.as_deref().filter(|_| revision.at_least(R2025_06_18)),
        version: &catalogue.version,
    }
}

#[derive(Serialize)]
struct Modern<'a, T> {
    #[serde(rename = "resultType")]
    result_type: &'static str,
    #[serde(flatten)]
    body: &'a T,
    #[serde(rename = "_meta")]
    meta: Meta<'a>,
}

/// A result of the legacy era that has something to say of its failure.
#[derive(Serialize)]
struct Failed<'a, T> {
    #[serde(flatten)]
    body: &'a T,
    #[serde(rename = "_meta")]
    meta: Meta<'a>,
}

#[derive(Serialize)]
struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/serverInfo", skip_serializing_if = "Option::is_none")]
    server: Option<Implementation<'a>>,
    #[serde(rename = "dev.proofhouse/error", skip_serializing_if = "Option::is_none")]
    failure: Option<Map<String, Value>>,
}

/// A complete result.
pub(crate) fn complete<T: Serialize>(server: &Server, context: &Context, id: &RequestId, body: &T) -> Answer {
    dressed(server, context, id, Dressing::of("complete", body))
}

/// The same, whose texts are about so long.
pub(crate) fn complete_with_room<T: Serialize>(server: &Server, call: &Call, body: &T, length: usize) -> Answer {
    dressed(server, &call.context, call.id(), Dressing { length, ..Dressing::of("complete", body) })
}

/// What a handler gave.
pub(crate) fn handled(server: &Server, call: &Call, handled: Handled) -> Answer {
    match handled {
        Ok(body) => complete(server, &call.context, call.id(), &body),
        Err(refused) => error(call.id(), &refused),
    }
}

/// The task that a call became (io.modelcontextprotocol/tasks).
pub(crate) fn task(server: &Server, context: &Context, id: &RequestId, task: &Value) -> Answer {
    dressed(server, context, id, Dressing::of("task", task))
}

/// A body and how its result is marked.
struct Dressing<'a, T> {
    result_type: &'static str,
    body: &'a T,
    /// About how long the texts in it are.
    length: usize,
    /// What is said of a failure.
    failure: Option<Map<String, Value>>,
}

impl<'a, T> Dressing<'a, T> {
    const fn of(result_type: &'static str, body: &'a T) -> Self {
        Self { result_type, body, length: 0, failure: None }
    }
}

fn dressed<T: Serialize>(server: &Server, context: &Context, id: &RequestId, dressing: Dressing<'_, T>) -> Answer {
    let Dressing { result_type, body, length, failure } = dressing;
    // The envelope, the dress and what stands around a text: an answer that grows while it is written is copied.
    let room = length + 512;
    match context.era() {
        Era::Legacy if failure.is_none() => Answer::result_within(room, id, body),
        Era::Legacy => Answer::result_within(room, id, &Failed { body, meta: Meta { server: None, failure } }),
        Era::Modern => {
            let meta = Meta { server: Some(implementation(server, context.revision)), failure };
            Answer::result_within(room, id, &Modern { result_type, body, meta })
        }
    }
}

/// What came of a call.
pub(crate) fn outcome<T: Finished>(server: &Server, context: &Context, id: &RequestId, outcome: Outcome<T>) -> Answer {
    match outcome {
        Outcome::Done(mut body) => {
            body.fit(context.revision);
            let (length, failure) = (body.length(), body.failure());
            dressed(server, context, id, Dressing { length, failure, ..Dressing::of("complete", &body) })
        }
        Outcome::InputRequired(body) => dressed(server, context, id, Dressing::of("input_required", &body)),
        Outcome::Refused(refused) => error(id, &refused),
    }
}

/// Runs what answers a call, now or later.
pub(crate) fn reply<T: Finished>(server: &Server, run: &Run<T>, mut invocation: Invocation) -> Reply {
    match run {
        Run::Now(run) => {
            let done = run(server, &mut invocation);
            outcome(server, &invocation.call.context, invocation.call.id(), done).into()
        }
        Run::Later(run) => {
            let server = server.clone();
            let context = invocation.call.context.clone();
            let id = invocation.call.id().clone();
            let running = run(server.clone(), invocation);
            Reply::later(async move { outcome(&server, &context, &id, running.await) })
        }
    }
}

/// An error.
pub(crate) fn error(id: &RequestId, error: &RpcError) -> Answer {
    Answer::error(Some(id), error)
}

/// Adds the caching hints that modern clients want. Nothing here differs between callers, hence `public`.
pub(crate) fn cacheable(server: &Server, call: &Call, mut body: Value) -> Value {
    if call.context.era() == Era::Modern {
        body["ttlMs"] = json!(server.state().options.ttl_ms);
        body["cacheScope"] = json!("public");
    }
    body
}

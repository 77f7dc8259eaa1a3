//! How a result is dressed for its era: bare in the legacy one; with `resultType`, the server's name and, where the
//! method has them, caching hints in the modern one (basic/index#result-responses, server/utilities/caching).

use net::service::{Answer, Call, Context, RpcError};
use serde::Serialize;
use serde_json::{Value, json};
use wire::revision::R2025_06_18;
use wire::{Era, RequestId, Revision};

use crate::Server;

/// What a handler gives.
pub(crate) type Handled = Result<Value, RpcError>;

/// Who we say we are.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Implementation {
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'static str>,
    version: &'static str,
}

/// Who we say we are in `revision`: `title` came with 2025-06-18.
pub(crate) fn implementation(revision: Revision) -> Implementation {
    Implementation {
        name: "proof-reference",
        title: revision.at_least(R2025_06_18).then_some("Proofhouse reference server"),
        version: env!("CARGO_PKG_VERSION"),
    }
}

#[derive(Serialize)]
struct Modern<'a, T> {
    #[serde(rename = "resultType")]
    result_type: &'static str,
    #[serde(flatten)]
    body: &'a T,
    #[serde(rename = "_meta")]
    meta: Meta,
}

#[derive(Serialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server: Implementation,
}

/// A complete result.
pub(crate) fn complete<T: Serialize>(context: &Context, id: &RequestId, body: &T) -> Answer {
    complete_of(context, id, body, 0)
}

/// A complete result that has some text of `length` bytes in it.
pub(crate) fn complete_of<T: Serialize>(context: &Context, id: &RequestId, body: &T, length: usize) -> Answer {
    dressed(context, id, "complete", body, length)
}

/// A result that asks for more (basic/patterns/mrtr); only the modern era has it.
pub(crate) fn input_required<T: Serialize>(context: &Context, id: &RequestId, body: &T) -> Answer {
    dressed(context, id, "input_required", body, 0)
}

fn dressed<T: Serialize>(
    context: &Context,
    id: &RequestId,
    result_type: &'static str,
    body: &T,
    length: usize,
) -> Answer {
    // The envelope, the dress and what stands around a text.
    let room = length + 512;
    match context.era() {
        Era::Legacy => Answer::result_within(room, id, body),
        Era::Modern => {
            let meta = Meta { server: implementation(context.revision) };
            Answer::result_within(room, id, &Modern { result_type, body, meta })
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

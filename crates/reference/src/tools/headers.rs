//! Arguments mirrored into headers (basic/transports/streamable-http#custom-headers-from-tool-parameters), and a tool that
//! has some.

use net::service::{Call, RpcError, code};
use serde_json::{Value, json};
use wire::Era;
use wire::http::{PARAM_PREFIX, annotations, says};
use wire::revision::R2026_07_28;

use super::call::{Invocation, Outcome};
use super::{READS, Run, Tool};
use crate::Server;

pub(super) const ROUTE: Tool = Tool {
    name: "route",
    title: "Route",
    description: "Tells the region a call was routed to by its header",
    since: R2026_07_28,
    input,
    output: None,
    hints: READS,
    run: Run::Now(run),
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "region": { "type": "string", "description": "Where to route to", "x-mcp-header": "Region" },
            "shard": { "type": "integer", "description": "Which part of it", "x-mcp-header": "Shard" },
        },
        "additionalProperties": false,
    })
}

fn run(_: &Server, invocation: &mut Invocation) -> Outcome {
    let shard = invocation.number("shard").map(|shard| format!(", shard {shard}")).unwrap_or_default();
    let region = invocation.text("region").map_or("Routed nowhere".into(), |region| format!("Routed to {region}"));
    Outcome::text(region + &shard)
}

/// Compares the headers of a modern HTTP call with the arguments they mirror.
pub(super) fn check(tool: &Tool, call: &Call, arguments: &Value) -> Result<(), RpcError> {
    if call.context.era() != Era::Modern || call.context.headers.is_none() {
        return Ok(());
    }
    // Only tools of the modern era have such headers, which spares all others the walk.
    if tool.since != R2026_07_28 {
        return Ok(());
    }
    for annotation in annotations(&(tool.input)()).valid {
        let value = annotation.path.iter().try_fold(arguments, |value, step| value.get(step));
        check_one(call, &annotation.name, value.filter(|value| !value.is_null()))?;
    }
    Ok(())
}

fn check_one(call: &Call, suffix: &str, value: Option<&Value>) -> Result<(), RpcError> {
    let title = format!("{PARAM_PREFIX}{suffix}");
    let mismatch = |what: &str| RpcError::new(code::HEADER_MISMATCH, format!("Header mismatch: {title} {what}"));
    let mut headers = call.context.headers.iter().flat_map(|headers| headers.get_all(&title));
    match (headers.next(), value) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(mismatch("is missing")),
        (Some(_), None) => Err(mismatch("mirrors an argument that is not there")),
        (Some(_), Some(_)) if headers.next().is_some() => Err(mismatch("stands twice")),
        (Some(header), Some(value)) => {
            let text = header.to_str().map_err(|_| mismatch("has characters that a header may not have"))?;
            if says(text, value) { Ok(()) } else { Err(mismatch("is not what the body says")) }
        }
    }
}

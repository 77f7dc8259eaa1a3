//! The headers that mirror a modern request's body: missing, different, encoded.

use serde_json::{Value, json};
use wire::Era;

use super::{HTTP, put, request};
use crate::check::context::ProbeContext;
use crate::check::probe::{Probe, Script};
use crate::check::probes::tools;

pub(in super::super) const MIRRORED: Probe = Probe::shared("http-mirrored-headers", mirrored).on(HTTP).era(Era::Modern);

/// Version and method: absent, different from the body, written otherwise.
fn mirrored(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        put(case, |o| o.without("MCP-Protocol-Version")).await?;
        put(case, |o| o.header("MCP-Protocol-Version", "2025-11-25")).await?;
        put(case, |o| o.without("Mcp-Method")).await?;
        put(case, |o| o.header("Mcp-Method", "tools/list")).await?;
        put(case, |o| o.header("Mcp-Method", "SERVER/DISCOVER")).await?;
        put(case, |o| o.without("Mcp-Method").header("mCP-mEtHOD", "server/discover")).await?;
        put(case, |o| o.header("Mcp-Session-Id", "proof-no-such-session")).await?;
        put(case, |o| o.header("Last-Event-ID", "proof-no-such-event")).await?;
        Ok(())
    })
}

pub(in super::super) const NAMES: Probe = Probe::shared("http-mirrored-names", names).on(HTTP).era(Era::Modern);

/// The name of a tool, a prompt or a resource: absent, different, encoded, encoded between other markers, badly encoded.
fn names(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        for (method, params, name) in named(case) {
            request(case, method, params.clone(), |o| o.without("Mcp-Name")).await?;
            request(case, method, params.clone(), |o| o.header("Mcp-Name", "proof-another-name")).await?;
            let encoded = wire::http::encode_always(&name);
            let shouted = encoded.replacen("base64", "BASE64", 1);
            request(case, method, params.clone(), |o| o.header("Mcp-Name", encoded)).await?;
            request(case, method, params.clone(), |o| o.header("Mcp-Name", shouted)).await?;
            request(case, method, params.clone(), |o| o.header("Mcp-Name", "=?base64?SGVs!!!bG8=?=")).await?;
            request(case, method, params, |o| o).await?;
        }
        Ok(())
    })
}

/// One request of each kind that carries a name and may be put: a tool that may be called, a resource, a prompt.
fn named(case: &ProbeContext) -> Vec<(&'static str, Value, String)> {
    let mut named = Vec::new();
    if let Some((name, arguments)) = tools::callable(case).into_iter().next() {
        named.push(("tools/call", json!({ "name": name, "arguments": arguments }), name));
    }
    let text = |item: &Value, member: &str| Some(item.get(member)?.as_str()?.to_owned());
    if let Some(uri) = case.survey().resources.iter().find_map(|resource| text(resource, "uri")) {
        named.push(("resources/read", json!({ "uri": uri }), uri));
    }
    let plain = |prompt: &&Value| {
        let arguments = prompt.get("arguments").and_then(Value::as_array);
        !arguments.into_iter().flatten().any(|a| a.get("required") == Some(&json!(true)))
    };
    if let Some(name) = case.survey().prompts.iter().find(plain).and_then(|prompt| text(prompt, "name")) {
        named.push(("prompts/get", json!({ "name": name }), name));
    }
    named
}

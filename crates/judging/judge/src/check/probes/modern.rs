//! What every modern request must carry, what a server says to one that does not, and that no request rests on another.

use net::client::Outgoing;
use serde_json::{Map, Value, json};
use wire::meta::{CLIENT_CAPABILITIES, CLIENT_INFO, PROTOCOL_VERSION};
use wire::{Era, Kind, RequestId, Revision, Transport};

use super::lifecycle::listen_first;
use crate::check::context::{Abort, ProbeContext, Reply, client_capabilities, client_info};
use crate::check::probe::{Probe, Script};
use crate::check::survey::PAGES;

/// A request whose metadata is exactly `meta` (none where `None`).
async fn with_meta(case: &ProbeContext, method: &str, meta: Option<Map<String, Value>>) -> Result<Reply, Abort> {
    let id = case.next_id();
    let mut params = Map::new();
    if let Some(meta) = meta {
        params.insert("_meta".to_owned(), Value::Object(meta));
    }
    let text = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
    let outgoing = Outgoing::message(text);
    let outgoing = match case.transport() {
        Transport::StreamableHttp => {
            outgoing.header("MCP-Protocol-Version", case.revision().as_str()).header("Mcp-Method", method)
        }
        _ => outgoing,
    };
    case.ask(RequestId::from(id), outgoing, case.patience()).await
}

/// The versions that `server/discover` lists, asked as a client of the modern era would, whatever revision is judged.
pub(super) async fn discover(case: &ProbeContext) -> Result<Vec<Value>, Abort> {
    let (id, newest) = (case.next_id(), Revision::NEWEST);
    let mut meta = Map::new();
    meta.insert(PROTOCOL_VERSION.to_owned(), json!(newest.as_str()));
    meta.insert(CLIENT_INFO.to_owned(), client_info());
    meta.insert(CLIENT_CAPABILITIES.to_owned(), client_capabilities(newest));
    let text =
        json!({ "jsonrpc": "2.0", "id": id, "method": "server/discover", "params": { "_meta": meta } }).to_string();
    let outgoing = Outgoing::message(text);
    let outgoing = match case.transport() {
        Transport::StreamableHttp => {
            outgoing.header("MCP-Protocol-Version", newest.as_str()).header("Mcp-Method", "server/discover")
        }
        _ => outgoing,
    };
    let reply = case.ask(RequestId::from(id), outgoing, case.patience()).await?;
    let list = reply.result().and_then(|result| result.get("supportedVersions")?.as_array()).cloned();
    Ok(list.unwrap_or_default())
}

/// The lists that the peer declares: method, and the result's member.
pub(super) fn lists(case: &ProbeContext) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lists = [
        ("tools/list", "tools", "tools"),
        ("prompts/list", "prompts", "prompts"),
        ("resources/list", "resources", "resources"),
    ];
    let declared = lists.map(|(method, member, capability)| case.survey().has(capability).then_some((method, member)));
    declared.into_iter().flatten()
}

pub(super) const METADATA: Probe = Probe::shared("metadata-missing", metadata).era(Era::Modern);

/// Requests without metadata, or without one of its members.
fn metadata(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let without = |member: &str| {
            let mut meta = case.meta();
            meta.remove(&format!("{}{member}", wire::meta::PREFIX));
            Some(meta)
        };
        for method in ["server/discover"].into_iter().chain(lists(case).map(|(method, _)| method).take(1)) {
            with_meta(case, method, without("clientCapabilities")).await?;
            with_meta(case, method, without("clientInfo")).await?;
            with_meta(case, method, without("protocolVersion")).await?;
            with_meta(case, method, None).await?;
        }
        Ok(())
    })
}

pub(super) const CLIENTS: Probe = Probe::shared("clients-alike", clients).era(Era::Modern);

/// The same list under two names of the client: who asks should not matter.
fn clients(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let (method, _) = lists(case).next().ok_or(Abort::Lacks("a list"))?;
        case.request(method, json!({})).await?;
        let other = json!({ "name": "proof-otherwise", "version": "0.0.1" });
        case.request(method, json!({ "_meta": { CLIENT_INFO: other } })).await?;
        Ok(())
    })
}

pub(super) const VERSIONS: Probe = Probe::shared("versions-unsupported", versions).era(Era::Modern);

/// Versions that nobody serves, named alike in the body and (over HTTP) the header.
fn versions(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        // Some servers learn only by a good request who is there; on a connection of its own nothing else comes before.
        if let Some((method, _)) = lists(case).next() {
            case.request(method, json!({})).await?;
        }
        for version in ["1900-01-01", "v999.0.0"] {
            let id = case.next_id();
            let meta = json!({ PROTOCOL_VERSION: version });
            let text = case.request_text(&json!(id), "server/discover", json!({ "_meta": meta }));
            case.ask(RequestId::from(id), Outgoing::message(text), case.patience()).await?;
        }
        if let Some((method, _)) = lists(case).next() {
            let meta = json!({ PROTOCOL_VERSION: "1900-01-01" });
            case.request(method, json!({ "_meta": meta })).await?;
        }
        Ok(())
    })
}

pub(super) const GREETED_AS_LEGACY: Probe = Probe::bare("initialize-modern", greeted_as_legacy).era(Era::Modern);

/// The greeting of the legacy era: who serves the modern one only must say what it serves, and must
/// not serve a request of the other.
fn greeted_as_legacy(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        // Judges compare the answer with what is served. Where all messages share a stream, the first decides on the era.
        let stateless = case.transport() == Transport::StreamableHttp;
        if stateless {
            case.request("server/discover", json!({})).await?;
        }
        let greeting = greet_as_legacy(case).await?;
        let refused = greeting.0.is_some_and(|answer| answer.kind() == Kind::Error);
        if !refused {
            return Ok(());
        }
        if !stateless {
            case.request("server/discover", json!({})).await?;
        }
        if let Some((method, _)) = lists(case).next() {
            // A revision that exists, and that this server does not speak.
            let meta = json!({ PROTOCOL_VERSION: Revision::NEWEST_LEGACY.as_str() });
            case.request(method, json!({ "_meta": meta })).await?;
        }
        Ok(())
    })
}

/// `initialize` as a legacy client puts it, over HTTP without any header that such a client does not know.
pub(super) async fn greet_as_legacy(case: &ProbeContext) -> Result<Reply, Abort> {
    let legacy = Revision::NEWEST_LEGACY;
    let id = case.next_id();
    let params = json!({
        "protocolVersion": legacy.as_str(),
        "capabilities": client_capabilities(legacy),
        "clientInfo": client_info(),
    });
    let text = json!({ "jsonrpc": "2.0", "id": id, "method": "initialize", "params": params }).to_string();
    let outgoing = match case.transport() {
        Transport::StreamableHttp => {
            Outgoing::message(text).without("MCP-Protocol-Version").without("Mcp-Method").without("Mcp-Name")
        }
        _ => Outgoing::message(text),
    };
    case.ask(RequestId::from(id), outgoing, case.short()).await
}

pub(super) const UNDECLARED: Probe = Probe::shared("methods-undeclared", undeclared);

/// Methods of capabilities that the server did not declare.
fn undeclared(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        if case.era() == Era::Modern {
            case.request("server/discover", json!({})).await?;
        }
        for capability in ["tools", "prompts", "resources"].into_iter().filter(|c| !case.survey().has(c)) {
            case.request(&format!("{capability}/list"), json!({})).await?;
        }
        Ok(())
    })
}

pub(super) const REMOVED: Probe = Probe::shared("methods-removed", removed).era(Era::Modern);

/// Methods of the legacy era, put with modern metadata.
fn removed(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let ask = |method| case.request(method, json!({}));
        let resources = case.in_turn(ask("resources/subscribe"), ask("resources/unsubscribe"));
        let (ping, (logging, resources)) =
            case.in_turn(ask("ping"), case.in_turn(ask("logging/setLevel"), resources)).await;
        ping.and(logging).and(resources.0).and(resources.1).map(|_| ())
    })
}

pub(super) const STATELESS: Probe = Probe::bare("without-discovery", stateless).era(Era::Modern);

/// The first thing said, after a while, is no greeting; then everything is listed on two connections by turns, and a cursor that the one
/// gave is used on both.
fn stateless(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        listen_first(case).await;
        // What another case changes meanwhile would look like a list that depends on who asks.
        let _turn = case.lock().await?;
        walk(case, false).await?;
        case.request("server/discover", json!({})).await?;
        case.on_another_connection(async |other| walk_on(case, other).await).await
    })
}

async fn walk_on(case: &ProbeContext, other: &ProbeContext) -> Result<(), Abort> {
    walk(other, true).await?;
    super::tools::call_safe(case, 1).await?;
    walk(case, false).await?;
    walk(other, false).await?;
    for (method, _) in lists(case) {
        let reply = case.request(method, json!({})).await?;
        let Some(cursor) = reply.result().and_then(|result| result.get("nextCursor")).cloned() else { continue };
        case.request(method, json!({ "cursor": cursor })).await?;
        other.request(method, json!({ "cursor": cursor })).await?;
    }
    Ok(())
}

/// Every list to its end, in the usual order or the reverse: so that another one comes first on each connection.
async fn walk(case: &ProbeContext, reversed: bool) -> Result<(), Abort> {
    let mut lists: Vec<_> = lists(case).collect();
    if reversed {
        lists.reverse();
    }
    for (method, member) in lists {
        case.list(method, member, PAGES).await?;
    }
    Ok(())
}

pub(super) const INCAPABLE: Probe = Probe::shared("calls-without-capabilities", incapable).era(Era::Modern);

/// The same calls by a client that can do everything and by one that can do nothing.
fn incapable(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let nothing = json!({ CLIENT_CAPABILITIES: {} });
        for (name, arguments) in super::tools::likely_to_ask(case).into_iter().take(6) {
            let call = json!({ "name": name, "arguments": arguments });
            case.request("tools/call", call.clone()).await?;
            let mut bare = call;
            bare["_meta"] = nothing.clone();
            case.request("tools/call", bare).await?;
        }
        Ok(())
    })
}

//! The handshake of the legacy era, and what comes before, instead of and after it.

use std::time::Duration;

use serde_json::{Value, json};
use wire::trace::Stimulus;
use wire::{Era, Kind, Message, RequestId, Revision, Transport};

use super::http::put;
use super::{modern, tools};
use crate::check::answers::Manner;
use crate::check::context::{Abort, ProbeContext, Reply, client_capabilities, client_info};
use crate::check::probe::{Probe, Script};

pub(super) const VERSIONS: Probe = Probe::bare("initialize-versions", versions).era(Era::Legacy);

/// Greets for the version that is judged, over a network twice, for versions that never were, and for the newest and the
/// oldest there is, each on a connection of its own: only side by side do they tell what the server supports.
fn versions(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let own = case.revision().as_str();
        if is_extended_first(case) {
            let refused = greet_extended(case).await?.0.is_some_and(|answer| answer.kind() == Kind::Error);
            // Over what it was refused, a greeting without the extension tells.
            if refused {
                case.on_another_connection(async |other| initialize_as(other, own).await).await?;
            }
        } else {
            initialize_as(case, own).await?;
        }
        if case.transport() != Transport::Stdio {
            case.on_another_connection(async |other| initialize_as(other, own).await).await?;
        }
        if case.transport() == Transport::StreamableHttp && case.revision().at_least(Revision::R2025_06_18) {
            by_header(case).await?;
        }
        let [newest, oldest] = [Revision::NEWEST_LEGACY, Revision::R2024_11_05].map(Revision::as_str);
        // A server may take long to start: they need not wait for one another.
        let (never, not_yet, newest, oldest, extended) = tokio::join!(
            beside_as(case, "1999-01-01"),
            beside_as(case, "2999-12-31"),
            beside_as(case, newest),
            beside_as(case, oldest),
            extended(case)
        );
        never.and(not_yet).and(newest).and(oldest).and(extended)?;
        // Over stdio it would cost a process for each of them.
        let is_cheap = case.transport() != Transport::Stdio;
        if is_cheap && case.setting().is_modern_too { listed(case).await } else { Ok(()) }
    })
}

/// Whether the first greeting is the extended one: over stdio each greeting costs a process.
fn is_extended_first(case: &ProbeContext) -> bool {
    case.transport() == Transport::Stdio && case.revision() == Revision::NEWEST_LEGACY
}

/// Over a network greets once more, with an extended greeting.
async fn extended(case: &ProbeContext) -> Result<(), Abort> {
    if case.transport() != Transport::Stdio {
        case.on_another_connection(greet_extended).await?;
    }
    Ok(())
}

/// Greets with a capability that no server knows and an unknown member of a known one: the set is open.
async fn greet_extended(case: &ProbeContext) -> Result<Reply, Abort> {
    let mut params = case.initialize_params();
    params["capabilities"]["proofhouseUnknown"] = json!({ "level": 1 });
    params["capabilities"]["roots"]["proofhouseUnknown"] = json!(true);
    case.request("initialize", params).await
}

/// Greets for each version of this era that `server/discover` lists, and that was not greeted for yet.
async fn listed(case: &ProbeContext) -> Result<(), Abort> {
    let list = case.on_another_connection(modern::discover).await?;
    let greeted = [case.revision(), Revision::NEWEST_LEGACY, Revision::R2024_11_05];
    let named = |version: &Value| version.as_str()?.parse::<Revision>().ok();
    let legacy = list.iter().filter_map(named).filter(|version| version.era() == Era::Legacy);
    for version in legacy.filter(|version| !greeted.contains(version)) {
        case.on_another_connection(async |other| initialize_as(other, version.as_str()).await).await?;
    }
    Ok(())
}

/// Names another version in the header, where the server says that it supports it if it serves that; and one that never was.
async fn by_header(case: &ProbeContext) -> Result<(), Abort> {
    let others = [Revision::R2025_06_18, Revision::R2025_11_25].into_iter().filter(|other| *other != case.revision());
    let others: Vec<_> = others.map(Revision::as_str).collect();
    for version in others.iter().copied().chain(["1999-01-01"]) {
        put(case, |o| o.header("MCP-Protocol-Version", version)).await?;
    }
    for version in others.into_iter().filter(|version| *version != Revision::NEWEST_LEGACY.as_str()) {
        case.on_another_connection(async |other| in_session_of(other, version).await).await?;
    }
    Ok(())
}

/// A few words in a session of another version: what a server does wrong there alone shows only there.
async fn in_session_of(case: &ProbeContext, version: &str) -> Result<(), Abort> {
    let mut params = case.initialize_params();
    params["protocolVersion"] = json!(version);
    let reply = case.request("initialize", params).await?;
    if reply.result().and_then(|result| result.get("protocolVersion")) != Some(&json!(version)) {
        return Ok(());
    }
    case.notify("notifications/initialized", json!({})).await?;
    case.request("ping", json!({})).await?;
    case.request("proofhouse/no-such-method", json!({})).await?;
    for (method, _) in modern::lists(case).filter(|_| !case.survey().is_long()) {
        case.request(method, json!({})).await?;
    }
    if case.survey().has("tools") {
        case.request("tools/call", json!({ "name": "proof-no-such-tool", "arguments": {} })).await?;
    }
    // Tasks came with 2025-11-25: at an older version the member means nothing.
    let as_task = |tool: &Value| matches!(tools::task_support(tool), Some("optional" | "required"));
    if let Some((name, arguments)) = tools::calls_of(case, as_task).into_iter().next() {
        let params = json!({ "name": name, "arguments": arguments, "task": { "ttl": 60_000 } });
        case.request("tools/call", params).await?;
    }
    Ok(())
}

/// Greets for a version on another connection, unless that is the one that is judged or tells nothing here: over stdio each
/// costs a process, so that the whole round is made once and elsewhere what its own answer needs.
async fn beside_as(case: &ProbeContext, version: &str) -> Result<(), Abort> {
    let newest = Revision::NEWEST_LEGACY;
    let whole = case.transport() != Transport::Stdio || case.revision() == newest;
    let needed = whole || ["1999-01-01", newest.as_str()].contains(&version);
    if version == case.revision().as_str() || !needed {
        return Ok(());
    }
    case.on_another_connection(async |other| initialize_as(other, version).await).await
}

async fn initialize_as(case: &ProbeContext, version: &str) -> Result<(), Abort> {
    let mut params = case.initialize_params();
    params["protocolVersion"] = json!(version);
    case.request("initialize", params).await?;
    Ok(())
}

pub(super) const EARLY: Probe = Probe::bare("before-initialize", early).era(Era::Legacy);

/// Pings and asks before it is greeted, then greets.
fn early(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        case.request("ping", json!({})).await?;
        let id = case.next_id();
        let text = case.request_text(&json!(id), "tools/list", json!({}));
        case.ask(id.into(), net::client::Outgoing::message(text), case.short()).await?;
        case.request("initialize", case.initialize_params()).await?;
        Ok(())
    })
}

pub(super) const ASKED_EARLY: Probe = Probe::bare("asked-before-initialized", asked_early)
    .era(Era::Legacy)
    .needs("tools")
    .when_learnt(|setting, _| setting.learnt.anything_asks());

/// Calls a tool that asks its user before it says `initialized`.
fn asked_early(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        case.answer(Manner::Willing);
        case.request("initialize", case.initialize_params()).await?;
        let asks = |(name, _): &(String, _)| case.setting().learnt.asks(name);
        let (name, arguments) =
            tools::likely_to_ask(case).into_iter().find(asks).ok_or(Abort::Lacks("a tool that asks"))?;
        let id = case.next_id();
        let params = json!({ "name": name, "arguments": arguments });
        case.say(&case.request_text(&json!(id), "tools/call", params)).await?;
        // A server may wait for the word before it asks, or refuse the call.
        let told = |message: &Message| message.kind() == Kind::Request || message.id() == Some(&RequestId::from(id));
        case.connection().wait_for(told, case.short()).await;
        case.notify("notifications/initialized", json!({})).await?;
        case.connection().response(&RequestId::from(id), case.patience()).await;
        Ok(())
    })
}

pub(super) const TWICE: Probe = Probe::disruptive("initialize-twice", twice).era(Era::Legacy);

fn twice(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        case.request("initialize", case.initialize_params()).await?;
        case.request("ping", json!({})).await?;
        Ok(())
    })
}

/// How many calls that may ask something are made by a client that can do nothing.
const MAY_ASK: usize = 6;

pub(super) const PLAIN_CLIENT: Probe = Probe::bare("client-without-capabilities", plain_client).era(Era::Legacy);

/// A client that can do nothing, of which the server may then ask nothing; and that takes its time: it listens before
/// `initialize`, before it says `initialized`, and at the end.
fn plain_client(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let params = json!({
            "protocolVersion": case.revision().as_str(),
            "capabilities": {},
            "clientInfo": client_info(),
        });
        listen_first(case).await;
        case.request("initialize", params).await?;
        case.quiet("before initialized", Duration::from_millis(300)).await;
        case.request("ping", json!({})).await?;
        case.notify("notifications/initialized", json!({})).await?;
        case.quiet("after initialized", Duration::from_millis(250)).await;
        for (method, capability) in
            [("tools/list", "tools"), ("prompts/list", "prompts"), ("resources/list", "resources")]
        {
            if case.survey().has(capability) {
                case.request(method, json!({})).await?;
            }
        }
        for (name, arguments) in tools::asking(case) {
            case.stimulus(Stimulus::AskingCall);
            case.request("tools/call", json!({ "name": name, "arguments": arguments })).await?;
        }
        for (name, arguments) in super::questions::candidates(case).into_iter().take(MAY_ASK) {
            case.request("tools/call", json!({ "name": name, "arguments": arguments })).await?;
        }
        case.quiet("a client without capabilities", Duration::from_millis(250)).await;
        Ok(())
    })
}

/// Listens before the first word. What is said too early is said at the start, which may take longer than any fixed time:
/// a window that closes before the server is there shows nothing.
pub(super) async fn listen_first(case: &ProbeContext) {
    let start = case.survey().start;
    let twice = (start * 2).clamp(Duration::from_millis(300), Duration::from_secs(2));
    case.quiet("before the first word", twice.max(start + start / 4)).await;
}

pub(super) const BAD_INITIALIZE: Probe = Probe::bare("initialize-incomplete", bad_initialize).era(Era::Legacy);

/// `initialize` without what it demands, then whole.
fn bad_initialize(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let params = json!({ "capabilities": client_capabilities(case.revision()), "clientInfo": client_info() });
        case.request("initialize", params).await?;
        case.request("initialize", case.initialize_params()).await?;
        Ok(())
    })
}

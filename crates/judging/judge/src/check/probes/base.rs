//! The base protocol: ids of every legal kind, methods and notifications nobody knows, many requests at once.

use std::time::Duration;

use net::client::Outgoing;
use serde_json::{Value, json};
use wire::{Era, RequestId, Revision};

use rules::names::{OF_EVERY_OBJECT, UNKNOWN_MEMBER};

use crate::check::context::{Abort, ProbeContext};
use crate::check::probe::{Probe, Script};

/// A method that every server serves and that changes nothing.
pub(super) fn harmless(case: &ProbeContext) -> &'static str {
    if case.era() == Era::Legacy { "ping" } else { "server/discover" }
}

pub(super) const IDS: Probe = Probe::shared("ids", ids);

/// A number under which nothing else is asked.
const APART: i64 = 70_000_000;

/// Ids of every legal kind: texts, one that looks like a number, and numbers at the edges; with what is harmless, with a list
/// and with a call; then several at once, and one request that is long.
fn ids(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let list = super::modern::lists(case).next().filter(|_| case.survey().tools.len() <= 500);
        let call = super::tools::callable(case).into_iter().next();
        let call = call.map(|(name, arguments)| ("tools/call", json!({ "name": name, "arguments": arguments })));
        let others: Vec<_> = list.map(|(method, _)| (method, json!({}))).into_iter().chain(call).collect();
        for id in [json!("proof-id"), json!(0), json!(-3), json!(9_007_199_254_740_991_i64), json!("")] {
            ask(case, &id, harmless(case), json!({})).await?;
        }
        let texts = [json!((APART + 1).to_string()), json!("\u{fc}n\u{ef}\u{2026}\u{2713}"), json!("i".repeat(1000))];
        for (number, id) in texts.iter().enumerate() {
            ask(case, id, harmless(case), json!({})).await?;
            for (kind, (method, params)) in others.iter().enumerate() {
                let id = id.as_str().map(|text| format!("{text}{}{number}", kind + 1));
                ask(case, &json!(id), method, params.clone()).await?;
            }
        }
        at_once(case, &others).await?;
        let text = "x".repeat(LONG_BYTES);
        case.request(harmless(case), json!({ "_meta": { "proofhouse/payload": text } })).await?;
        Ok(())
    })
}

/// More than one buffer holds, and too little to be refused for its size.
pub(super) const LONG_BYTES: usize = 16 << 10;

async fn ask(case: &ProbeContext, id: &Value, method: &str, params: Value) -> Result<(), Abort> {
    let Some(own) = RequestId::from_value(id) else { return Ok(()) };
    let patience = if method == "tools/call" { case.tool_patience() } else { case.patience() };
    case.ask(own, Outgoing::message(case.request_text(id, method, params)), patience).await?;
    Ok(())
}

/// Requests of all these kinds under way together, under ids of both types.
async fn at_once(case: &ProbeContext, others: &[(&'static str, Value)]) -> Result<(), Abort> {
    let kinds: Vec<_> = others.iter().cloned().chain([(harmless(case), json!({}))]).collect();
    let mut waiting = tokio::task::JoinSet::new();
    for (number, (method, params)) in (APART..).zip(kinds.iter().cycle().take(2 * kinds.len())) {
        let id = if number % 2 == 0 { json!(number) } else { json!(format!("at-once-{number}")) };
        case.say(&case.request_text(&id, method, params.clone())).await?;
        let (connection, patience) = (case.connection().clone(), case.tool_patience());
        let own = RequestId::from_value(&id);
        waiting.spawn(async move {
            if let Some(own) = own {
                connection.response(&own, patience).await;
            }
        });
    }
    waiting.join_all().await;
    Ok(())
}

pub(super) const UNKNOWN_METHOD: Probe = Probe::shared("unknown-method", unknown_method);

/// A method in our own name, which nobody implements: with an id that is a number, and with one that is a text. Then names that
/// every object of a language has: they are found where methods are looked up in an object.
fn unknown_method(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        const NOBODYS: &str = "proofhouse/no-such-method";
        let text = case.request_text(&json!("no-such-method"), NOBODYS, json!({}));
        let by_text = case.ask(RequestId::from("no-such-method"), Outgoing::message(text), case.patience());
        let (by_number, by_text) = case.in_turn(case.request(NOBODYS, json!({})), by_text).await;
        by_text?;
        // Where one unknown name has no answer, the others have none either, and each takes the time of a missing answer.
        if by_number?.0.is_some() {
            for name in OF_EVERY_OBJECT {
                case.request(name, json!({})).await?;
            }
        }
        Ok(())
    })
}

pub(super) const PARAMS: Probe = Probe::shared("params-around", params_around);

/// What is harmless, and a list: as usual, in the legacy era without `params`, which are optional there, and with a member that
/// no method has.
fn params_around(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        // A huge list is not to cross three times more.
        let list = super::modern::lists(case).next().filter(|_| !case.survey().is_long());
        for method in list.map(|(method, _)| method).into_iter().chain([harmless(case)]) {
            case.request(method, json!({})).await?;
            if case.era() == Era::Legacy {
                let id = case.next_id();
                let text = json!({ "jsonrpc": "2.0", "id": id, "method": method }).to_string();
                case.ask(RequestId::from(id), Outgoing::message(text), case.patience()).await?;
            }
            case.request(method, json!({ UNKNOWN_MEMBER: "any" })).await?;
        }
        Ok(())
    })
}

pub(super) const RESERVED_KEYS: Probe = Probe::shared("meta-reserved-keys", reserved_keys).since(Revision::R2025_06_18);

/// The same request without and with odd values under keys of `_meta` that are reserved and mean nothing.
fn reserved_keys(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        // A list tells more than a ping, but not so much more that a huge one should cross twice again.
        let list = super::modern::lists(case).next().filter(|_| case.survey().tools.len() <= 500);
        let method = list.map_or(harmless(case), |(method, _)| method);
        case.request(method, json!({})).await?;
        let meta = json!({ "api.mcp.dev/proof": { "any": [1, null] }, "org.modelcontextprotocol.api/proof": 7 });
        case.request(method, json!({ "_meta": meta })).await?;
        Ok(())
    })
}

pub(super) const UNKNOWN_NOTIFICATION: Probe = Probe::shared("unknown-notification", unknown_notification);

/// A notification in our own name, and one by the name of a request: there must be no answer to either.
fn unknown_notification(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let list = super::modern::lists(case).next().map_or(harmless(case), |(method, _)| method);
        case.notify(list, json!({})).await?;
        case.request(harmless(case), json!({})).await?;
        case.notify("notifications/proofhouse/no-such-notification", json!({ "any": 1 })).await?;
        case.request(harmless(case), json!({})).await?;
        Ok(())
    })
}

pub(super) const CONCURRENT: Probe = Probe::shared("concurrent", concurrent);

/// Several requests under way at once: each must get its own answer.
fn concurrent(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let mut waiting = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let id = case.next_id();
            case.say(&case.request_text(&json!(id), harmless(case), json!({}))).await?;
            let (connection, patience) = (case.connection().clone(), case.patience());
            waiting.spawn(async move { connection.response(&RequestId::from(id), patience).await });
        }
        waiting.join_all().await;
        Ok(())
    })
}

pub(super) const LAST_WORDS: Probe = Probe::shared("last-words", last_words);

/// Listens at the end, once for everything before: for what should have stopped, or should not have come at all.
fn last_words(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        case.quiet("at the end", Duration::from_millis(300)).await;
        Ok(())
    })
}

/// A request that the server must refuse does not end the case; only a lost connection does.
pub(super) fn survived(outcome: Result<impl Sized, Abort>) -> Result<(), Abort> {
    match outcome {
        Err(abort @ (Abort::Gone(_) | Abort::Silent | Abort::Unfit | Abort::Flooded)) => Err(abort),
        _ => Ok(()),
    }
}

//! Lists and resources that change, and how a client hears of it: unasked in the legacy era, by `subscriptions/listen` in
//! the modern one. What changes them only hints can tell.

use std::time::Duration;

use net::client::Exchange;
use serde_json::{Value, json};
use wire::meta::LOG_LEVEL;
use wire::{Era, Message, RequestId, Transport};

use super::http::streams;
use super::tools;
use crate::check::context::{ANNOUNCEMENT, Abort, ProbeContext};
use crate::check::hints::{ResourceChange, ToolCall};
use crate::check::probe::{Probe, Script};
use crate::check::survey::PAGES;

/// A list, and what there is to know to see it change.
struct List<'h> {
    method: &'static str,
    member: &'static str,
    /// The subscription filter, in the modern era.
    filter: &'static str,
    changed: &'static str,
    /// Whether the server said that it announces changes.
    declared: bool,
    hint: &'h ToolCall,
}

/// The lists for which a hint tells what changes them. In the modern era only those that declare changes: others cannot be
/// subscribed to. In the legacy era a server must be silent about the others, which shows only if they change.
fn changeable(case: &ProbeContext) -> Vec<List<'_>> {
    let hints = &case.setting().hints;
    let all = [
        (
            "tools",
            ["tools/list", "tools", "toolsListChanged", "notifications/tools/list_changed"],
            &hints.tools_changed,
        ),
        (
            "prompts",
            ["prompts/list", "prompts", "promptsListChanged", "notifications/prompts/list_changed"],
            &hints.prompts_changed,
        ),
        (
            "resources",
            ["resources/list", "resources", "resourcesListChanged", "notifications/resources/list_changed"],
            &hints.resources_changed,
        ),
    ];
    let known = all.into_iter().filter_map(|(capability, [method, member, filter, changed], hint)| {
        let declared = case.survey().has(&format!("{capability}.listChanged"));
        let due = declared || (case.era() == Era::Legacy && case.survey().has(capability));
        let hint = hint.as_ref().filter(|_| due)?;
        Some(List { method, member, filter, changed, declared, hint })
    });
    known.collect()
}

pub(super) const CHANGED: Probe =
    Probe::listening("lists-changed", changed).when(|setting, _| setting.hints.change_a_list());

/// Walks each list that hints can change, changes it, waits to be told and walks it again; then the same back.
fn changed(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let lists = changeable(case);
        if lists.is_empty() {
            return Err(Abort::Lacks("a hint on what changes a list"));
        }
        let filters = lists.iter().map(|list| (list.filter.to_owned(), json!(true))).collect();
        let listening = Listening::start(case, Value::Object(filters)).await?;
        for list in &lists {
            there_and_back(case, list).await?;
        }
        case.quiet("after changed lists", ANNOUNCEMENT / 2).await;
        listening.stop(case).await
    })
}

/// A list before, between and after two changes. All in one turn: another run's change between them would undo ours. Where
/// one was not announced, the time that shows it belongs to the turn too.
async fn there_and_back(case: &ProbeContext, list: &List<'_>) -> Result<(), Abort> {
    let _turn = case.lock().await?;
    let mut announced = true;
    case.list(list.method, list.member, PAGES).await?;
    for _ in 0..2 {
        announced &= change(case, list).await?;
        case.list(list.method, list.member, PAGES).await?;
    }
    if !announced {
        case.quiet("after a change that was not announced", ANNOUNCEMENT / 2).await;
    }
    Ok(())
}

/// How many announcements of others' changes are passed over before one of our own is waited for.
const OTHERS: usize = 1000;

/// Makes a list change and waits until that is announced; whether it was.
async fn change(case: &ProbeContext, list: &List<'_>) -> Result<bool, Abort> {
    let announced = |m: &Message| m.method() == Some(list.changed);
    for _ in 0..OTHERS {
        if case.connection().wait_for(announced, Duration::ZERO).await.is_none() {
            break;
        }
    }
    tools::call(case, &list.hint.tool, &list.hint.arguments, json!({})).await?;
    let patience = if list.declared { ANNOUNCEMENT } else { ANNOUNCEMENT / 4 };
    Ok(case.connection().wait_for(announced, patience).await.is_some())
}

pub(super) const LISTEN: Probe = Probe::listening("subscriptions-listen", listen).era(Era::Modern);

/// Changes with no subscription, then with one for another list, then with two at once; logs while subscribed.
fn listen(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let hint = case.setting().hints.tools_changed.as_ref();
        let change = async || match hint {
            Some(hint) => {
                let _turn = case.lock().await?;
                tools::call(case, &hint.tool, &hint.arguments, json!({})).await.map(|_| ())
            }
            None => Ok(()),
        };
        change().await?;
        let other = Listening::start(case, json!({ "promptsListChanged": true })).await?;
        change().await?;
        case.quiet("while subscribed to something else", Duration::from_millis(250)).await;
        let everything = json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true });
        let all = Listening::start(case, everything).await?;
        change().await?;
        log(case).await?;
        case.quiet("while subscribed", Duration::from_millis(300)).await;
        all.stop(case).await?;
        other.stop(case).await?;
        change().await?;
        case.quiet("after unsubscribing", Duration::from_millis(200)).await;
        case.request("server/discover", json!({})).await?;
        Ok(())
    })
}

pub(super) const LEFT_OPEN: Probe =
    Probe::listening("subscription-left-open", left_open).era(Era::Modern).on(&[Transport::Stdio]);

/// The input ends while a subscription is open: whatever its server still says of it comes now.
fn left_open(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        Listening::start(case, json!({ "toolsListChanged": true })).await?;
        case.connection().child()?.close_stdin().await;
        case.connection().child()?.exited(case.setting().limits.shutdown).await;
        Ok(())
    })
}

/// A call that logs, with a level, while a subscription is open: the log belongs to the call.
async fn log(case: &ProbeContext) -> Result<(), Abort> {
    let Some(hint) = case.setting().hints.logging.clone() else { return Ok(()) };
    let meta = json!({ LOG_LEVEL: "debug" });
    tools::call(case, &hint.tool, &hint.arguments, meta).await.map(|_| ())
}

pub(super) const UPDATED: Probe = Probe::listening("resources-subscribe", updated)
    .needs("resources.subscribe")
    .when(|setting, survey| setting.hints.resource_updated.is_some() || !survey.resources.is_empty());

/// Subscribes to a resource, makes it change where a hint tells how, and unsubscribes.
fn updated(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let uri_of = |resource: &Value| Some(resource.get("uri")?.as_str()?.to_owned());
        let hint = case.setting().hints.resource_updated.as_ref();
        let listed = || case.survey().resources.iter().find_map(uri_of);
        let uri = hint.map(|h| h.uri.clone()).or_else(listed).ok_or(Abort::Lacks("a resource"))?;
        if case.era() == Era::Modern {
            let listening = Listening::start(case, json!({ "resourceSubscriptions": [uri] })).await?;
            touch(case, hint).await?;
            return listening.stop(case).await;
        }
        let listening = Listening::start(case, json!({})).await?;
        case.request("resources/subscribe", json!({ "uri": uri })).await?;
        touch(case, hint).await?;
        case.request("resources/unsubscribe", json!({ "uri": uri })).await?;
        case.quiet("after unsubscribing", Duration::from_millis(200)).await;
        listening.stop(case).await
    })
}

async fn touch(case: &ProbeContext, hint: Option<&ResourceChange>) -> Result<(), Abort> {
    let Some(hint) = hint else { return Ok(()) };
    tools::call(case, &hint.tool, &hint.arguments, json!({})).await?;
    case.quiet("after a changed resource", ANNOUNCEMENT / 2).await;
    Ok(())
}

/// An ear: in the modern era a subscription, in the legacy one over HTTP the stream that GET opens, else nothing.
pub(super) enum Listening {
    Subscription(i64, Exchange),
    Stream(Exchange),
    Always,
}

impl Listening {
    /// Begins, and waits until it has begun.
    pub(super) async fn start(case: &ProbeContext, filters: Value) -> Result<Self, Abort> {
        if case.era() == Era::Legacy {
            if case.transport() != Transport::StreamableHttp {
                return Ok(Self::Always);
            }
            return Ok(Self::Stream(streams::open(case, None).await?));
        }
        let id = case.next_id();
        let text = case.request_text(&json!(id), "subscriptions/listen", json!({ "notifications": filters }));
        let exchange = case.say(&text).await?;
        let begun = |m: &Message| {
            m.method() == Some("notifications/subscriptions/acknowledged") || m.id() == Some(&RequestId::from(id))
        };
        // What changes before is not announced: nothing may be changed until this is known.
        if case.connection().wait_for(begun, case.patience()).await.is_none() {
            case.quiet("for an acknowledgement", ANNOUNCEMENT / 4).await;
            return Err(Abort::Lacks("subscriptions that are acknowledged"));
        }
        Ok(Self::Subscription(id, exchange))
    }

    /// Ends as the transport has it.
    pub(super) async fn stop(self, case: &ProbeContext) -> Result<(), Abort> {
        match self {
            Self::Subscription(_, exchange) if case.transport() == Transport::StreamableHttp => exchange.abort(),
            Self::Subscription(id, _) => {
                case.notify("notifications/cancelled", json!({ "requestId": id })).await?;
            }
            Self::Stream(stream) => stream.abort(),
            Self::Always => {}
        }
        Ok(())
    }
}

//! Everything that may be called is called while somebody listens: with tokens for progress and levels for logs, beside a
//! second listener, and in the legacy era beside another session that asked for nothing. Must not judge what comes.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use wire::meta::LOG_LEVEL;
use wire::{Era, Message, RequestId, Transport};

use super::base::{harmless, survived};
use super::http::streams;
use super::patterns::{Called, put, reports_on, slow};
use super::subscriptions::Listening;
use super::{modern, tools};
use crate::check::context::{Abort, ProbeContext, Setting};
use crate::check::probe::{Probe, Script};
use crate::check::survey::{PAGES, Survey};

/// How many tools are called, and how long all of them may take.
const TOOLS: usize = 12;
const ROUND: Duration = Duration::from_secs(4);

/// How many resources are listened to.
const RESOURCES: usize = 32;

/// How long somebody listens: some changes come by a clock.
const LISTENED: Duration = Duration::from_secs(2);

/// What still comes later than this after its end cannot have crossed it.
const CROSSED: Duration = Duration::from_millis(650);

/// What shows that something changed.
const CHANGES: [&str; 2] = ["/list_changed", "/updated"];

pub(super) const LISTENING: Probe = Probe::listening("while-listening", listening).when(worth);

/// Whether there is anything to hear, or anything that may be called.
fn worth(setting: &Setting, survey: &Survey) -> bool {
    can_change(survey) || survey.tools.iter().any(|tool| setting.calls.allow(tool))
}

/// Whether the server says that it announces changes.
fn can_change(survey: &Survey) -> bool {
    ["tools.listChanged", "prompts.listChanged", "resources.listChanged", "resources.subscribe"]
        .into_iter()
        .any(|capability| survey.has(capability))
}

fn listening(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let (begun, declared) = (Instant::now(), can_change(case.survey()));
        match case.era() {
            Era::Modern => subscribed(case, declared, begun).await?,
            Era::Legacy => in_session(case, declared, begun).await?,
        }
        Ok(())
    })
}

/// Every list once more: what has changed meanwhile was to be announced.
async fn walk_again(case: &ProbeContext) -> Result<(), Abort> {
    walk(case).await?;
    case.quiet("after the lists", Duration::from_millis(300)).await;
    Ok(())
}

/// Every list that the server declares.
async fn walk(case: &ProbeContext) -> Result<(), Abort> {
    for (method, member) in modern::lists(case).filter(|_| !case.survey().is_long()) {
        case.list(method, member, PAGES).await?;
    }
    Ok(())
}

/// Calls with one subscription to some of the resources and one list, and another to everything, then with a third to one resource
/// that was seen to change; then the first and the third are ended.
async fn subscribed(case: &ProbeContext, declared: bool, begun: Instant) -> Result<(), Abort> {
    let uris = uris(case);
    let hint = case.setting().hints.resource_updated.as_ref();
    let hinted = hint.map(|hint| hint.uri.as_str());
    let others = uris.iter().copied().filter(|uri| Some(*uri) != hinted);
    let some: Vec<_> = hinted.into_iter().chain(others.skip(1).step_by(2)).collect();
    let little = Some(little(case, &some)).filter(|filter| declared && *filter != json!({}));
    let narrow = match little {
        Some(filter) => Some(Listening::start(case, filter).await),
        None => None,
    };
    let unheard = narrow.as_ref().is_some_and(Result::is_err);
    let narrow = narrow.and_then(Result::ok);
    let wide = if declared && !unheard { Listening::start(case, everything(case, &uris)).await.ok() } else { None };
    // Who answers nothing while somebody listens leaves all that follows unanswered, too, be it another subscription: one
    // silence tells as much.
    if declared && case.request(harmless(case), json!({})).await?.0.is_none() {
        return Err(Abort::Lacks("answers while somebody listens"));
    }
    // Before any call, so that what a call changes shows.
    if declared {
        walk(case).await?;
    }
    let seen = each_once(case).await?;
    // Of several the shortest URI alone: a server that compares beginnings takes others for it.
    let third = match (&wide, updated(case).into_iter().min_by_key(String::len)) {
        (Some(_), Some(one)) => Listening::start(case, json!({ "resourceSubscriptions": [one] })).await.ok(),
        _ => None,
    };
    closely(case, &seen).await?;
    if third.is_some() {
        case.quiet("before what changed changes again", CROSSED).await;
        call_each(case, seen.changing.clone()).await?;
    }
    if declared {
        if let Some(hint) = hint {
            // What comes at once may only say how things stand.
            case.quiet("before a changed resource", CROSSED).await;
            tools::call(case, &hint.tool, &hint.arguments, json!({})).await?;
        }
        case.quiet("while subscribed", LISTENED.saturating_sub(begun.elapsed()).max(CROSSED)).await;
        walk_again(case).await?;
    }
    let ended: Vec<_> = narrow.into_iter().chain(third).collect();
    if !ended.is_empty() {
        let goes_on = wide.is_some().then(|| everything(case, &uris));
        end_some(case, ended, goes_on, seen).await?;
    }
    match wide {
        Some(wide) => wide.stop(case).await,
        None => Ok(()),
    }
}

/// Ends some subscriptions while another one goes on; then what changed before changes again. A new subscription to the same
/// shows whether the other one ended with them.
async fn end_some(case: &ProbeContext, some: Vec<Listening>, goes_on: Option<Value>, seen: Seen) -> Result<(), Abort> {
    for ended in some {
        ended.stop(case).await?;
    }
    case.quiet("after unsubscribing", CROSSED).await;
    let beside = match goes_on.filter(|_| has_changed(case)) {
        Some(filter) => Listening::start(case, filter).await.ok(),
        None => None,
    };
    if beside.is_some() {
        case.quiet("before what changed changes beside another", CROSSED).await;
        call_each(case, seen.changing).await?;
        if let Some(hint) = case.setting().hints.resource_updated.as_ref() {
            tools::call(case, &hint.tool, &hint.arguments, json!({})).await?;
        }
    }
    once_more(case).await?;
    case.quiet("after a change outside one subscription", CROSSED).await;
    match beside {
        Some(beside) => beside.stop(case).await,
        None => Ok(()),
    }
}

/// The filter for all that the server says it announces.
fn everything(case: &ProbeContext, uris: &[&str]) -> Value {
    let lists = [
        ("tools.listChanged", "toolsListChanged"),
        ("prompts.listChanged", "promptsListChanged"),
        ("resources.listChanged", "resourcesListChanged"),
    ];
    let declared = lists.into_iter().filter(|(capability, _)| case.survey().has(capability));
    let mut filter: Map<String, Value> = declared.map(|(_, member)| (member.to_owned(), json!(true))).collect();
    if case.survey().has("resources.subscribe") && !uris.is_empty() {
        filter.insert("resourceSubscriptions".to_owned(), json!(uris));
    }
    Value::Object(filter)
}

/// The filter for one kind of change, that of some resources, and expressly for no other.
fn little(case: &ProbeContext, uris: &[&str]) -> Value {
    only_one_list(everything(case, uris))
}

/// The filter with one list left in it; with none where there is but one, and something else to listen to.
fn only_one_list(mut filter: Value) -> Value {
    let members = filter.as_object().map_or(0, Map::len);
    let lists = || filter.as_object().into_iter().flat_map(Map::values).filter(|wanted| wanted.is_boolean());
    let kept = usize::from(lists().count() > 1 || members == 1);
    let lists = filter.as_object_mut().into_iter().flat_map(Map::values_mut).filter(|wanted| wanted.is_boolean());
    lists.skip(kept).for_each(|wanted| *wanted = json!(false));
    filter
}

fn uris(case: &ProbeContext) -> Vec<&str> {
    let listed = case.survey().resources.iter().filter_map(|resource| resource.get("uri")?.as_str());
    let hint = case.setting().hints.resource_updated.as_ref().map(|hint| hint.uri.as_str());
    let listed = listed.filter(|uri| Some(*uri) != hint).take(RESOURCES);
    hint.into_iter().chain(listed).collect()
}

/// The same in the legacy era: with two streams open for what belongs to no request, where there are any, and beside another
/// session that subscribes to nothing.
async fn in_session(case: &ProbeContext, declared: bool, begun: Instant) -> Result<(), Abort> {
    let mut ears = Vec::new();
    if case.transport() == Transport::StreamableHttp {
        ears.push(streams::open(case, None).await?);
        if ears.iter().all(net::client::Exchange::is_stream) {
            ears.push(streams::open(case, None).await?);
        }
    }
    let heard = if case.connection().session_id().is_some() {
        let mut own = Ok(());
        let beside =
            case.on_another_connection(async |other| beside(case, other, (declared, begun), &mut own).await).await;
        own.and(survived(beside))
    } else {
        alone(case, declared, begun).await
    };
    for ear in ears {
        ear.abort();
    }
    heard
}

/// Plays [`alone`] while another session listens, which has set a milder level than ours and subscribed to nothing.
async fn beside(
    case: &ProbeContext,
    other: &ProbeContext,
    (declared, begun): (bool, Instant),
    own: &mut Result<(), Abort>,
) -> Result<(), Abort> {
    other.handshake().await?;
    let ear = streams::open(other, None).await?;
    if case.survey().has("logging") {
        set_level(case, "error").await?;
        set_level(other, "debug").await?;
        tools::call_safe(case, TOOLS).await?;
    }
    *own = alone(case, declared, begun).await;
    other.quiet("in another session", Duration::from_millis(50)).await;
    ear.abort();
    Ok(())
}

async fn alone(case: &ProbeContext, declared: bool, begun: Instant) -> Result<(), Abort> {
    if declared {
        walk(case).await?;
    }
    let uris = if case.survey().has("resources.subscribe") { uris(case) } else { Vec::new() };
    for uri in &uris {
        case.request("resources/subscribe", json!({ "uri": uri })).await?;
    }
    if case.survey().has("logging") {
        set_level(case, "debug").await?;
    }
    let seen = each_once(case).await?;
    closely(case, &seen).await?;
    if declared {
        case.quiet("while subscribed", LISTENED.saturating_sub(begun.elapsed())).await;
        walk_again(case).await?;
    }
    let updated = case.connection().received().iter().any(|m| m.method() == Some("notifications/resources/updated"));
    for uri in &uris {
        case.request("resources/unsubscribe", json!({ "uri": uri })).await?;
    }
    if updated {
        case.quiet("after unsubscribing", CROSSED).await;
        once_more(case).await?;
        case.quiet("after a change that nobody subscribed to", CROSSED).await;
    }
    Ok(())
}

async fn set_level(case: &ProbeContext, level: &str) -> Result<(), Abort> {
    case.request("logging/setLevel", json!({ "level": level })).await.map(|_| ())
}

/// What calls showed of their tools.
#[derive(Default)]
struct Seen {
    reporting: Vec<Called>,
    logging: Vec<Called>,
    /// During which something was announced to have changed.
    changing: Vec<Called>,
}

/// The resources that were announced to have changed, in the order of their first announcement.
fn updated(case: &ProbeContext) -> Vec<String> {
    let mut uris = Vec::new();
    for message in case.connection().received() {
        let uri = message.params().and_then(|params| params.get("uri")?.as_str());
        if let Some(uri) = uri.filter(|_| message.method() == Some("notifications/resources/updated"))
            && !uris.iter().any(|known| known == uri)
        {
            uris.push(uri.to_owned());
        }
    }
    uris.truncate(RESOURCES);
    uris
}

/// Every tool that may be called; one that does more than read also as it was not called before, as that may change nothing.
async fn each_once(case: &ProbeContext) -> Result<Seen, Abort> {
    let changes = |name: &str| {
        let tool = case.survey().tools.iter().find(|tool| tool.get("name").is_some_and(|named| named == name));
        tool.is_some_and(|tool| !client::only_reads(tool))
    };
    let calls = tools::callable(case).into_iter().flat_map(|called| {
        let other = Some(&called).filter(|(name, _)| changes(name)).and_then(|called| otherwise(case, called));
        std::iter::once(called).chain(other)
    });
    let calls = calls.collect();
    let seen = call_each(case, calls).await?;
    read_some(case).await?;
    Ok(seen)
}

/// How many resources are read, and how many prompts are got.
const READ: usize = 2;

/// What else may report progress and log: reads of resources, and prompts that require nothing.
async fn read_some(case: &ProbeContext) -> Result<(), Abort> {
    let text = |item: &Value, member: &str| Some(item.get(member)?.as_str()?.to_owned());
    let resources = case.survey().resources.iter().filter_map(|resource| text(resource, "uri")).take(READ);
    let demands = |prompt: &&Value| {
        let arguments = prompt.get("arguments").and_then(Value::as_array);
        arguments.is_some_and(|all| all.iter().any(|argument| argument.get("required") == Some(&json!(true))))
    };
    let prompts = case.survey().prompts.iter().filter(|prompt| !demands(prompt));
    let prompts = prompts.filter_map(|prompt| text(prompt, "name")).take(READ);
    let reads = resources.map(|uri| ("resources/read", json!({ "uri": uri })));
    let all: Vec<_> = reads.chain(prompts.map(|name| ("prompts/get", json!({ "name": name })))).collect();
    for (method, mut params) in all {
        params["_meta"] = json!({ "progressToken": case.setting().tokens.number() });
        if case.era() == Era::Modern {
            params["_meta"][LOG_LEVEL] = json!("debug");
        }
        case.request(method, params).await?;
    }
    Ok(())
}

/// The call with its switches turned and its free texts made new, where the schema admits that.
fn otherwise(case: &ProbeContext, (name, arguments): &Called) -> Option<Called> {
    let tool = case.survey().tools.iter().find(|tool| tool.get("name").is_some_and(|named| named == name))?;
    let input = tool.get("inputSchema")?;
    let mut changed = arguments.clone();
    for (member, value) in &mut changed {
        let schema = input.get("properties").and_then(|all| all.get(member))?;
        let is_free = ["enum", "const", "format"].iter().all(|keyword| schema.get(keyword).is_none());
        match value {
            Value::Bool(switch) => *switch = !*switch,
            Value::String(text) if is_free => case.setting().tokens.text("proof").as_str()?.clone_into(text),
            _ => {}
        }
    }
    let fits = schema::Validator::new(input).is_ok_and(|v| v.is_valid(&Value::Object(changed.clone())));
    (fits && changed != *arguments).then(|| (name.clone(), changed))
}

/// Calls with a token for progress, of each legal type in turn, and the mildest level.
async fn call_each(case: &ProbeContext, calls: Vec<Called>) -> Result<Seen, Abort> {
    let begun = Instant::now();
    let mut seen = Seen::default();
    for (number, called) in calls.into_iter().take(TOOLS).enumerate() {
        if begun.elapsed() > ROUND {
            break;
        }
        let tokens = &case.setting().tokens;
        let token = if number.is_multiple_of(2) { tokens.number() } else { tokens.text("listening") };
        let before = case.connection().received_count();
        let (id, _) = put(case, &call(case, &called, Some("debug")), &token).await?;
        case.connection().response(&RequestId::from(id), case.patience_with(&called.0)).await;
        let heard: Vec<Message> = case.connection().received().into_iter().skip(before).collect();
        if heard.iter().any(|m| m.method() == Some("notifications/message")) {
            seen.logging.push(called.clone());
        }
        if heard.iter().any(changes) {
            seen.changing.push(called.clone());
        }
        if heard.iter().any(|m| reports_on(m, &token)) {
            seen.reporting.push(called);
        }
    }
    Ok(seen)
}

/// Two calls at a time that report progress, and calls that log at each of several levels.
async fn closely(case: &ProbeContext, seen: &Seen) -> Result<(), Abort> {
    for called in
        seen.reporting.iter().cloned().chain(slow(case).into_iter().filter(|_| seen.reporting.is_empty())).take(1)
    {
        let mut under_way = Vec::new();
        for token in [case.setting().tokens.text("at-a-time"), case.setting().tokens.number()] {
            under_way.push(put(case, &call(case, &called, None), &token).await?.0);
        }
        for id in under_way {
            case.connection().response(&RequestId::from(id), case.patience_with(&called.0)).await;
        }
    }
    for called in seen.logging.iter().take(2) {
        for name in ["error", "warning", "notice", "info"] {
            if case.era() == Era::Legacy {
                set_level(case, name).await?;
            }
            case.request("tools/call", call(case, called, Some(name))).await?;
        }
    }
    Ok(())
}

/// Whether a message says that something changed.
fn changes(message: &Message) -> bool {
    message.method().is_some_and(|name| CHANGES.iter().any(|end| name.ends_with(end)))
}

/// Whether anything was announced to have changed.
fn has_changed(case: &ProbeContext) -> bool {
    case.connection().received().iter().any(changes)
}

/// The calls again after which something changed before, if anything did.
async fn once_more(case: &ProbeContext) -> Result<(), Abort> {
    if has_changed(case) {
        each_once(case).await?;
    }
    Ok(())
}

/// The parameters of a call, in the modern era with a level for its logs.
fn call(case: &ProbeContext, (name, arguments): &Called, level: Option<&str>) -> Value {
    let mut params = json!({ "name": name, "arguments": arguments });
    if let Some(level) = level.filter(|_| case.era() == Era::Modern) {
        params["_meta"] = json!({ LOG_LEVEL: level });
    }
    params
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::only_one_list;

    #[test]
    fn a_list_that_is_not_asked_for_is_refused_expressly() {
        let resources = json!(["a://b"]);
        for (filter, expected) in [
            (
                json!({ "promptsListChanged": true, "toolsListChanged": true }),
                json!({ "promptsListChanged": true, "toolsListChanged": false }),
            ),
            (json!({ "toolsListChanged": true }), json!({ "toolsListChanged": true })),
            (
                json!({ "toolsListChanged": true, "resourceSubscriptions": resources }),
                json!({ "toolsListChanged": false, "resourceSubscriptions": resources }),
            ),
            (json!({ "resourceSubscriptions": resources }), json!({ "resourceSubscriptions": resources })),
        ] {
            assert_eq!(only_one_list(filter), expected);
        }
    }
}

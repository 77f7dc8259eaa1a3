//! Lists around calls: where a list differed after tools had been called, which call it was that did it. Only tools are called
//! that only read.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::lists::{LISTS, ListKind};
use super::tools;
use crate::check::context::{Abort, ProbeContext};
use crate::check::learnt::variants;
use crate::check::probe::{Probe, Script};
use crate::check::survey::PAGES;

/// How long calls are tried, and what a call may have taken before to be tried.
const IN_ALL: Duration = Duration::from_secs(4);
const QUICK: Duration = Duration::from_millis(800);

/// How many further variants of a call are tried.
const VARIANTS: usize = 3;

/// The keys of a list.
type Keys = BTreeSet<String>;

pub(super) const AROUND_CALLS: Probe = Probe::fresh("lists-around-calls", around)
    .needs("tools")
    .when_learnt(|setting, _| setting.learnt.any_list_varies());

/// Notes the lists that differ from what they were when they were read first.
pub(super) async fn compare(case: &ProbeContext) -> Result<(), Abort> {
    let survey = case.survey();
    if survey.is_long() {
        return Ok(());
    }
    for list in LISTS.iter().filter(|list| survey.has(list.capability)) {
        let (before, after) = (keys(list, list.surveyed(survey)), read(case, list).await?);
        let is_declared = survey.has(&format!("{}.listChanged", list.capability));
        // What a server announces it may add.
        if before != after && !(is_declared && before.is_subset(&after)) {
            case.setting().learnt.varies(list.method);
        }
    }
    Ok(())
}

async fn read(case: &ProbeContext, list: &ListKind) -> Result<Keys, Abort> {
    Ok(keys(list, &case.list(list.method, list.member, PAGES).await?))
}

fn keys(list: &ListKind, items: &[Value]) -> Keys {
    items.iter().filter_map(|item| item.get(list.key)?.as_str().map(str::to_owned)).collect()
}

/// The lists twice in a row, as they are then.
async fn twice(case: &ProbeContext) -> Result<Vec<Keys>, Abort> {
    let learnt = &case.setting().learnt;
    let mut now = Vec::new();
    for _ in 0..2 {
        now.clear();
        // What the tools say of themselves is judged, too.
        let wanted = |list: &&ListKind| list.method == "tools/list" || learnt.list_varies(list.method);
        for list in LISTS.iter().filter(wanted) {
            now.push(read(case, list).await?);
        }
    }
    Ok(now)
}

type ToolCall = (String, Map<String, Value>);

/// Calls that succeeded before and did not take long, then the same tools with other arguments.
fn calls(case: &ProbeContext) -> Vec<ToolCall> {
    let (setting, mut known, mut further) = (case.setting(), Vec::new(), Vec::new());
    for tool in case.survey().tools.iter().filter(|tool| tools::is_callable(case, tool) && client::only_reads(tool)) {
        let Some(name) = tool.get("name").and_then(Value::as_str) else { continue };
        let is_quick = setting.learnt.took(name).is_some_and(|took| took < QUICK);
        let Some(arguments) = setting.learnt.arguments(name).filter(|_| is_quick && !setting.learnt.asks(name)) else {
            continue;
        };
        let schema = tool.get("inputSchema").unwrap_or(&Value::Null);
        let mut others = variants(schema, &setting.learnt.values(), &setting.rng(name));
        others.retain(|other| *other != arguments);
        further.extend(others.into_iter().take(VARIANTS).map(|other| (name.to_owned(), other)));
        known.push((name.to_owned(), arguments));
    }
    known.into_iter().chain(further).collect()
}

async fn make((name, arguments): &ToolCall, case: &ProbeContext) -> Result<(), Abort> {
    case.request("tools/call", json!({ "name": name, "arguments": arguments })).await.map(|_| ())
}

/// One call at a time, with the lists read twice before and after it; the one that makes a difference once more on a connection
/// on which nothing was called yet.
fn around(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let _turn = case.lock().await?;
        let begun = Instant::now();
        let before = twice(case).await?;
        for call in calls(case) {
            if begun.elapsed() > IN_ALL {
                break;
            }
            make(&call, case).await?;
            if twice(case).await? != before {
                let again = async |other: &ProbeContext| {
                    other.handshake().await?;
                    twice(other).await?;
                    make(&call, other).await?;
                    twice(other).await.map(|_| ())
                };
                return case.on_another_connection(again).await;
            }
        }
        Ok(())
    })
}

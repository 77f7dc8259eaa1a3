//! Verbs by which people hold, waive and note. None of them makes a gate green.

use std::path::Path;

use fleet::columns::stage_name;
use fleet::gate::{Judged, Outcome};
use fleet::state::{DAY, Hold};
use fleet::words::counted;
use fleet::{dates, keeping};
use fleet_store::{Id, NewWaiver};
use net::Children;

use super::{Session, caller, now};
use crate::args::{GcArgs, HoldArgs, NoteArgs, ServerArgs, WaiveArgs};
use crate::tell::{Exit, Failure, print};

/// The longest that a waiver may last, in days.
const LONGEST: i64 = 366;

/// `proof fleet hold`.
pub(crate) async fn hold(file: &Path, args: &HoldArgs, children: &Children) -> Result<Exit, Failure> {
    let session = Session::open(file, children).await?;
    session.id(&args.server).await?;
    let stage = match &args.at {
        None => session.state(&args.server).await?.stage,
        Some(text) => stage(&session, text)?,
    };
    let by = args.by.clone().unwrap_or_else(caller);
    let hold = Hold { stage, by, reason: args.reason.clone(), at: keeping::seconds(now()) };
    let text = serde_json::to_string(&hold).map_err(Failure::bug)?;
    session.keeping.store.hold(&args.server, Some(&text)).await?;
    print(&format!("{} rises no higher than {}", args.server, stage_name(&session.fleet, stage)));
    Ok(Exit::Clean)
}

fn stage(session: &Session, text: &str) -> Result<usize, Failure> {
    let stages = &session.fleet.stages;
    let by_number = text.parse().ok().filter(|number| *number <= stages.len());
    let by_name = || stages.iter().position(|stage| stage.name == text).map(|at| at + 1);
    by_number.or_else(by_name).ok_or_else(|| {
        let names = stages.iter().map(|stage| stage.name.as_str());
        Failure::usage(format!("there is no stage {}", document::quoted(text)), &document::nearest(text, names))
    })
}

/// `proof fleet release`.
pub(crate) async fn release(file: &Path, args: &ServerArgs, children: &Children) -> Result<Exit, Failure> {
    let session = Session::open(file, children).await?;
    session.id(&args.server).await?;
    session.keeping.store.hold(&args.server, None).await?;
    let state = session.state(&args.server).await?;
    print(&format!("{} is at {}", args.server, stage_name(&session.fleet, state.stage)));
    Ok(Exit::Clean)
}

/// `proof fleet waive`.
pub(crate) async fn waive(file: &Path, args: &WaiveArgs, children: &Children) -> Result<Exit, Failure> {
    let session = Session::open(file, children).await?;
    session.id(&args.server).await?;
    let at = now();
    if let Some(number) = args.end {
        return end_waiver(&session, &args.server, number).await;
    }
    let (Some(gate), Some(owner), Some(reason), Some(until)) = (args.gate, &args.owner, &args.reason, &args.until)
    else {
        return Err(Failure::usage("a waiver needs a gate, --owner, --reason and --until", "proof fleet waive --help"));
    };
    if [owner, reason].iter().any(|text| text.trim().is_empty()) {
        return Err(Failure::usage("the owner or the reason is empty", "say who answers for it, and why"));
    }
    let expires = dates::end_of(until)
        .ok_or_else(|| Failure::usage(format!("{} is not a day", document::quoted(until)), "such as 2027-01-31"))?;
    let today = keeping::seconds(at);
    if expires <= today || expires > today + LONGEST * DAY {
        return Err(Failure::usage(
            format!("a waiver cannot end on {until}"),
            "a day from today until a year from now",
        ));
    }
    if !session.fleet.gates().contains(&gate) {
        return Err(Failure::usage(format!("no stage has the gate `{gate}`"), "a gate of `stages`"));
    }
    let scope = args.rule.as_ref().map_or_else(|| gate.to_string(), |rule| format!("{gate}:{rule}"));
    let waiver = NewWaiver {
        server: args.server.clone(),
        scope,
        owner: owner.clone(),
        reason: reason.clone(),
        expires: expires * 1000,
        created_by: caller(),
    };
    let id = session.keeping.store.put_waiver(&waiver, at).await?;
    let state = session.state(&args.server).await?;
    let light = state.gate(gate).map_or("", |state| state.light.as_str());
    print(&format!("waiver {id}: `{gate}` of {} is {light}; it ends after {until}", args.server));
    let judged = state.gate(gate).and_then(|state| state.record.as_ref()).map(|record| &record.judged);
    if let Some(text) = unused(judged, args.rule.as_deref()) {
        print(&text);
    }
    print(&format!("{} is at {}", args.server, stage_name(&session.fleet, state.stage)));
    Ok(Exit::Clean)
}

async fn end_waiver(session: &Session, server: &str, number: Id) -> Result<Exit, Failure> {
    let store = &session.keeping.store;
    let is_own = store.waivers(Some(server)).await?.into_iter().any(|waiver| waiver.id == number);
    if !is_own || !store.end_waiver(number, now()).await? {
        let remedy = format!("proof fleet show {server}");
        return Err(Failure::usage(format!("{server} has no waiver {number} that holds"), &remedy));
    }
    print(&format!("waiver {number} has ended"));
    Ok(Exit::Clean)
}

/// What to say of a waiver that covers no present finding; rules are not known before a gate reports them.
fn unused(judged: Option<&Judged>, rule: Option<&str>) -> Option<String> {
    let Some(judged) = judged else { return Some("it covers no present finding: the gate has no result".to_owned()) };
    let failing = || judged.findings.iter().filter(|finding| finding.fails).map(|finding| finding.rule.as_str());
    let Some(rule) = rule else {
        let is_closed = matches!(judged.outcome, Outcome::Fail | Outcome::Skipped);
        return (!is_closed).then(|| format!("it covers no present finding: the gate is {}", judged.outcome.as_str()));
    };
    if judged.more > 0 || failing().any(|own| own == rule) {
        return None;
    }
    let what = format!("it covers no present finding: none is of rule {}", document::quoted(rule));
    if failing().next().is_none() {
        return Some(what);
    }
    Some(format!("{what}; try {}", document::nearest(rule, failing())))
}

/// `proof fleet note`.
pub(crate) async fn note(file: &Path, args: &NoteArgs, children: &Children) -> Result<Exit, Failure> {
    let session = Session::open(file, children).await?;
    let id = session.id(&args.server).await?;
    let author = args.by.clone().unwrap_or_else(caller);
    session.keeping.store.add_note(id, &author, &args.text, now()).await?;
    Ok(Exit::Clean)
}

/// `proof fleet gc`.
pub(crate) async fn collect(file: &Path, args: &GcArgs, children: &Children) -> Result<Exit, Failure> {
    let session = Session::open(file, children).await?;
    let keep = std::time::Duration::from_secs(u64::from(args.days) * 86_400);
    let collected = session.keeping.store.collect_garbage(keep, now()).await?;
    let (reports, jobs) = (counted(collected.files, "report"), counted(collected.jobs, "job"));
    print(&format!("{reports} ({}) and {jobs} removed", counted(collected.bytes, "byte")));
    Ok(Exit::Clean)
}

#[cfg(test)]
mod tests {
    use super::unused;
    use fleet::gate::{Finding, Judged, Outcome};

    #[test]
    fn a_waiver_that_covers_nothing_now_is_named() {
        let [rule, level, place, message, fix] = ["tools.names-unique", "MUST", "", "m", "f"].map(str::to_owned);
        let red = Judged::by_findings(vec![Finding { rule, level, place, message, fix, fails: true }], "");
        assert_eq!(unused(Some(&red), Some("tools.names-unique")), None);
        assert_eq!(unused(Some(&red), None), None);
        let text = unused(Some(&red), Some("tools.names-uniq")).expect("a text");
        assert!(text.contains("no present finding") && text.contains("tools.names-unique"), "{text}");
        let green = Judged::new(Outcome::Pass, "");
        for (judged, rule) in [(Some(&green), None), (Some(&green), Some("x")), (None, None)] {
            assert!(unused(judged, rule).is_some_and(|text| text.contains("no present finding")), "{judged:?}");
        }
        assert_eq!(
            unused(Some(&Judged { more: 1, ..red }), Some("x")),
            None,
            "findings that were not kept may be meant"
        );
    }
}

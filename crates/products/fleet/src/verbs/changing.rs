//! Verbs by which people hold, waive and note. None of them makes a gate green.

use std::path::Path;

use fleet::columns::stage_name;
use fleet::state::{DAY, Hold};
use fleet::{dates, keeping};
use fleet_store::NewWaiver;
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
        let own =
            session.keeping.store.waivers(Some(&args.server)).await?.into_iter().any(|waiver| waiver.id == number);
        if !own || !session.keeping.store.end_waiver(number, at).await? {
            let remedy = format!("proof fleet show {}", args.server);
            return Err(Failure::usage(format!("{} has no waiver {number} that holds", args.server), &remedy));
        }
        print(&format!("waiver {number} has ended"));
        return Ok(Exit::Clean);
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
    print(&format!("{} is at {}", args.server, stage_name(&session.fleet, state.stage)));
    Ok(Exit::Clean)
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
    print(&format!("{} reports ({} bytes) and {} jobs removed", collected.files, collected.bytes, collected.jobs));
    Ok(Exit::Clean)
}

//! Verbs that show what is known.

use std::io::IsTerminal as _;
use std::path::Path;

use fleet::config::Dashboard;
use fleet::filter::Filter;
use fleet::gate::{GateKind, Outcome};
use fleet::keeping::{self, MOST};
use fleet::next::actions;
use fleet::run::outcomes::Known;
use fleet::show::history::{self, Move, Past};
use fleet::show::{badge as picture, inventory as listing, playbook as steps, reports, status as table};
use fleet::state::ServerState;
use fleet_store::{GateResult, Run};
use net::Children;
use serde_json::{Value, json};

use super::{Session, now};
use crate::args::{
    BadgeArgs, DiffArgs, Format, HistoryArgs, InventoryArgs, InventoryFormat, NextArgs, ReportArgs, ReportFormat,
    ServerArgs, ShowArgs, StatusArgs,
};
use crate::tell::{Exit, Failure, deliver, json as as_json, print};

const fn exit(is_good: bool) -> Exit {
    if is_good { Exit::Clean } else { Exit::Finding }
}

/// `proof fleet inventory`.
pub(crate) async fn inventory(file: &Path, args: &InventoryArgs, children: &Children) -> Result<Exit, Failure> {
    let session = Session::open(args.fleet.as_deref().unwrap_or(file), children).await?;
    let states = session.states().await?;
    let text = match args.format {
        InventoryFormat::Markdown => listing::markdown(&session.fleet, &states),
        InventoryFormat::Json => as_json(&listing::json(&session.fleet, &states)),
    };
    deliver(args.output.as_deref(), &text)?;
    Ok(Exit::Clean)
}

/// `proof fleet status`.
pub(crate) async fn status(file: &Path, args: &StatusArgs, children: &Children) -> Result<Exit, Failure> {
    let session = Session::open(args.fleet.as_deref().unwrap_or(file), children).await?;
    let states = session.states().await?;
    let view = view(&session, args)?;
    let filter = parse(&view.filter)?;
    let at = keeping::seconds(now());
    let shown: Vec<&ServerState<'_>> = states.iter().filter(|state| filter.fits(state, at)).collect();
    match args.format {
        Format::Human => print(&table::human(&session.fleet, &shown, &view, at)),
        Format::Json => print(&as_json(&table::json(&session.fleet, &shown, at))),
    }
    Ok(exit(shown.iter().all(|state| state.is_as_wanted())))
}

fn parse(filter: &str) -> Result<Filter, Failure> {
    Filter::parse(filter)
        .map_err(|error| Failure::usage(format!("the filter cannot be read: {}", error.what), &error.remedy))
}

/// The dashboard that is named, or the filter.
fn view(session: &Session, args: &StatusArgs) -> Result<Dashboard, Failure> {
    let Some(name) = &args.dashboard else {
        let filter = args.filter.clone().unwrap_or_default();
        return Ok(Dashboard { name: String::new(), filter, columns: Vec::new(), group: None });
    };
    let dashboards = &session.fleet.dashboards;
    dashboards.iter().find(|dashboard| dashboard.name == *name).cloned().ok_or_else(|| {
        let known = dashboards.iter().map(|dashboard| dashboard.name.as_str());
        let remedy =
            if dashboards.is_empty() { "add it to `dashboards`".to_owned() } else { document::nearest(name, known) };
        Failure::usage(format!("the fleet has no dashboard {}", document::quoted(name)), &remedy)
    })
}

/// `proof fleet next`.
pub(crate) async fn next(file: &Path, args: &NextArgs, children: &Children) -> Result<Exit, Failure> {
    let session = Session::open(args.fleet.as_deref().unwrap_or(file), children).await?;
    let states = session.states().await?;
    let actions = actions(&session.fleet, &states);
    let shown = &actions[..actions.len().min(args.count)];
    if args.format == Format::Json {
        let one = |action: &fleet::next::Action| {
            json!({
                "what": action.what, "command": action.command, "then": action.then, "why": action.why, "servers": action.servers,
                "gate": action.gate, "minutes": action.minutes,
            })
        };
        let list: Vec<Value> = shown.iter().map(one).collect();
        print(&as_json(
            &json!({ "schema": "proof.fleet-next/1", "actions": list, "more": actions.len() - shown.len() }),
        ));
    } else if shown.is_empty() {
        print("nothing: every gate of every server is green");
    } else {
        for (number, action) in shown.iter().enumerate() {
            if number > 0 {
                print("\n");
            }
            print(&fleet::show::next_action(action));
        }
    }
    Ok(exit(states.iter().all(ServerState::is_as_wanted)))
}

/// `proof fleet playbook`.
pub(crate) async fn playbook(file: &Path, args: &ServerArgs, children: &Children) -> Result<Exit, Failure> {
    let session = Session::open(file, children).await?;
    let state = session.state(&args.server).await?;
    print(&steps::playbook(&session.fleet, &state, keeping::seconds(now())));
    Ok(exit(state.is_as_wanted()))
}

/// `proof fleet show`.
pub(crate) async fn show(file: &Path, args: &ShowArgs, children: &Children) -> Result<Exit, Failure> {
    let session = Session::open(file, children).await?;
    let state = session.state(&args.server).await?;
    match args.gate.filter(|_| args.report) {
        Some(gate) => print(&whole_report(&session, &state, gate).await?),
        None => print(&steps::show(&session.fleet, &state, args.gate, keeping::seconds(now()))),
    }
    Ok(exit(state.is_as_wanted()))
}

/// The report of a gate, as `proof` wrote it.
async fn whole_report(session: &Session, state: &ServerState<'_>, gate: GateKind) -> Result<String, Failure> {
    let missing = || Failure::usage(format!("no report of `{gate}` is kept"), "proof fleet run");
    let record = state.gate(gate).and_then(|gate| gate.record.as_ref()).ok_or_else(missing)?;
    let hash = session
        .keeping
        .store
        .result(record.version, &record.key)
        .await?
        .and_then(|result| result.is.report)
        .ok_or_else(missing)?;
    let bytes = session.keeping.store.artefact(&hash).await?.ok_or_else(missing)?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|_| missing())?;
    Ok(as_json(&fleet::evidence::without_traces(value)))
}

fn past(name: &str, result: &GateResult) -> Option<Past> {
    let gate: GateKind = result.of.gate.parse().ok()?;
    Some(Past::of(name, keeping::of_result(gate, result)?, result.run))
}

/// `proof fleet history`.
pub(crate) async fn history(file: &Path, args: &HistoryArgs, children: &Children) -> Result<Exit, Failure> {
    let session = Session::open(file, children).await?;
    let id = session.id(&args.server).await?;
    let store = &session.keeping.store;
    let gate = args.gate.map(GateKind::as_str);
    let results = store.history(id, gate, args.count.clamp(1, MOST)).await?;
    let past: Vec<Past> = results.iter().filter_map(|result| past(&args.server, result)).collect();
    let events = store.stage_events(Some(id), args.count.clamp(1, MOST)).await?;
    let moves: Vec<Move> =
        events.iter().map(|event| Move { at: keeping::seconds(event.at), from: event.from, to: event.to }).collect();
    let notes = store.notes(id).await?;
    let notes: Vec<_> = notes.into_iter().map(|note| (keeping::seconds(note.at), note.author, note.text)).collect();
    print(&history::history(&args.server, &moves, &past, &notes));
    Ok(Exit::Clean)
}

/// `proof fleet diff`.
pub(crate) async fn diff(file: &Path, args: &DiffArgs, children: &Children) -> Result<Exit, Failure> {
    let session = Session::open(file, children).await?;
    let store = &session.keeping.store;
    let runs = store.runs(MOST).await?;
    let known = Known::read(store, &session.fleet).await?;
    let mut ends = Vec::new();
    for number in [args.old, args.new] {
        let run = run_of(&runs, number)?;
        let (end, is_recorded) = known.at_end(store, &session.fleet, run).await?;
        if !is_recorded {
            print(&format!("note: run {} recorded no outcomes: results that it reused are not compared", run.id));
        }
        ends.push(end);
    }
    let changes = history::changes(&ends[0], &ends[1]);
    print(&history::diff(&changes));
    Ok(exit(!changes.iter().any(history::Change::is_worse)))
}

/// A run by its number, or, from 0 downwards, by how many runs that ended are newer.
fn run_of(runs: &[Run], number: i64) -> Result<&Run, Failure> {
    let remedy = "a number that `proof fleet history SERVER` shows; 0 is the last run, -1 the one before";
    let missing = || Failure::usage(format!("there is no run {number}"), remedy);
    let found = match usize::try_from(-number) {
        Ok(back) => runs.iter().filter(|run| run.ended.is_some()).nth(back),
        Err(_) => runs.iter().find(|run| run.id == number),
    };
    let run = found.ok_or_else(missing)?;
    if run.ended.is_none() {
        return Err(Failure::usage(format!("run {number} did not end"), "another run"));
    }
    Ok(run)
}

/// `proof fleet report`.
pub(crate) async fn report(file: &Path, args: &ReportArgs, children: &Children) -> Result<Exit, Failure> {
    let session = Session::open(file, children).await?;
    if let Some(name) = &args.server {
        session.known(name)?;
    }
    let states = session.states().await?;
    let is_chosen = |state: &&ServerState<'_>| args.server.as_ref().is_none_or(|name| state.server.name == *name);
    let shown: Vec<&ServerState<'_>> = states.iter().filter(is_chosen).collect();
    let page = reports::report(args.kind.into(), &session.fleet, &shown, keeping::seconds(now()));
    let ending = args.output.as_deref().and_then(Path::extension).map(|ending| ending.to_string_lossy().into_owned());
    let format = args.format.unwrap_or(match ending.as_deref() {
        Some("html" | "htm") => ReportFormat::Html,
        Some("json") => ReportFormat::Json,
        None if args.output.is_none() && std::io::stdout().is_terminal() => ReportFormat::Human,
        _ => ReportFormat::Markdown,
    });
    let text = match format {
        ReportFormat::Human => page.text(),
        ReportFormat::Html => page.html(),
        ReportFormat::Markdown => page.markdown(),
        ReportFormat::Json => as_json(&page.json()),
    };
    deliver(args.output.as_deref(), &text)?;
    Ok(Exit::Clean)
}

/// `proof fleet badge`.
pub(crate) async fn badge(file: &Path, args: &BadgeArgs, children: &Children) -> Result<Exit, Failure> {
    let session = Session::open(file, children).await?;
    let tone = |is_known: bool, is_good: bool| match (is_known, is_good) {
        (false, _) => picture::Tone::Unknown,
        (true, true) => picture::Tone::Good,
        (true, false) => picture::Tone::Bad,
    };
    let svg = if let Some(name) = &args.server {
        let state = session.state(name).await?;
        let stage = fleet::columns::stage_name(&session.fleet, state.stage);
        let is_red =
            state.gates.iter().filter_map(|gate| gate.record.as_ref()).any(|one| one.judged.outcome == Outcome::Fail);
        let is_good = state.is_as_wanted() && !(state.server.wanted.is_none() && is_red);
        picture::svg(name, &format!("stage {stage}"), tone(state.kept.seen.is_some(), is_good))
    } else {
        let states = session.states().await?;
        let good = states.iter().filter(|state| state.is_as_wanted()).count();
        let is_known = states.iter().any(|state| state.kept.seen.is_some());
        let text = format!("{good} of {} as wanted", states.len());
        picture::svg(&session.fleet.name, &text, tone(is_known, good == states.len()))
    };
    deliver(args.output.as_deref(), &svg)?;
    Ok(Exit::Clean)
}

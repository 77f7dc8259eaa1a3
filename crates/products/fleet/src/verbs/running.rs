//! `proof fleet run` and `proof fleet worker`.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fleet::columns::stage_name;
use fleet::filter::Filter;
use fleet::gate::{GateKind, Judged, Outcome};
use fleet::launch::quoted;
use fleet::next::actions;
use fleet::run::{Context, Ran, Request, Say, Worker};
use fleet::show::{next_action, status};
use fleet::state::ServerState;
use fleet::webhooks::{self, Sent};
use fleet::words::counted;
use fleet::{keeping, run as runs};
use fleet_store::{Coordinator, Queue, Remote, Token, WorkerOptions};
use net::Children;
use report::render::text::wrap;
use tokio::sync::watch;

use super::{Session, caller, now};
use crate::args::{DeliverArgs, Format, RunArgs, WorkerArgs};
use crate::tell::{Exit, Failure, json, print, tell};

/// Ends what a run, worker or page left on this machine that was killed.
pub(super) fn end_abandoned() {
    let ended = net::process::end_abandoned(fleet::compute::JOBS);
    if ended > 0 {
        tell(&format!("processes of a run that was killed were still there: {ended} ended"));
    }
}

/// Says what came of a gate, on stderr.
fn progress() -> Say {
    Arc::new(|server: &str, gate: GateKind, judged: &Judged| {
        let mut line = String::new();
        let is_good = judged.outcome == Outcome::Pass;
        let why = if is_good { String::new() } else { format!(": {}", wire::escape::snippet(&judged.summary, 120)) };
        wrap(&mut line, 0, &format!("{server} {gate} {}{why}", judged.outcome.as_str()));
        tell(&line);
    })
}

/// `proof fleet run`.
pub(crate) async fn run(
    file: &Path,
    args: &RunArgs,
    children: &Children,
    stop: watch::Receiver<bool>,
) -> Result<Exit, Failure> {
    let session = Session::open(args.fleet.as_deref().unwrap_or(file), children).await?;
    end_abandoned();
    let filter = Filter::parse(&args.filter)
        .map_err(|error| Failure::usage(format!("the filter cannot be read: {}", error.what), &error.remedy))?;
    for only in &args.only {
        if !session.fleet.servers.iter().any(|server| server.name == *only || server.tags.contains(only)) {
            session.known(only)?;
        }
    }
    let coordinator = match (args.listen, &args.token_env) {
        (Some(address), Some(name)) => {
            let coordinator = Coordinator::listen(session.keeping.store.clone(), address, token(name)?, None).await?;
            let name = quoted(name);
            tell(&format!("workers: proof fleet worker http://{} --token-env {name}", coordinator.address()));
            Some(coordinator)
        }
        _ => None,
    };
    let request = Request {
        only: args.only.clone(),
        filter,
        gates: args.gate.clone(),
        changed: args.changed,
        again: args.again,
        actor: caller(),
    };
    let context = Context {
        fleet: &session.fleet,
        keeping: &session.keeping,
        runner: &session.runner,
        clock: now,
        say: progress(),
        tell,
    };
    let start = Instant::now();
    let ran = runs::run(&context, &request, stop.clone()).await?;
    if *stop.borrow() {
        return Ok(Exit::Finding);
    }
    if let Some(coordinator) = coordinator {
        coordinator.close().await;
    }
    show(&session, &ran, start.elapsed(), args.format);
    messages(&session, &ran.states, Duration::ZERO).await?;
    Ok(exit(&ran))
}

/// Nothing reached is its own end; then what is not as wanted.
fn exit(ran: &Ran<'_>) -> Exit {
    if ran.looked > 0 && ran.answered == 0 {
        Exit::NoAnswer
    } else if ran.states.iter().all(ServerState::is_as_wanted) {
        Exit::Clean
    } else {
        Exit::Finding
    }
}

fn show(session: &Session, ran: &Ran<'_>, time: Duration, format: Format) {
    let states: Vec<&ServerState<'_>> = ran.states.iter().collect();
    if format == Format::Json {
        let mut document = status::json(&session.fleet, &states, keeping::seconds(now()));
        document["run"] = serde_json::json!({
            "id": ran.id, "looked": ran.looked, "answered": ran.answered, "computed": ran.computed,
            "unchanged": ran.unchanged, "seconds": time.as_secs_f64(),
        });
        print(&json(&document));
        return;
    }
    let mut out = String::new();
    if ran.looked == 0 {
        let _ = writeln!(out, "no server fits `--only`, `--filter` and `--changed`");
    }
    let _ = writeln!(
        out,
        "run {}: {} of {} answered; {} computed, {} unchanged; {:.1} s",
        ran.id,
        ran.answered,
        counted(ran.looked, "server"),
        counted(ran.computed, "gate"),
        ran.unchanged,
        time.as_secs_f64()
    );
    for (before, state) in ran.before.iter().zip(&ran.states).filter(|(before, state)| **before != state.stage) {
        let word = if state.stage > *before { "rose" } else { "fell" };
        let name = |stage| stage_name(&session.fleet, stage);
        let text = format!("{} {word} from {} to {}", state.server.name, name(*before), name(state.stage));
        wrap(&mut out, 2, &wire::escape::line(&text));
    }
    wrap(&mut out, 0, &status::sum(&states));
    if let Some(action) = actions(&session.fleet, &ran.states).first() {
        let _ = writeln!(out, "\nnext:");
        out.push_str(&next_action(action));
    }
    print(&out);
}

/// Passes on what happened to the webhooks, and says on stderr what came of it.
async fn messages(session: &Session, states: &[ServerState<'_>], wait: Duration) -> Result<Sent, Failure> {
    let Session { fleet, keeping, .. } = session;
    webhooks::pass_on(keeping, fleet, states, now()).await?;
    let sent = webhooks::send(keeping, fleet, wait, now).await?;
    for (hook, why) in &sent.why {
        let mut line = String::new();
        wrap(&mut line, 0, &wire::escape::line(&format!("warning: the webhook {hook} gets no messages: {why}")));
        tell(&line);
    }
    Ok(sent)
}

/// `proof fleet deliver`.
pub(crate) async fn deliver(file: &Path, args: &DeliverArgs, children: &Children) -> Result<Exit, Failure> {
    let session = Session::open(args.fleet.as_deref().unwrap_or(file), children).await?;
    let states = session.states().await?;
    let sent = messages(&session, &states, Duration::from_secs(u64::from(args.wait))).await?;
    let mut line = format!("{} sent", counted(sent.sent, "message"));
    if sent.waiting > 0 {
        let _ = write!(line, ", {} waiting: `proof fleet deliver --wait 600` repeats them", sent.waiting);
    }
    if sent.given_up > 0 {
        let _ = write!(line, ", {} given up", sent.given_up);
    }
    let mut out = String::new();
    wrap(&mut out, 0, &line);
    print(&out);
    Ok(if sent.waiting == 0 && sent.given_up == 0 { Exit::Clean } else { Exit::Finding })
}

/// A token of workers.
fn token(name: &str) -> Result<Token, Failure> {
    let remedy = "a token of at least 16 characters: openssl rand -hex 32";
    let missing = || Failure::usage(format!("the variable {name} holds no token"), remedy);
    std::env::var(name).ok().and_then(Token::new).ok_or_else(missing)
}

/// `proof fleet worker`.
pub(crate) async fn worker(
    file: &Path,
    args: &WorkerArgs,
    children: &Children,
    stop: watch::Receiver<bool>,
) -> Result<Exit, Failure> {
    let fleet = Arc::new(super::load(file)?);
    let remedy = "put `proof` beside `proof-fleet` or on the PATH";
    let runner = fleet::child::Runner::find(children).await.map_err(|why| Failure::usage(why, remedy))?;
    end_abandoned();
    let queue = match (&args.coordinator, &args.token_env) {
        (Some(url), Some(name)) => Queue::Coordinator(Remote::new(url, &token(name)?, args.ca_file.clone())?),
        _ => Queue::Store(keeping::Keeping::open(&fleet).await?.store),
    };
    let options = WorkerOptions {
        name: format!("{}-{}", caller(), std::process::id()),
        lease: Duration::from_secs(30),
        idle: Duration::from_secs(1),
        patience: Duration::from_mins(1),
        until_empty: args.until_empty,
    };
    let worker = Worker { fleet, runner, clock: now, say: progress() };
    let place = match &queue {
        Queue::Store(store) => store.place().to_owned(),
        Queue::Coordinator(_) => args.coordinator.clone().unwrap_or_default(),
    };
    tell(&format!("waiting for jobs at {place}; Ctrl-C ends"));
    runs::worker(worker, queue, options, stop).await?;
    Ok(Exit::Clean)
}

//! The binary `proof-fleet`: arguments → fleet and store → text → exit code.

mod args;
mod tell;
mod verbs;

use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser as _};
use net::Children;
use tokio::sync::watch;

use self::args::{Args, Verb};
use self::tell::{Exit, Failure};
use self::verbs::{changing, reading, running, starting, ui};

/// How long workers may take to give their jobs back after a signal.
const GIVE_BACK: Duration = Duration::from_secs(3);

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return mistyped(error),
    };
    if args.schema {
        tell::print(fleet::config::schema());
        return ExitCode::SUCCESS;
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Failure::bug(format!("cannot start the async runtime: {error}")).exit(),
    };
    let children = Children::new();
    children.adopt_orphans();
    let ended = runtime.block_on(ended(&args, &children));
    children.kill_all();
    match ended {
        Ok(exit) => exit.into(),
        Err(failure) => failure.exit(),
    }
}

/// Prints help, or what is wrong with the command line, with the name that was meant.
fn mistyped(mut error: clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) {
        let command = Args::command();
        let verbs = || command.get_subcommands().map(clap::Command::get_name);
        let letters = |word: &str| {
            let mut letters: Vec<char> = word.chars().collect();
            letters.sort_unstable();
            letters
        };
        let swapped = || verbs().find(|verb| letters(verb) == letters(typed));
        if let Some(meant) = document::slip(typed, verbs()).or_else(swapped) {
            let meant = ContextValue::Strings(vec![meant.to_owned()]);
            error.insert(ContextKind::SuggestedSubcommand, meant);
        }
    }
    // It quotes what was typed: without colours, so that every escape in it is foreign.
    tell::tell(&tell::wrapped(error.render().to_string().trim_end()));
    ExitCode::from(2)
}

/// Runs the verb, or ends with the code of shells where a signal comes first.
async fn ended(args: &Args, children: &Children) -> Result<Exit, Failure> {
    let (stop, stopped) = watch::channel(false);
    let kinds = [tokio::signal::unix::SignalKind::interrupt(), tokio::signal::unix::SignalKind::terminate()];
    let [Ok(mut interrupt), Ok(mut terminate)] = kinds.map(tokio::signal::unix::signal) else {
        return Err(Failure::bug("cannot listen for signals"));
    };
    let mut verb = pin!(verb(args, children, stopped));
    let signal = tokio::select! {
        ended = &mut verb => return ended,
        _ = interrupt.recv() => 2,
        _ = terminate.recv() => 15,
    };
    // What has a result is kept; workers give their jobs back. A second signal ends it at once.
    let _ = stop.send(true);
    tokio::select! {
        _ = tokio::time::timeout(GIVE_BACK, verb) => {}
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Err(Failure::signal(signal))
}

async fn verb(args: &Args, children: &Children, stop: watch::Receiver<bool>) -> Result<Exit, Failure> {
    let file = args.file.as_path();
    match &args.verb {
        None => Err(Failure::usage("no verb is given", "proof fleet --help")),
        Some(Verb::Init(init)) => starting::init(file, init),
        Some(Verb::Import(import)) => starting::import(file, import),
        Some(Verb::Audit(audit)) => starting::audit(file, audit),
        Some(Verb::Inventory(inventory)) => reading::inventory(file, inventory, children).await,
        Some(Verb::Run(run)) => running::run(file, run, children, stop).await,
        Some(Verb::Worker(worker)) => running::worker(file, worker, children, stop).await,
        Some(Verb::Status(status)) => reading::status(file, status, children).await,
        Some(Verb::Ui(page)) => ui::ui(file, page, children, stop).await,
        Some(Verb::Next(next)) => reading::next(file, next, children).await,
        Some(Verb::Playbook(server)) => reading::playbook(file, server, children).await,
        Some(Verb::Show(show)) => reading::show(file, show, children).await,
        Some(Verb::History(history)) => reading::history(file, history, children).await,
        Some(Verb::Diff(diff)) => reading::diff(file, diff, children).await,
        Some(Verb::Report(report)) => reading::report(file, report, children).await,
        Some(Verb::Badge(badge)) => reading::badge(file, badge, children).await,
        Some(Verb::Hold(hold)) => changing::hold(file, hold, children).await,
        Some(Verb::Release(server)) => changing::release(file, server, children).await,
        Some(Verb::Waive(waive)) => changing::waive(file, waive, children).await,
        Some(Verb::Note(note)) => changing::note(file, note, children).await,
        Some(Verb::Deliver(deliver)) => running::deliver(file, deliver, children).await,
        Some(Verb::Gc(gc)) => changing::collect(file, gc, children).await,
    }
}

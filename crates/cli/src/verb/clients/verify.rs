//! Connects to what `proof add` wrote: each entry as its client reads it.

use clients::{Launch, Scope, plan, text};

use super::connect::Greetings;
use super::machine::{Machine, is_terminal};
use super::outcome::{Done, Report};
use super::{files, syntax};
use crate::args::clients::AddArgs;
use crate::exit::{Exit, tell};
use crate::run::Run;

/// What comes after the change.
pub(super) enum Step {
    Skip,
    Connect,
}

/// Whether to connect. What a stranger describes is not started where nobody could be asked.
pub(super) fn step(args: &AddArgs, is_stranger: bool) -> Step {
    if args.no_verify {
        return Step::Skip;
    }
    if is_stranger && !is_terminal() {
        tell("note: not connected, because nobody could be asked; `proof doctor NAME` does it");
        return Step::Skip;
    }
    Step::Connect
}

/// Connects to the server of each entry; equal ones once.
pub(super) fn entries(run: &Run, args: &AddArgs, machine: &Machine, report: &Report) -> Exit {
    let mut greetings = Greetings::new(run, args.timeout);
    let (mut told, mut worst) = (Vec::new(), Exit::Clean);
    let mut say = |line: String, is_note: bool| {
        if told.contains(&line) {
            return;
        }
        // The one document on stdout stays alone.
        if args.showing.json || is_note {
            tell(&line);
        } else {
            let _ = crate::verb::output::print(&format!("{}\n", wire::escape::line(&line)));
        }
        told.push(line);
    };
    for done in &report.done {
        let greeted = launch(machine, done).and_then(|(launch, cwd)| greetings.greet(&launch, &cwd));
        match greeted {
            Err(why) => say(format!("note: {}: not connected: {why}", done.client.id), true),
            Ok(Ok(greeted)) => {
                say(greeted.line(), false);
                if greeted.is_channel() {
                    let what = "note: this server is a channel: start Claude Code with --channels to get its messages";
                    say(what.to_owned(), true);
                }
            }
            Ok(Err(exit)) => {
                let what =
                    "note: the entry is written, but the server does not answer; `proof undo` takes the entry back";
                say(what.to_owned(), true);
                worst = exit;
            }
        }
    }
    worst
}

/// How the client reaches the server, as its file says now. `Err` says why it does not.
fn launch(machine: &Machine, done: &Done) -> Result<(Launch, std::path::PathBuf), String> {
    let gone = || "the entry is not there any more".to_owned();
    let content = files::read(&done.path).map_err(|error| error.to_string())?.ok_or_else(gone)?;
    let value = text::read(&content, done.client.format).map_err(|error| error.what)?;
    let here = machine.local_project();
    // Servers of one project alone stand in the user's file.
    let file = if done.scope == Scope::Project { Scope::Project } else { Scope::User };
    let held = plan::held(done.client, file, &value).into_iter().find(|held| {
        held.name == done.server
            && held.scope == done.scope
            && held.project.as_deref().is_none_or(|project| project == here)
    });
    let held = held.ok_or_else(gone)?;
    if let Some(why) = syntax::foreign(done.client, &held.value).into_iter().next() {
        return Err(why);
    }
    let launch = Launch::of_entry(&held.value).ok_or_else(gone)?;
    Ok((launch, syntax::folder(&held.value, &machine.project)))
}

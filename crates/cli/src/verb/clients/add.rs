//! `proof add`: a server into the files of clients.

use std::io::IsTerminal as _;

use clap::Parser;
use clients::Launch;
use clients::plan::Manner;
use clients::text::Format;
use wire::redact::Secrets;

use super::drafts::Drafts;
use super::journal::Journal;
use super::machine::{Machine, answer};
use super::outcome::Report;
use super::target::Target;
use super::write::{Stop, Wish};
use super::{connect, secrets, target};
use crate::args::clients::AddArgs;
use crate::args::lock::LockArgs;
use crate::exit::{self, Exit, prompt, tell, usage};
use crate::run::Run;

/// Adds the server.
pub(crate) fn run(run: &Run, args: &AddArgs) -> Exit {
    let exit = added(run, args).unwrap_or_else(|exit| exit);
    run.children.kill_all();
    exit
}

fn added(run: &Run, args: &AddArgs) -> Result<Exit, Exit> {
    let mut known = given(args);
    exit::conceal(run.redactor_of(&known).masked());
    let target = target::read(args)?;
    target.launches.iter().for_each(|launch| add_secrets(launch, &mut known));
    exit::conceal(run.redactor_of(&known).masked());
    let machine = Machine::here()?;
    let clients = machine.chosen(&args.selection)?;
    let journal = Journal::of(&machine);
    let locked = if args.showing.dry_run { None } else { Some(journal.lock()?) };
    let (mut drafts, mut report) = (Drafts::default(), Report::default());
    let scope = args.selection.scope.or(target.scope);
    let manner = if args.force { Manner::Replace } else { Manner::Merge };
    let wish = Wish { name: &target.name, launches: &target.launches, scope, manner };
    let mut agree = |client: &clients::Client, places: &[String]| agreed(args, &client.name, places);
    for client in clients {
        match wish.plan(&machine, &mut drafts, client, &mut agree) {
            Ok(done) => report.done.push(done),
            Err(Stop::Refused(refused)) => report.refused.push(refused),
            Err(Stop::Exit(exit)) => return Err(exit),
        }
    }
    conceal_files(run, known, &drafts);
    if matches!(target.launches[..], [Launch::Remote { transport: clients::server::Transport::Sse, .. }]) {
        tell("warning: HTTP+SSE is deprecated; leave --transport sse out if the server has Streamable HTTP");
    }
    if !args.showing.dry_run {
        drafts.write(&journal, &format!("add {}", target.name))?;
    }
    report.print(&drafts, args.showing.dry_run, args.showing.json)?;
    if args.showing.dry_run || report.done.is_empty() {
        return Ok(report.exit());
    }
    drop(locked);
    let verified =
        if args.no_verify { Exit::Clean } else { verify(run, &machine, &target.launches, args.showing.json) };
    let locked = if args.lock && verified == Exit::Clean { lock(run, &target)? } else { Exit::Clean };
    Ok([report.exit(), verified, locked].into_iter().find(|exit| *exit != Exit::Clean).unwrap_or(Exit::Clean))
}

/// What is secret on the command line.
fn given(args: &AddArgs) -> Secrets {
    let mut known = Secrets::default();
    for (name, value) in args.env.iter().filter_map(|text| text.split_once('=')) {
        if !clients::reference::has_variable(value) {
            known.handed_variable(name, value);
        }
    }
    for (name, value) in args.header.iter().filter_map(|text| text.split_once(':')) {
        if !clients::reference::has_variable(value) {
            known.header(name, value);
        }
    }
    known.arguments(args.command.iter().map(String::as_str));
    known.address(
        args.url.as_deref().or(args.target.as_deref()).filter(|text| text.contains("://")).unwrap_or_default(),
    );
    known
}

/// Adds what is secret of a server, and the values that its references have here.
pub(super) fn add_secrets(launch: &Launch, known: &mut Secrets) {
    for (place, text) in launch.texts() {
        let name = place.split_once('.').map_or("", |(_, name)| name);
        if !clients::reference::has_variable(text) {
            match place.split('.').next() {
                Some("env") => known.handed_variable(name, text),
                Some("headers") => known.header(name, text),
                Some("url") => known.address(text),
                _ => known.arguments([text]),
            }
            continue;
        }
        for part in clients::reference::parts(text) {
            if let clients::reference::Part::Variable { name, .. } = part
                && let Ok(value) = std::env::var(name)
            {
                known.add(&value);
            }
        }
    }
}

/// Conceals the secrets of all files that may be shown.
pub(super) fn conceal_files(run: &Run, mut known: Secrets, drafts: &Drafts) {
    for (path, text) in drafts.texts() {
        secrets::add_all(text, Format::of_path(path), &mut known);
    }
    exit::conceal(run.redactor_of(&known).masked());
}

/// Asks whether secrets may stand in clear; without a terminal, the option must have said so.
fn agreed(args: &AddArgs, client: &str, places: &[String]) -> Result<bool, Exit> {
    if args.clear_secrets || args.showing.dry_run {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(false);
    }
    prompt(&format!(
        "{client} has no reference for these, so they would stand in clear in its file: {}. Write them? [y/N] ",
        places.join(", ")
    ));
    Ok(matches!(answer()?.as_str(), "y" | "Y" | "yes"))
}

/// Connects once, as a client would.
fn verify(run: &Run, machine: &Machine, launches: &[Launch], as_json: bool) -> Exit {
    let Some(launch) = launches.first() else { return Exit::Clean };
    let address = match connect::address(launch, Some(&machine.project)) {
        Ok(address) => address,
        Err(why) => {
            tell(format_args!("note: not connected: {why}"));
            return Exit::Clean;
        }
    };
    match connect::greet(run, address) {
        Ok(greeted) => {
            let line = greeted.line();
            // The one document on stdout stays alone.
            if as_json {
                tell(&line);
            } else {
                let _ = crate::verb::output::print(&format!("{}\n", wire::escape::line(&line)));
            }
            if greeted.is_channel() {
                tell("note: this server is a channel: start Claude Code with --channels to get its messages");
            }
            Exit::Clean
        }
        Err(exit) => {
            tell("note: the entry is written, but the server does not answer; `proof undo` takes the entry back");
            exit
        }
    }
}

/// The options of `proof lock`.
#[derive(Parser)]
struct Locking {
    #[command(flatten)]
    lock: LockArgs,
}

/// Locks what the server tells the model.
fn lock(run: &Run, target: &Target) -> Result<Exit, Exit> {
    let mut words = vec!["proof".to_owned(), "--name".to_owned(), target.name.clone()];
    let server = target.launches.first().map(|launch| target.server(launch));
    let address = server.as_ref().map(|server| connect::address(&server.launch, None));
    match address {
        Some(Ok(net::client::Address::Stdio(command))) => {
            words.extend(
                command.env.into_iter().flat_map(|(name, value)| ["--env".to_owned(), format!("{name}={value}")]),
            );
            words.extend(["--".to_owned(), command.program]);
            words.extend(command.args);
        }
        Some(Ok(
            net::client::Address::Http(http) | net::client::Address::Sse(http) | net::client::Address::WebSocket(http),
        )) => {
            words.extend(
                http.headers.into_iter().flat_map(|(name, value)| ["--header".to_owned(), format!("{name}: {value}")]),
            );
            words.push(http.url.into());
        }
        Some(Err(why)) => {
            return Err(usage(&format!("the server is not locked: {why}"), "set it, then run `proof lock`"));
        }
        None => return Ok(Exit::Clean),
    }
    let options = Locking::try_parse_from(words)
        .map_err(|_| usage("the server is not locked: its command is unusual", "run `proof lock`"))?;
    Ok(crate::verb::lock::run(run, &options.lock))
}

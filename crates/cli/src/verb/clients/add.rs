//! `proof add`: a server into the files of clients.

use clap::Parser;
use clients::plan::Manner;
use clients::text::Format;
use clients::{Client, Launch};
use wire::redact::Secrets;

use super::drafts::Drafts;
use super::journal::Journal;
use super::machine::{Machine, answer, is_terminal};
use super::outcome::Report;
use super::target::Target;
use super::write::{Agree, Stop, Wish};
use super::{connect, secrets, strangers, target, verify};
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
    let is_stranger = args.registry.is_some();
    if is_stranger {
        strangers::show(&target);
        if !args.showing.dry_run && !strangers::agreed()? {
            return Err(usage("nothing was added", "add its command by hand, after `--`"));
        }
    }
    // Questions come before the lock: another `proof` does not wait for a person.
    let mut answers = Vec::new();
    let mut agree = |client: &Client, places: &[String]| {
        let answer = agreed(args, &client.name, places)?;
        answers.push((client.id.clone(), places.to_vec(), answer));
        Ok(answer)
    };
    let (mut drafts, mut report) = planned(args, &target, &machine, &clients, &mut agree)?;
    let journal = Journal::of(&machine);
    let locked = if args.showing.dry_run { None } else { Some(journal.lock()?) };
    if locked.is_some() {
        let mut agree = |client: &Client, places: &[String]| {
            let same = answers.iter().find(|(id, asked, _)| *id == client.id && asked == places);
            Ok(same.is_some_and(|(.., answer)| *answer))
        };
        (drafts, report) = planned(args, &target, &machine, &clients, &mut agree)?;
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
    let verified = match verify::step(args, is_stranger) {
        verify::Step::Skip => Exit::Clean,
        verify::Step::Connect => verify::entries(run, args, &machine, &report),
    };
    let locked = if args.lock && verified == Exit::Clean { lock(run, &target)? } else { Exit::Clean };
    Ok([report.exit(), verified, locked].into_iter().find(|exit| *exit != Exit::Clean).unwrap_or(Exit::Clean))
}

/// What the change will be. Writes nothing.
fn planned(
    args: &AddArgs,
    target: &Target,
    machine: &Machine,
    clients: &[&'static Client],
    agree: Agree<'_>,
) -> Result<(Drafts, Report), Exit> {
    let (mut drafts, mut report) = (Drafts::default(), Report::default());
    let scope = args.selection.scope.or(target.scope);
    let manner = if args.force { Manner::Replace } else { Manner::Merge };
    let wish = Wish { name: &target.name, launches: &target.launches, scope, manner };
    for client in clients {
        match wish.plan(machine, &mut drafts, client, agree) {
            Ok(done) => report.done.push(done),
            Err(Stop::Refused(refused)) => report.refused.push(refused),
            Err(Stop::Exit(exit)) => return Err(exit),
        }
    }
    Ok((drafts, report))
}

/// What is secret on the command line.
fn given(args: &AddArgs) -> Secrets {
    let mut known = Secrets::default();
    for (name, value) in args.env.iter().filter_map(|text| text.split_once('=')) {
        if !clients::reference::has_variable(value) {
            secrets::add_variable(name.trim(), value, &mut known);
        }
    }
    for (name, value) in args.header.iter().filter_map(|text| text.split_once(':')) {
        if !clients::reference::has_variable(value) {
            secrets::add_header(name.trim(), value, &mut known);
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
                Some("env") => secrets::add_variable(name, text, known),
                Some("headers") => secrets::add_header(name, text, known),
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
    for (path, text) in drafts.texts_before() {
        secrets::add_all(text, Format::of_path(path), &mut known);
    }
    for (path, text) in drafts.texts_now() {
        secrets::add_written(text, Format::of_path(path), &mut known);
    }
    exit::conceal(run.redactor_of(&known).masked());
}

/// Asks whether secrets may stand in clear; without a terminal, the option must have said so.
fn agreed(args: &AddArgs, client: &str, places: &[String]) -> Result<bool, Exit> {
    if args.clear_secrets {
        return Ok(true);
    }
    if !is_terminal() || args.showing.dry_run {
        return Ok(is_terminal());
    }
    prompt(&format!(
        "{client} has no reference for these, so they would stand in clear in its file: {}. Write them? [y/N] ",
        places.join(", ")
    ));
    Ok(matches!(answer()?.as_str(), "y" | "Y" | "yes"))
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

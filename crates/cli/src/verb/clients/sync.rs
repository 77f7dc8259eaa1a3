//! `proof sync`: one declared list of servers into many clients.

use clients::plan::Manner;
use clients::server::Transport;
use clients::text::{Format, read};
use clients::{Client, Launch, check, find};
use serde_json::Value;
use wire::redact::Secrets;

use super::add::{add_secrets, conceal_files};
use super::drafts::Drafts;
use super::journal::Journal;
use super::machine::Machine;
use super::outcome::Report;
use super::write::{Stop, Wish};
use crate::args::clients::SyncArgs;
use crate::exit::{Exit, usage};
use crate::run::Run;
use crate::verb::{given_file, output};

/// The largest list.
const LARGEST: u64 = 4 << 20;

/// What a list looks like.
const SHAPE: &str = "`servers:` with a name and a `command` or a `url` for each";

/// A declared list.
struct Declared {
    clients: Vec<String>,
    servers: Vec<(String, Launch)>,
}

/// Brings the list into clients.
pub(crate) fn run(run: &Run, args: &SyncArgs) -> Exit {
    synced(run, args).unwrap_or_else(|exit| exit)
}

fn synced(run: &Run, args: &SyncArgs) -> Result<Exit, Exit> {
    let declared = declared(args)?;
    let machine = Machine::here()?;
    let clients = if args.selection.client.is_empty() && !args.selection.all && !declared.clients.is_empty() {
        Machine::named(&declared.clients)?
    } else {
        machine.chosen(&args.selection)?
    };
    let is_dry = args.check || args.showing.dry_run;
    let journal = Journal::of(&machine);
    let _locked = if is_dry { None } else { Some(journal.lock()?) };
    let (mut drafts, mut report) = (Drafts::default(), Report::default());
    let mut agree = |_: &Client, _: &[String]| Ok(args.clear_secrets || is_dry);
    let mut known = Secrets::default();
    for (name, launch) in &declared.servers {
        add_secrets(launch, &mut known);
        let launches = std::slice::from_ref(launch);
        let wish = Wish { name, launches, scope: args.selection.scope, manner: Manner::Declare };
        for client in &clients {
            match wish.plan(&machine, &mut drafts, client, &mut agree) {
                Ok(done) => report.done.push(done),
                Err(Stop::Refused(refused)) => report.refused.push(refused),
                Err(Stop::Exit(exit)) => return Err(exit),
            }
        }
    }
    conceal_files(run, known, &drafts);
    if !is_dry {
        drafts.write(&journal, "sync")?;
    }
    report.print(&drafts, is_dry, args.showing.json)?;
    let has_drift = !drafts.is_empty() || report.refused.iter().any(|one| one.is_drift);
    Ok(if args.check && has_drift { Exit::Finding } else { report.exit() })
}

fn declared(args: &SyncArgs) -> Result<Declared, Exit> {
    let shown = output::shown(&args.file);
    let broken = |why: &str, remedy: &str| usage(&format!("{shown}: {}", wire::escape::line(why)), remedy);
    let text = given_file::text(&args.file, LARGEST)
        .map_err(|error| broken(&error.to_string(), "check the path and its permissions"))?;
    let value = read(&text, Format::of_path(&args.file)).map_err(|error| {
        let at = error.at.map(|at| format!("{}:{}: ", at.line, at.column)).unwrap_or_default();
        broken(&format!("{at}{}", error.what), &error.remedy)
    })?;
    let top = value.as_object().ok_or_else(|| broken("it is no mapping", SHAPE))?;
    if let Some(unknown) = top.keys().find(|key| !matches!(key.as_str(), "clients" | "servers")) {
        return Err(broken(&format!("unknown key `{unknown}`"), "`clients` and `servers` are known"));
    }
    let servers = top.get("servers").and_then(Value::as_object).filter(|servers| !servers.is_empty());
    let servers = servers.ok_or_else(|| broken("it declares no servers", SHAPE))?;
    let servers = servers.iter().map(|(name, entry)| {
        let checked = launch(entry).and_then(|launch| {
            check::name(name).and_then(|()| check::launch(&launch)).map_err(|invalid| invalid.what)?;
            Ok((name.clone(), launch))
        });
        checked.map_err(|why| broken(&format!("server `{name}`: {why}"), SHAPE))
    });
    let clients = match top.get("clients") {
        None => Vec::new(),
        Some(Value::Array(names)) => names.iter().map(|name| name.as_str().unwrap_or_default().to_owned()).collect(),
        Some(_) => return Err(broken("`clients` is no list", "clients: [claude-code, cursor]")),
    };
    if let Some(unknown) = clients.iter().find(|name| find(name).is_none()) {
        return Err(broken(&format!("unknown client `{unknown}`"), "`proof clients` lists all"));
    }
    Ok(Declared { clients, servers: servers.collect::<Result<_, _>>()? })
}

/// A server of the list. Unlike a client's file, it has no members that are not understood.
fn launch(entry: &Value) -> Result<Launch, String> {
    let members = entry.as_object().ok_or("it is no mapping")?;
    let text = |key: &str| {
        members.get(key).map(|value| value.as_str().map(str::to_owned).ok_or(format!("`{key}` is no text"))).transpose()
    };
    let pairs = |key: &str| match members.get(key) {
        None => Ok(Vec::new()),
        Some(Value::Object(pairs)) => pairs
            .iter()
            .map(|(name, value)| {
                Ok((name.clone(), value.as_str().ok_or(format!("`{key}.{name}` is no text; quote it"))?.to_owned()))
            })
            .collect(),
        Some(_) => Err(format!("`{key}` is no mapping")),
    };
    let known: &[&str] =
        if members.contains_key("url") { &["url", "transport", "headers"] } else { &["command", "args", "env"] };
    if let Some(unknown) = members.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!("`{unknown}` is not one of {}", known.join(", ")));
    }
    if let Some(url) = text("url")? {
        let transport = match text("transport")?.as_deref() {
            None | Some("http") => Transport::Http,
            Some("sse") => Transport::Sse,
            Some(_) => return Err("`transport` is http or sse".to_owned()),
        };
        return Ok(Launch::Remote { transport, url, headers: pairs("headers")? });
    }
    let command = text("command")?.ok_or("it has neither `command` nor `url`")?;
    let args = match members.get("args") {
        None => Vec::new(),
        Some(Value::Array(words)) => words
            .iter()
            .map(|word| {
                word.as_str().map(str::to_owned).ok_or("`args` holds something that is no text; quote it".to_owned())
            })
            .collect::<Result<_, _>>()?,
        Some(_) => return Err("`args` is no list".to_owned()),
    };
    Ok(Launch::Stdio { command, args, env: pairs("env")? })
}

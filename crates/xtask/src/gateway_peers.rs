//! `cargo xtask gateway-peers`: real servers, the same generated calls directly and through the gateway. Results are compared
//! byte for byte; between two eras after the edits that the translation declares.
//!
//! This module is the order of events. It knows nothing of processes ([`session`]) or of what is compared ([`compare`]).

mod calls;
mod compare;
mod grafana;
mod servers;
mod session;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::gateway_matrix::build;
use crate::peers::Home;
use crate::words::{Words, help};
use crate::{Verdict, page, root};
use calls::{Made, calls};
use compare::{Comparison, Varies};
use servers::{SERVERS, Server};
use session::{Answer, Session};

const USAGE: &str = "usage: cargo xtask gateway-peers [--only NAME] [--calls N] [--seed N] [--check] [--gateway PATH]

  --only NAME      this server only; may be repeated
  --calls N        calls of each server (default: 1000)
  --seed N         the seed of the calls (default: 1)
  --check          write nothing to docs/gateway-conformance.md
  --gateway PATH   use this binary instead of building `proof-gateway` first";

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

struct Options {
    only: Vec<String>,
    calls: usize,
    seed: u64,
    check: bool,
    gateway: Option<PathBuf>,
}

/// What one pair of revisions came to.
#[derive(Debug, Default)]
struct Row {
    server: &'static str,
    /// Over stdio or HTTP.
    over: &'static str,
    behind: &'static str,
    client: &'static str,
    equal: usize,
    edited: usize,
    lost: usize,
    spelling: usize,
    varies: usize,
    different: Vec<String>,
    /// What varies by itself, by tool.
    which: BTreeMap<String, BTreeSet<String>>,
}

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let mut options = Options { only: Vec::new(), calls: 1000, seed: 1, check: false, gateway: None };
    let mut words = Words::of(args, USAGE);
    while let Some(option) = words.option() {
        match option {
            "--only" => options.only.push(words.value()?.to_owned()),
            "--calls" => options.calls = words.number()?,
            "--seed" => options.seed = words.number()?,
            "--check" => options.check = true,
            "--gateway" => options.gateway = Some(words.value()?.into()),
            _ => return Err(words.unknown()),
        }
    }
    let unknown = options.only.iter().find(|name| SERVERS.iter().all(|server| server.name != **name));
    ensure!(unknown.is_none(), "there is no server {unknown:?}");
    let gateway = match &options.gateway {
        Some(path) => path.canonicalize().with_context(|| format!("--gateway {}", path.display()))?,
        None => build()?,
    };
    let home = Home::new(&root());
    let mut rows = Vec::new();
    let mut complaints = Vec::new();
    for server in SERVERS.iter().filter(|one| options.only.is_empty() || options.only.iter().any(|n| n == one.name)) {
        match server_rows(&home, &gateway, server, &options) {
            Ok(found) => rows.extend(found),
            Err(error) => complaints.push(format!("{}: {error:#}", server.name)),
        }
    }
    for row in &rows {
        let different = row.different.iter();
        complaints.extend(
            different.map(|what| format!("{} ({} → {} over {}): {what}", row.server, row.client, row.behind, row.over)),
        );
    }
    let text = section(&rows, &options);
    println!("\n{text}");
    for complaint in &complaints {
        println!("DIFFERENT  {complaint}");
    }
    if options.only.is_empty() && !options.check && complaints.is_empty() {
        page::write(page::PEERS, &text)?;
    }
    Ok(complaints.is_empty())
}

/// Every pair of revisions of one server, over stdio and, where it has that, over HTTP.
fn server_rows(home: &Home, gateway: &Path, server: &'static Server, options: &Options) -> anyhow::Result<Vec<Row>> {
    let place = servers::Place::new(home, server)?;
    let command = place.command(home, server.command);
    let through = |revision: &str, behind: &[String]| {
        let own = [&*gateway.to_string_lossy(), "--stdio", "--revision", revision].map(str::to_owned);
        [&own, behind].concat()
    };
    let mut as_child: Vec<_> = place.inherited().flat_map(|name| ["--inherit-env", name].map(str::to_owned)).collect();
    as_child.push("--".to_owned());
    as_child.extend(command.iter().cloned());
    let mut rows = Vec::new();
    for behind in server.revisions {
        let tools = place.open(&command, behind)?.tools()?;
        let calls = calls(server, &place, &tools, options.calls, options.seed);
        let direct = played(&place, &command, behind, &calls)?;
        let varies = Varies::between(&calls, &direct, &played(&place, &command, behind, &calls)?);
        for client in [*behind, if *behind == LEGACY { MODERN } else { LEGACY }] {
            let pair = Row { server: server.name, over: "stdio", behind, client, ..Row::default() };
            let came = played(&place, &through(behind, &as_child), client, &calls)?;
            rows.push(compared(pair, &calls, (&direct, &came), &varies));
            if server.http.is_empty() {
                continue;
            }
            let (running, url) = place.listening(home, server)?;
            let pair = Row { server: server.name, over: "HTTP", behind, client, ..Row::default() };
            let came = played(&place, &through(behind, &[url]), client, &calls)?;
            drop(running);
            rows.push(compared(pair, &calls, (&direct, &came), &varies));
        }
    }
    Ok(rows)
}

/// Fills in what was compared.
fn compared(mut row: Row, calls: &[Made], (direct, came): (&[Answer], &[Answer]), varies: &Varies) -> Row {
    row.which.clone_from(&varies.which);
    for (at, call) in calls.iter().enumerate() {
        // Over HTTP the server was not started by the gateway: its environment is another one.
        if row.over == "HTTP" && call.name == "get-env" {
            continue;
        }
        match compare::compare(&direct[at], &came[at], varies.at(at), row.behind == row.client) {
            Comparison::Equal => row.equal += 1,
            Comparison::Edited => row.edited += 1,
            Comparison::Lost => row.lost += 1,
            Comparison::Varies => row.varies += 1,
            // What is expected came over stdio: over HTTP, a server may spell its texts otherwise.
            Comparison::Spelling(_) if row.over == "HTTP" => row.spelling += 1,
            Comparison::Spelling(how) | Comparison::Different(how) => {
                row.different.push(format!("{}: {how}", call.shown()));
            }
        }
    }
    let Row { server, over, behind, client, equal, edited, lost, spelling, varies, different, .. } = &row;
    let different = different.len();
    println!(
        "{server:<18} {over:<5} client {client}, server {behind}: {equal} equal, {edited} after edits, {lost} lost, \
         {spelling} in another spelling, {varies} vary, {different} different"
    );
    row
}

/// The answers of a server that begins with fresh files.
fn played(place: &servers::Place, command: &[String], revision: &str, calls: &[Made]) -> anyhow::Result<Vec<Answer>> {
    place.refresh()?;
    let mut session: Session = place.open(command, revision)?;
    calls.iter().map(|call| session.ask("tools/call", call.params()).with_context(|| call.shown())).collect()
}

fn section(rows: &[Row], options: &Options) -> String {
    let mut text = format!(
        "## Real servers\n\nBy `cargo xtask gateway-peers`: {} calls of each server, made from the schemas of its tools with \
         seed {} (one in five\nlacks an argument or names no tool), directly and through the gateway. *Equal*: the result or \
         error is the same text. *Edited*: every\nmember is the same text but for those that the translation adds or removes \
         between the eras. *Lost*: the result names the row of\n[gateway-translation.md](gateway-translation.md). *Spelling*: \
         the same values; what is expected came over stdio, and the server spells\ncharacters otherwise over HTTP.\n\n\
         | server | client | server's revision | over | equal | edited | lost | spelling | varies | different |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
        options.calls, options.seed
    );
    for row in rows {
        let Row { server, client, behind, over, equal, edited, lost, spelling, varies, different, .. } = row;
        let different = different.len();
        let _ = writeln!(
            text,
            "| {server} | {client} | {behind} | {over} | {equal} | {edited} | {lost} | {spelling} | {varies} | {different} |"
        );
    }
    text.push_str("\nWhat varies by itself, found by two direct plays, and was left out of the comparison:\n\n");
    let mut which: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for (row, (tool, members)) in rows.iter().flat_map(|row| row.which.iter().map(move |which| (row, which))) {
        which.entry((row.server, tool)).or_default().extend(members.iter().map(String::as_str));
    }
    for ((server, tool), members) in &which {
        let members: Vec<_> = members.iter().copied().collect();
        let _ = writeln!(text, "- {server}, `{tool}`: {}", members.join(", "));
    }
    if which.is_empty() {
        text.push_str("- nothing\n");
    }
    text.push_str("\nNot called:\n\n");
    for (server, (tool, why)) in SERVERS.iter().flat_map(|server| server.left_out.iter().map(move |out| (server, out)))
    {
        let _ = writeln!(text, "- {}, `{tool}`: {why}", server.name);
    }
    text
}

/// The name of a tool.
fn name_of(tool: &Value) -> &str {
    tool["name"].as_str().unwrap_or_default()
}

//! `cargo xtask gateway-clients`: real clients in front of our server, directly and through a gateway whose server speaks one
//! revision. Each prints what it sees, a line for each step; the lines must be the same, except for what
//! `peers/gateway-clients.json` explains.
//!
//! Knows nothing of what a step is: that is each client's (`peers/`, the scenario `crossing`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::gateway_matrix::build;
use crate::peers::{Home, proof};
use crate::served::Served;
use crate::words::{Words, help};
use crate::{Verdict, page, root};

const USAGE: &str = "usage: cargo xtask gateway-clients [--only NAME] [--check] [--proof PATH] [--gateway PATH]

  --only NAME      this client only; may be repeated
  --check          write nothing to docs/gateway-conformance.md
  --proof PATH     use this binary instead of building `proof` first
  --gateway PATH   use this binary instead of building `proof-gateway` first";

const KNOWN: &str = "gateway-clients.json";
const BEHIND: [&str; 2] = ["2026-07-28", "2025-11-25"];

/// A client and the command lines that it is run with; `{url}` stands for the server.
struct Client {
    name: &'static str,
    era: &'static str,
    commands: &'static [&'static [&'static str]],
}

const fn client(name: &'static str, era: &'static str, commands: &'static [&'static [&'static str]]) -> Client {
    Client { name, era, commands }
}

macro_rules! inspector {
    ($era:literal, $($word:literal),+) => {
        &[
            "{node}",
            "{modules}/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
            "--cli",
            "{url}",
            "--protocol-era",
            $era,
            "--method",
            $($word),+
        ]
    };
}

macro_rules! inspectors {
    ($era:literal) => {
        &[
            inspector!($era, "tools/list"),
            inspector!($era, "resources/list"),
            inspector!($era, "prompts/list"),
            inspector!($era, "tools/call", "--tool-name", "echo", "--tool-arg", "message=Grüße"),
            inspector!($era, "tools/call", "--tool-name", "get_everything"),
            inspector!($era, "resources/read", "--uri", "proof://docs/readme"),
        ]
    };
}

const CLIENTS: &[Client] = &[
    client("TypeScript SDK 1", "legacy", &[&["{node}", "{scripts}/ts-sdk1-client.mjs", "legacy", "{url}"]]),
    client("TypeScript SDK 2", "legacy", &[&["{node}", "{scripts}/ts-sdk-client.mjs", "legacy", "{url}"]]),
    client("TypeScript SDK 2", "modern", &[&["{node}", "{scripts}/ts-sdk-client.mjs", "modern", "{url}"]]),
    client("Python SDK", "legacy", &[&["{python}", "{peers}/py_client.py", "legacy", "{url}"]]),
    client("Python SDK", "modern", &[&["{python}", "{peers}/py_client.py", "modern", "{url}"]]),
    client("rmcp", "legacy", &[&["{rust}/rmcp-client", "legacy", "{url}"]]),
    client("rmcp", "modern", &[&["{rust}/rmcp-client", "modern", "{url}"]]),
    client("fastmcp", "modern", &[&["{python}", "{peers}/py_fastmcp_client.py", "{url}"]]),
    client("langchain-mcp-adapters", "legacy", &[&["{programs1}/python", "{peers}/py_langchain_client.py", "{url}"]]),
    client("Inspector CLI", "legacy", inspectors!("legacy")),
    client("Inspector CLI", "modern", inspectors!("modern")),
];

/// What a client saw, in order.
type Seen = Vec<(String, Value)>;

/// A client in front of one server.
struct Row {
    client: &'static Client,
    behind: &'static str,
    same: usize,
    varies: BTreeSet<String>,
    known: BTreeMap<String, usize>,
    different: Vec<String>,
}

#[derive(Default)]
struct Options {
    only: Vec<String>,
    check: bool,
    proof: Option<PathBuf>,
    gateway: Option<PathBuf>,
}

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let mut options = Options::default();
    let mut words = Words::of(args, USAGE);
    while let Some(option) = words.option() {
        match option {
            "--only" => options.only.push(words.value()?.to_owned()),
            "--check" => options.check = true,
            "--proof" => options.proof = Some(words.value()?.into()),
            "--gateway" => options.gateway = Some(words.value()?.into()),
            _ => return Err(words.unknown()),
        }
    }
    let known = known()?;
    let proof = proof(options.proof.as_deref())?;
    let gateway = match &options.gateway {
        Some(path) => path.canonicalize().with_context(|| format!("--gateway {}", path.display()))?,
        None => build()?,
    };
    let home = Home::new(&root());
    home.install_corpus()?;
    let chosen = |client: &&Client| options.only.is_empty() || options.only.iter().any(|name| name == client.name);
    let (mut rows, mut complaints) = (Vec::new(), Vec::new());
    for client in CLIENTS.iter().filter(chosen) {
        match client_rows(&home, (&proof, &gateway), client, &known) {
            Ok(found) => rows.extend(found),
            Err(error) => complaints.push(format!("{} ({}): {error:#}", client.name, client.era)),
        }
    }
    ensure!(!rows.is_empty() || !complaints.is_empty(), "no client is called so");
    for row in &rows {
        let place = format!("{} ({}), server {}", row.client.name, row.client.era, row.behind);
        complaints.extend(row.different.iter().map(|what| format!("{place}: {what}")));
    }
    let text = section(&rows);
    println!("\n{text}");
    for complaint in &complaints {
        println!("DIFFERENT  {complaint}");
    }
    if options.only.is_empty() && !options.check && complaints.is_empty() {
        page::write(page::CLIENTS, &text)?;
    }
    Ok(complaints.is_empty())
}

/// What may differ: the beginning of a step, the revision of the server, the row and the reason.
fn known() -> anyhow::Result<Vec<Value>> {
    let path = root().join("peers").join(KNOWN);
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let value: Value = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    value.as_array().cloned().context("no list")
}

fn client_rows(
    home: &Home,
    (proof, gateway): (&Path, &Path),
    client: &'static Client,
    known: &[Value],
) -> anyhow::Result<Vec<Row>> {
    let mut serve = Command::new(proof);
    serve.args(["serve", "--http", "127.0.0.1:0"]);
    let server = Served::start(serve)?;
    let direct = seen(home, client, server.url())?;
    let again = seen(home, client, server.url())?;
    ensure!(direct.len() > 3, "it saw only {} steps", direct.len());
    let mut rows = Vec::new();
    for behind in BEHIND {
        let mut command = Command::new(gateway);
        command.args(["--http", "127.0.0.1:0", "--revision", behind, server.url()]);
        let through = Served::start(command)?;
        let came = seen(home, client, through.url())?;
        let row = compared(client, behind, (&direct, &again), &came, known);
        println!(
            "{:<24} {} era, server {behind}: {} the same, {} known, {} different",
            client.name,
            client.era,
            row.same,
            row.known.values().sum::<usize>(),
            row.different.len()
        );
        rows.push(row);
    }
    Ok(rows)
}

/// Runs a client and reads its lines.
fn seen(home: &Home, client: &Client, url: &str) -> anyhow::Result<Seen> {
    let mut seen = Vec::new();
    for command in client.commands {
        let words = home.filled(command);
        let (program, words) = words.split_first().context("no command")?;
        let words: Vec<_> = words.iter().map(|word| word.replace("{url}", url)).collect();
        let mut process = Command::new("timeout");
        process.arg("120").arg(program).args(&words).env("PROOF_SCENARIO", "crossing").env("HOME", home.files());
        let output = process.stdin(Stdio::null()).output().with_context(|| format!("cannot start {program}"))?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        let last: Vec<_> = stderr.lines().rev().take(4).collect();
        ensure!(output.status.success(), "{} ended with {}: {}", client.name, output.status, last.join(" / "));
        let stdout = String::from_utf8_lossy(&output.stdout);
        if client.commands.len() > 1 {
            let value: Value = serde_json::from_str(&stdout).context("it prints no JSON")?;
            let method: Vec<_> = words.iter().skip_while(|word| *word != "--method").skip(1).cloned().collect();
            seen.extend(steps(&method.join(" "), value));
            continue;
        }
        for line in stdout.lines().filter(|line| line.starts_with('{')) {
            let mut step: Value = serde_json::from_str(line).with_context(|| format!("not a step: {line}"))?;
            seen.push((step["step"].as_str().unwrap_or_default().to_owned(), step["value"].take()));
        }
    }
    Ok(seen)
}

/// A list is a step for each item.
fn steps(name: &str, value: Value) -> Seen {
    let list = ["tools", "resources", "prompts"].iter().find_map(|member| value[*member].as_array());
    let Some(items) = list else { return vec![(name.to_owned(), value)] };
    let of = |item: &Value| item["uri"].as_str().or(item["name"].as_str()).unwrap_or_default().to_owned();
    items.iter().map(|item| (format!("{name} {}", of(item)), item.clone())).collect()
}

fn compared(
    client: &'static Client,
    behind: &'static str,
    (direct, again): (&Seen, &Seen),
    came: &Seen,
    known: &[Value],
) -> Row {
    let mut row =
        Row { client, behind, same: 0, varies: BTreeSet::new(), known: BTreeMap::new(), different: Vec::new() };
    for (at, (step, value)) in direct.iter().enumerate() {
        let nth = direct[..at].iter().filter(|(name, _)| name == step).count();
        let same_step = |seen: &Seen| seen.iter().filter(|(name, _)| name == step).nth(nth).map(|(_, one)| one.clone());
        let (again, found) = (same_step(again).unwrap_or_default(), same_step(came));
        let (mut value, mut found) = (value.clone(), found.unwrap_or(json!("the step is missing")));
        mask(&mut value, &mut found, &again, step, &mut row.varies);
        if value == found {
            row.same += 1;
        } else if let Some(reason) = reason(known, step, behind, client.era, Some((&value, &found))) {
            *row.known.entry(reason).or_default() += 1;
        } else {
            row.different.push(format!("{step}: expected {}, got {}", short(&value), short(&found)));
        }
    }
    // What the server has only at the revision behind the gateway.
    let more = came.iter().filter(|(step, _)| direct.iter().all(|(name, _)| name != step));
    for (step, _) in more {
        match reason(known, step, behind, client.era, None) {
            Some(reason) => *row.known.entry(reason).or_default() += 1,
            None => row.different.push(format!("{step}: only through the gateway")),
        }
    }
    row
}

/// Takes out of two values what varies between two direct plays: texts that are not the same in `again`.
fn mask(value: &mut Value, found: &mut Value, again: &Value, path: &str, varies: &mut BTreeSet<String>) {
    match (&mut *value, &mut *found, again) {
        (Value::Object(one), Value::Object(other), Value::Object(again)) => {
            for (name, one) in one {
                if let (Some(other), Some(again)) = (other.get_mut(name), again.get(name)) {
                    mask(one, other, again, &format!("{path}/{name}"), varies);
                }
            }
        }
        (Value::Array(one), Value::Array(other), Value::Array(again)) if one.len() == again.len() => {
            for (at, one) in one.iter_mut().enumerate() {
                if let (Some(other), Some(again)) = (other.get_mut(at), again.get(at)) {
                    mask(one, other, again, &format!("{path}/{at}"), varies);
                }
            }
        }
        (one, other, again) if *one != *again && std::mem::discriminant(one) == std::mem::discriminant(other) => {
            varies.insert(path.to_owned());
            *other = one.clone();
        }
        _ => {}
    }
}

/// Why a step may differ. A reason that names a `member` explains a difference in that member alone.
fn reason(known: &[Value], step: &str, behind: &str, era: &str, differing: Option<(&Value, &Value)>) -> Option<String> {
    let without = |value: &Value, member: &str| {
        let mut value = value.clone();
        value.as_object_mut().map(|members| members.remove(member));
        value
    };
    let fits = |one: &&Value| {
        let text = |name: &str| one[name].as_str();
        text("step").is_some_and(|begin| step.starts_with(begin))
            && text("behind").is_none_or(|only| only == behind)
            && text("era").is_none_or(|only| only == era)
            && text("member").is_none_or(|member| {
                differing.is_some_and(|(one, other)| without(one, member) == without(other, member))
            })
    };
    let found = known.iter().find(fits)?;
    Some(format!("row {}: {}", found["row"].as_str()?, found["reason"].as_str()?))
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(700).collect()
}

fn section(rows: &[Row]) -> String {
    let mut text = String::from(
        "## Real clients\n\nBy `cargo xtask gateway-clients`. Each client lists everything, calls tools of every kind, \
         answers questions (forms, URLs,\nsampling and roots, as far as it can), reads every resource and gets every prompt: \
         directly at `proof serve`, and through\nthe gateway with the server at one revision. *Same*: the client has the same \
         values, content blocks and artefacts.\n\n| client | era | server's revision | same | known | different |\n|---|---|---|---|---|---|\n",
    );
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        let known: usize = row.known.values().sum();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {known} | {} |",
            row.client.name,
            row.client.era,
            row.behind,
            row.same,
            row.different.len()
        );
        for (reason, count) in &row.known {
            *reasons.entry(reason).or_default() += count;
        }
    }
    text.push_str("\nKnown differences:\n\n");
    for (reason, count) in reasons {
        let _ = writeln!(text, "- {count} × {reason}");
    }
    let varies: BTreeSet<_> = rows.iter().flat_map(|row| &row.varies).collect();
    if !varies.is_empty() {
        text.push_str("\nWhat varies by itself, found by two direct plays, and was left out of the comparison:\n\n");
        for path in varies {
            let _ = writeln!(text, "- `{path}`");
        }
    }
    text
}

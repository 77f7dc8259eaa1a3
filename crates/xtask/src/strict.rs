//! `cargo xtask strict`: every tool of every installed peer as a strict tool of OpenAI's APIs, judged by a validator in Python that
//! is not ours; and calls of a model's endpoint that go back to the server, without the nulls that only the strict form has.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::peers::{Home, Local, ProcessGroup, free_port, local_servers, proof, wait_until_listening};
use crate::words::{Words, help};
use crate::{Verdict, root};

const USAGE: &str = "usage: cargo xtask strict [--only NAME] [--proof PATH] [--list]

  --only NAME    this server alone, may be repeated
  --proof PATH   use this binary instead of building `proof` first
  --list         list what servers refused, and tools that cannot be strict

Needs the servers of `cargo xtask peers`. Tools that may change something are not called.";

/// What all servers come to.
#[derive(Default)]
struct Totals {
    servers: usize,
    tools: usize,
    strict: usize,
    calls: usize,
    with_null: usize,
    accepted: usize,
    refused: Vec<String>,
    complaints: Vec<String>,
}

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let (mut only, mut given, mut lists) = (Vec::new(), None, false);
    let mut words = Words::of(args, USAGE);
    while let Some(option) = words.option() {
        match option {
            "--only" => only.push(words.value()?.to_owned()),
            "--proof" => given = Some(PathBuf::from(words.value()?)),
            "--list" => lists = true,
            _ => return Err(words.unknown()),
        }
    }
    let (home, proof) = (Home::new(&root()), proof(given.as_deref())?);
    let mut totals = Totals::default();
    println!("{:<28} {:>5} {:>6} {:>5} {:>9} {:>8}", "server", "tools", "strict", "calls", "with null", "accepted");
    for server in local_servers().iter().filter(|server| only.is_empty() || only.contains(&server.name)) {
        if let Err(error) = tried(&home, &proof, server, &mut totals) {
            totals.complaints.push(format!("{}: {error:#}", server.name));
        }
    }
    let Totals { servers, tools, strict, calls, with_null, accepted, refused, complaints } = &totals;
    println!("{:<28} {tools:>5} {strict:>6} {calls:>5} {with_null:>9} {accepted:>8}", format!("{servers} servers"));
    if lists {
        for one in refused {
            println!("refused: {one}");
        }
    }
    for one in complaints {
        println!("- {one}");
    }
    ensure!(*strict > 0 && *with_null > 0, "nothing was tried; `cargo xtask peers` installs the servers");
    Ok(complaints.is_empty())
}

fn tried(home: &Home, proof: &Path, server: &Local, totals: &mut Totals) -> anyhow::Result<()> {
    let folder = home.files().join("strict").join(&server.name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let log = File::create(folder.join("log.txt"))?;
    let command = [&["env".to_owned()][..], &server.env, &server.command].concat();
    let run = |words: &[&str], command: &[String]| -> anyhow::Result<Vec<u8>> {
        let mut run = Command::new(proof);
        run.current_dir(&folder).args(words).arg("--").args(command);
        let ran = run.stdin(Stdio::null()).stderr(log.try_clone()?).output().context("proof does not start")?;
        ensure!(matches!(ran.status.code(), Some(0 | 1)), "proof {} ended with {}", words[0], ran.status);
        Ok(ran.stdout)
    };
    let listed = run(&["client", "tools", "--json"], &command)?;
    fs::write(folder.join("tools.json"), &listed)?;
    // `export-tools` refuses an empty list, rightly.
    let list: Value = serde_json::from_slice(&listed).context("no list of tools")?;
    if list["tools"].as_array().is_some_and(Vec::is_empty) {
        println!("{:<28} {:>5}", server.name, 0);
        totals.servers += 1;
        return Ok(());
    }
    let words = ["eval", "export-tools", "--format", "openai", "--strict", "--report", "report.json"];
    let exported: Value = serde_json::from_slice(&run(&words, &command)?).context("no list of tools")?;
    let names: Vec<&str> = exported
        .as_array()
        .into_iter()
        .flatten()
        .filter(|tool| tool["strict"] == true)
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    let case = |name: &str, way: u8| json!({ "name": format!("{name} {way}"), "prompt": format!("{name} {way}"), "call": name, "others": "ignore" });
    let cases: Vec<Value> = names.iter().flat_map(|name| [case(name, 0), case(name, 1)]).collect();
    fs::write(folder.join("cases.yaml"), json!({ "cases": cases }).to_string())?;
    let record = ["record", "-o", "trace.jsonl", "--"].map(str::to_owned);
    let recorded = [&[proof.to_string_lossy().into_owned()][..], &record, &command].concat();
    let judged =
        if cases.is_empty() { json!({}) } else { played(home, &folder, &log, &|words| run(words, &recorded))? };
    let number = |name: &str| judged[name].as_u64().unwrap_or(0) as usize;
    let list = |name: &str| {
        let list = judged[name].as_array().into_iter().flatten().filter_map(Value::as_str);
        list.map(|one| format!("{}: {one}", server.name)).collect::<Vec<_>>()
    };
    let (tools, with_null, accepted) =
        (exported.as_array().map_or(0, Vec::len), number("withNull"), number("accepted"));
    let (strict, calls) = (number("strict"), number("calls"));
    println!("{:<28} {tools:>5} {strict:>6} {calls:>5} {with_null:>9} {accepted:>8}", server.name);
    if strict != names.len() {
        totals.complaints.push(format!("{}: {} strict tools, and {strict} were judged", server.name, names.len()));
    }
    totals.servers += 1;
    totals.tools += tools;
    totals.strict += strict;
    totals.calls += calls;
    totals.with_null += with_null;
    totals.accepted += accepted;
    totals.refused.extend(list("refused").into_iter().chain(list("unmade")));
    totals.complaints.extend(list("complaints"));
    Ok(())
}

/// Has an endpoint call every strict tool twice, and judges what the server was sent.
fn played(
    home: &Home,
    folder: &Path,
    log: &File,
    run: &dyn Fn(&[&str]) -> anyhow::Result<Vec<u8>>,
) -> anyhow::Result<Value> {
    let port = free_port()?;
    let script = home.peers.join("strict/strict.py").to_string_lossy().into_owned();
    let python = home.filled(&["{python}"]).concat();
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let serve = [python.clone(), script.clone(), "serve".into(), port.to_string(), path("endpoint.jsonl")];
    let mut endpoint = ProcessGroup::start(&serve, &[("PYTHONUNBUFFERED", "1")], log)?;
    wait_until_listening(&mut endpoint, port)?;
    let url = format!("http://127.0.0.1:{port}/v1");
    let words = ["eval", "run", "cases.yaml", "--endpoint", &url, "--api", "responses", "--model", "m", "--strict"];
    run(&[&words[..], &["--jobs", "1"]].concat())?;
    let judge = [script, "judge".into(), path("tools.json"), path("trace.jsonl"), path("endpoint.jsonl")];
    let ran = Command::new(python).args(judge).output().context("python does not start")?;
    ensure!(ran.status.success(), "strict.py: {}", String::from_utf8_lossy(&ran.stderr));
    Ok(serde_json::from_slice(&ran.stdout)?)
}

//! `cargo xtask gateway-matrix`: `proof check` at every revision, through the gateway, at the reference server pinned to each
//! revision over each transport. What it finds must be a known loss of the translation. Writes its section of docs/gateway-conformance.md.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::cargo::cargo;
use crate::page::{self, PAGE};
use crate::peers::proof;
use crate::served::Served;
use crate::words::{Words, help};
use crate::{Verdict, root};

const USAGE: &str = "usage: cargo xtask gateway-matrix [--check] [--proof PATH] [--gateway PATH]

  --check          compare docs/gateway-conformance.md instead of writing it
  --proof PATH     use this binary instead of building `proof` first
  --gateway PATH   use this binary instead of building `proof-gateway` first";

/// The findings that are known, and why each cannot be helped.
const LOSSES: &str = "peers/gateway-losses.json";

const REVISIONS: [&str; 5] = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// How the gateway reaches its upstream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    Stdio,
    Http,
}

impl Over {
    const fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
        }
    }
}

#[derive(Default)]
struct Options {
    check: bool,
    proof: Option<PathBuf>,
    gateway: Option<PathBuf>,
}

/// What one pair of revisions came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cell {
    passed: usize,
    /// Rules of findings.
    found: Vec<String>,
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
            "--check" => options.check = true,
            "--proof" => options.proof = Some(words.value()?.into()),
            "--gateway" => options.gateway = Some(words.value()?.into()),
            _ => return Err(words.unknown()),
        }
    }
    let proof = proof(options.proof.as_deref())?;
    let gateway = match options.gateway {
        Some(path) => path.canonicalize().with_context(|| format!("--gateway {}", path.display()))?,
        None => build()?,
    };
    let losses = Losses::load(&root().join(LOSSES))?;
    let mut rows = Vec::new();
    let mut complaints = Vec::new();
    for (over, upstream) in [Over::Stdio, Over::Http].into_iter().flat_map(|over| REVISIONS.map(|r| (over, r))) {
        // 2024-11-05 has no Streamable HTTP.
        if over == Over::Http && upstream == "2024-11-05" {
            continue;
        }
        let row = one(&proof, &gateway, over, upstream)?;
        for (client, cell) in &row {
            println!("{upstream} over {:<5}  client {client}  {} MUST passed", over.name(), cell.passed);
            for rule in &cell.found {
                match losses.reason(upstream, rule) {
                    Some(reason) => println!("    known: {rule}: {reason}"),
                    None => complaints.push(format!("{upstream} over {}, client {client}: {rule}", over.name())),
                }
            }
        }
        rows.push((over, upstream, row));
    }
    for complaint in &complaints {
        println!("NOT KNOWN  {complaint}");
    }
    let text = section(&rows, &losses);
    let same = page::has(page::MATRIX, &text)?;
    if options.check && !same {
        println!("{PAGE} is not what this run found; cargo xtask gateway-matrix writes it");
    } else if !same {
        page::write(page::MATRIX, &text)?;
    }
    Ok(complaints.is_empty() && (same || !options.check))
}

/// Builds `proof-gateway` as it is shipped.
pub(crate) fn build() -> anyhow::Result<PathBuf> {
    let status = cargo()
        .current_dir(root())
        .args(["build", "--quiet", "--profile", "gateway", "--package", "gateway"])
        .status()?;
    ensure!(status.success(), "proof-gateway does not build");
    Ok(root().join("target/gateway/proof-gateway"))
}

/// Checks the gateway in front of the reference server at one revision.
fn one(proof: &Path, gateway: &Path, over: Over, upstream: &str) -> anyhow::Result<BTreeMap<String, Cell>> {
    let mut command = Command::new(gateway);
    command.args(["--http", "127.0.0.1:0", "--revision", upstream]);
    let behind = match over {
        Over::Stdio => {
            command.arg("--").arg(proof).args(["serve", "--stdio"]);
            None
        }
        Over::Http => {
            let mut serve = Command::new(proof);
            serve.args(["serve", "--http", "127.0.0.1:0"]);
            let served = Served::start(serve)?;
            command.arg(served.url());
            Some(served)
        }
    };
    let served = Served::start(command)?;
    let output = Command::new(proof)
        .args(["check", "--revision", "all", "--format", "json", served.url()])
        .stderr(Stdio::null())
        .output()?;
    let report: Value = serde_json::from_slice(&output.stdout).context("no JSON report")?;
    let mut cells: BTreeMap<String, Cell> = BTreeMap::new();
    for result in report["results"].as_array().context("no `results`")? {
        let text = |name: &str| result[name].as_str().unwrap_or_default();
        let cell = cells.entry(text("revision").to_owned()).or_default();
        match (text("outcome"), text("level")) {
            ("pass", "MUST") => cell.passed += 1,
            ("fail" | "warn", _) => cell.found.push(text("rule").to_owned()),
            _ => {}
        }
    }
    drop((served, behind));
    Ok(cells)
}

/// Findings that are known.
struct Losses(Vec<Value>);

impl Losses {
    fn load(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let losses: Value = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        Ok(Self(losses.as_array().cloned().context("no list of losses")?))
    }

    /// Why a rule is not kept at an upstream of this revision.
    fn reason(&self, upstream: &str, rule: &str) -> Option<&str> {
        let fits = |loss: &&Value| {
            let upstreams = loss["upstreams"].as_array();
            loss["rule"] == rule && upstreams.is_some_and(|all| all.iter().any(|one| one == upstream))
        };
        self.0.iter().find(fits)?["reason"].as_str()
    }
}

fn section(rows: &[(Over, &str, BTreeMap<String, Cell>)], losses: &Losses) -> String {
    let mut page = String::from(
        "## Every pair of revisions\n\nBy `cargo xtask gateway-matrix`. `proof check` judges the gateway at \
         every revision while the reference\nserver behind it speaks one revision only. Each cell names the MUST rules that \
         passed and, after `+`, the findings of\nany level. Every finding is listed below with its reason.\n\n",
    );
    let clients = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
    let _ = writeln!(page, "| server behind the gateway | client {} |", clients.join(" | client "));
    let _ = writeln!(page, "|---|{}", "---|".repeat(clients.len()));
    for (over, upstream, cells) in rows {
        let shown = clients.map(|client| match cells.get(client) {
            None => "not checked".to_owned(),
            Some(cell) if cell.found.is_empty() => cell.passed.to_string(),
            Some(cell) => format!("{} + {}", cell.passed, cell.found.len()),
        });
        let _ = writeln!(page, "| {upstream} over {} | {} |", over.name(), shown.join(" | "));
    }
    page.push_str("\n### Known losses\n\n| rule | servers | reason |\n|---|---|---|\n");
    for loss in &losses.0 {
        let text = |name: &str| loss[name].as_str().unwrap_or_default();
        let servers: Vec<_> = loss["upstreams"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let _ = writeln!(page, "| `{}` | {} | {} |", text("rule"), servers.join(", "), text("reason"));
    }
    page
}

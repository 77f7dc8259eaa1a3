//! The processes of one play: the reference server with a fault, the gateway in front of it, and `proof check`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use faults::server::Fault;
use serde_json::Value;
use wire::{Revision, Transport};

use crate::root;
use crate::served::Served;

/// Where the server's token stands, and its value.
const TOKEN: (&str, &str) = ("GATEWAY_FAULTS_TOKEN", "the-token-of-this-play");

/// The findings of one check.
pub(super) struct Findings(Vec<Value>);

impl Findings {
    /// The rules that are broken, each with its message.
    pub(super) fn broken(&self) -> impl Iterator<Item = (&str, &str)> {
        let results = self.0.iter().filter(|one| matches!(one["outcome"].as_str(), Some("fail" | "warn")));
        results.filter_map(|one| Some((one["rule"].as_str()?, one["message"].as_str().unwrap_or_default())))
    }

    /// The outcome of a rule, with its message.
    pub(super) fn outcome(&self, rule: &str) -> Option<(&str, &str)> {
        let found = self.0.iter().find(|one| one["rule"] == rule)?;
        Some((found["outcome"].as_str()?, found["message"].as_str().unwrap_or_default()))
    }
}

/// Plays faults.
pub(super) struct Player {
    proof: PathBuf,
    gateway: PathBuf,
    /// Configurations of gateways.
    folder: PathBuf,
}

/// Where a fault shows at its latest.
fn place(fault: &Fault) -> (Transport, Revision) {
    (fault.applies.only_transport().unwrap_or(Transport::StreamableHttp), fault.applies.last())
}

impl Player {
    pub(super) fn new(proof: PathBuf, gateway: PathBuf) -> anyhow::Result<Self> {
        let folder = root().join("target/gateway-faults");
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self { proof, gateway, folder })
    }

    /// Judges the server itself.
    pub(super) fn direct(&self, fault: &Fault) -> anyhow::Result<Findings> {
        let (transport, _) = place(fault);
        if transport == Transport::Stdio {
            let mut check = self.check(fault);
            check.arg("--").arg(&self.proof).args(["serve", "--stdio", "--fault", fault.name]);
            return findings(check);
        }
        let served = self.serve(fault)?;
        let mut check = self.check(fault);
        if fault.token {
            check.args(["--bearer-env", TOKEN.0]);
        }
        check.args(target(transport, served.url()));
        findings(check)
    }

    /// Judges the gateway in front of it, over the same transport and at the same revision.
    pub(super) fn through(&self, fault: &Fault) -> anyhow::Result<Findings> {
        let (transport, revision) = place(fault);
        if transport == Transport::Stdio {
            let mut check = self.check(fault);
            check.arg("--").arg(&self.gateway).args(["--stdio", "--revision", revision.as_str(), "--"]);
            check.arg(&self.proof).args(["serve", "--stdio", "--fault", fault.name]);
            return findings(check);
        }
        let served = self.serve(fault)?;
        let file = self.folder.join(format!("{}.yaml", fault.name));
        std::fs::write(&file, configuration(fault, transport, revision, served.url()))?;
        let mut command = Command::new(&self.gateway);
        command.arg("--config").arg(&file).env(TOKEN.0, TOKEN.1);
        let gateway = Served::start(command)?;
        let mut check = self.check(fault);
        check.args(target(transport, gateway.url()));
        findings(check)
    }

    fn check(&self, fault: &Fault) -> Command {
        let (_, revision) = place(fault);
        let mut check = Command::new(&self.proof);
        check.args(["check", "--revision", revision.as_str(), "--safety", "--format", "json", "--timeout", "8"]);
        check.args(["--jobs", "16", "--max-time", "120", "--hints"]);
        check.arg(root().join("crates/cli/src/args/reference-hints.json")).env(TOKEN.0, TOKEN.1);
        // At the oldest revision no tool can say that it only reads.
        if revision == Revision::R2024_11_05 {
            check.args(["--call", "all"]);
        }
        check
    }

    fn serve(&self, fault: &Fault) -> anyhow::Result<Served> {
        let mut serve = Command::new(&self.proof);
        serve.args(["serve", "--http", "127.0.0.1:0", "--sse", "--ws", "--fault", fault.name]);
        if fault.token {
            serve.args(["--bearer-env", TOKEN.0]).env(TOKEN.0, TOKEN.1);
        }
        Served::start(serve)
    }
}

fn configuration(fault: &Fault, transport: Transport, revision: Revision, url: &str) -> String {
    let (kind, url) = match transport {
        Transport::HttpSse => ("sse", sse(url)),
        Transport::WebSocket => ("websocket", websocket(url)),
        Transport::StreamableHttp | Transport::Stdio => ("http", url.to_owned()),
    };
    let token = if fault.token {
        format!("    headers: {{ Authorization: {{ from_env: {}, prefix: \"Bearer \" }} }}\n", TOKEN.0)
    } else {
        String::new()
    };
    format!(
        "listen: 127.0.0.1:0\nupstreams:\n  server:\n    url: {url}\n    transport: {kind}\n    revision: {}\n{token}",
        revision.as_str()
    )
}

fn sse(url: &str) -> String {
    url.replace("/mcp", "/sse")
}

fn websocket(url: &str) -> String {
    url.replace("/mcp", "/ws").replace("http:", "ws:")
}

/// What `proof check` is to be given for a server at this endpoint.
fn target(transport: Transport, url: &str) -> Vec<String> {
    match transport {
        Transport::HttpSse => vec!["--transport".to_owned(), "sse".to_owned(), sse(url)],
        Transport::WebSocket => vec![websocket(url)],
        Transport::StreamableHttp | Transport::Stdio => vec![url.to_owned()],
    }
}

fn findings(mut check: Command) -> anyhow::Result<Findings> {
    let output = check.stdin(Stdio::null()).stderr(Stdio::piped()).output().context("proof does not start")?;
    let said = || String::from_utf8_lossy(&output.stderr).lines().take(3).collect::<Vec<_>>().join(" / ");
    // 3: the server gave no MCP answer.
    ensure!(matches!(output.status.code(), Some(0 | 1 | 3)), "proof gave no verdict ({}): {}", output.status, said());
    let report: Value = match serde_json::from_slice(&output.stdout) {
        Ok(report) => report,
        Err(_) if output.status.code() == Some(3) => Value::Null,
        Err(error) => return Err(error).context("the report is not JSON"),
    };
    Ok(Findings(report["results"].as_array().cloned().unwrap_or_default()))
}

/// Where reports about known findings lie.
pub(super) fn file(name: &str) -> PathBuf {
    Path::new(&root()).join("peers").join(name)
}

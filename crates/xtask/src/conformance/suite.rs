//! The processes: our server, and the suite that talks to it or starts our client. Each is in a process group that ends with us, and each has a time limit.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use super::leg::Leg;
use super::requirements;
use super::results::Results;
use crate::peers::{Home, ProcessGroup, free_port, wait_until_listening};

/// How long the suite may take at one revision; it gives each scenario half a minute of its own.
const LIMIT: Duration = Duration::from_mins(5);
const POLL: Duration = Duration::from_millis(20);

/// Our server with the official catalogue, for as long as this is held.
#[derive(Debug)]
pub(crate) struct Served {
    group: ProcessGroup,
    url: String,
    log: PathBuf,
}

impl Served {
    /// Starts it on a free loopback port.
    pub(super) fn start(home: &Home, proof: &Path) -> anyhow::Result<Self> {
        let port = free_port()?;
        let (proof, address) = (proof.to_string_lossy(), format!("127.0.0.1:{port}"));
        let command = [&*proof, "serve", "--http", &*address, "--catalog", "official"].map(str::to_owned);
        let log = home.logs().join("official-http.log");
        let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut group = ProcessGroup::start(&command, &[] as &[(&str, &str)], &output)?;
        wait_until_listening(&mut group, port).with_context(|| format!("its output lies in {}", log.display()))?;
        Ok(Self { group, url: format!("http://{address}/mcp"), log })
    }

    /// Where it serves MCP.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// What is to be said of a server that did not last.
    pub(super) fn complaint(&mut self) -> anyhow::Result<Option<String>> {
        let ended = self.group.ended()?;
        Ok(ended.map(|status| format!("our server ended ({status}); its output lies in {}", self.log.display())))
    }
}

/// Runs all that the suite has for servers at a revision.
pub(super) fn run(home: &Home, served: &Served, revision: &str) -> anyhow::Result<Results> {
    played(home, Leg::Server, revision, &["--url", &served.url])
}

/// Runs all that the suite has for clients at a revision; it starts all of them at once.
pub(super) fn run_client(home: &Home, proof: &Path, revision: &str) -> anyhow::Result<Results> {
    let proof = proof.to_string_lossy();
    ensure!(!proof.contains(' '), "the suite cuts commands at spaces, and {proof} has one");
    played(home, Leg::Client, revision, &["--command", &format!("{proof} client --conformance")])
}

fn played(home: &Home, leg: Leg, revision: &str, whom: &[&str]) -> anyhow::Result<Results> {
    let list = home.suite_requirements(revision);
    let text = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let required = requirements::parse(&text, leg).with_context(|| format!("in {}", list.display()))?;
    let name = leg.of(revision).replace(' ', "-");
    let folder = home.reports().join("suite").join(&name);
    // Results of another day would pass for those of today.
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot clear {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let log = home.logs().join(format!("suite-{name}.log"));
    let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let results = folder.to_string_lossy();
    let words = [&[leg.as_str()], whom, &["--requirements", revision, "--output-dir", &results]].concat();
    let program = home.suite_command().map(|path| path.to_string_lossy().into_owned());
    let command: Vec<String> = program.into_iter().chain(words.into_iter().map(str::to_owned)).collect();
    let mut group = ProcessGroup::start(&command, &[] as &[(&str, &str)], &output)?;
    let status =
        end_within(&mut group, LIMIT).with_context(|| format!("the suite's output lies in {}", log.display()))?;
    // 1 says that a scenario failed; which one, its results say.
    ensure!(
        matches!(status.code(), Some(0 | 1)),
        "the suite ended with {status}; its output lies in {}",
        log.display()
    );
    Results::read(&folder, leg, revision, &required)
}

fn end_within(group: &mut ProcessGroup, limit: Duration) -> anyhow::Result<ExitStatus> {
    let begun = Instant::now();
    while begun.elapsed() < limit {
        if let Some(status) = group.ended()? {
            return Ok(status);
        }
        sleep(POLL);
    }
    bail!("the suite did not end within {} s", limit.as_secs())
}

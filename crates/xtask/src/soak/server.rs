//! The server under load: a child process, where it listens, and what memory it holds.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use crate::peers::ProcessGroup;

const START: Duration = Duration::from_secs(10);

/// A running `proof serve --http`.
pub(crate) struct Server {
    group: ProcessGroup,
    pub(crate) address: SocketAddr,
    log: PathBuf,
}

impl Server {
    /// Starts a server whose sessions end after `idle` seconds; what it says goes to `log`.
    pub(crate) fn start(proof: &Path, idle: u32, log: PathBuf) -> anyhow::Result<Self> {
        let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let idle = idle.to_string();
        let command = [&*proof.to_string_lossy(), "serve", "--http", "127.0.0.1:0", "--idle", &idle].map(str::to_owned);
        let none: [(&str, &str); 0] = [];
        let group = ProcessGroup::start(&command, &none, &output)?;
        let address = address(&log)?;
        Ok(Self { group, address, log })
    }

    /// The memory that the process holds now.
    pub(crate) fn memory(&self) -> anyhow::Result<u64> {
        self.kib("VmRSS:")
    }

    /// The part of it that belongs to the process alone: neither its binary nor a library.
    pub(crate) fn anonymous(&self) -> anyhow::Result<u64> {
        self.kib("RssAnon:")
    }

    fn kib(&self, name: &str) -> anyhow::Result<u64> {
        let process = self.group.process();
        let status =
            fs::read_to_string(format!("/proc/{process}/status")).context("the server's memory (Linux only)")?;
        let line = status.lines().find_map(|line| line.strip_prefix(name)).context("the server has ended")?;
        Ok(line.trim().trim_end_matches(" kB").trim().parse()?)
    }

    /// How many handles the process has open.
    pub(crate) fn handles(&self) -> anyhow::Result<usize> {
        Ok(fs::read_dir(format!("/proc/{}/fd", self.group.process()))?.count())
    }

    /// Fails where the server said that something in it broke.
    pub(crate) fn is_sound(&self) -> anyhow::Result<()> {
        let said = fs::read_to_string(&self.log)?;
        ensure!(!said.contains("panicked"), "the server panicked; see {}", self.log.display());
        Ok(())
    }
}

/// The address that the server says it listens on.
fn address(log: &Path) -> anyhow::Result<SocketAddr> {
    let begun = Instant::now();
    while begun.elapsed() < START {
        let said = fs::read_to_string(log).unwrap_or_default();
        let url = said.split_whitespace().find_map(|word| word.strip_prefix("http://")?.strip_suffix("/mcp"));
        if let Some(url) = url {
            return url.parse().context("the server's address");
        }
        sleep(Duration::from_millis(20));
    }
    anyhow::bail!("the server does not say where it listens; its output lies in {}", log.display())
}

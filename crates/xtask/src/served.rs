//! A reference server over HTTP that runs for as long as it is held. How it is started is its caller's business.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};

use anyhow::{Context as _, bail, ensure};

/// A running server.
pub(crate) struct Served {
    child: Child,
    /// Held open: what the server says at its end must go somewhere.
    stderr: BufReader<ChildStderr>,
    url: String,
}

impl Served {
    /// Runs a command that serves, and waits until it has said where.
    pub(crate) fn start(mut command: Command) -> anyhow::Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let stderr = BufReader::new(child.stderr.take().context("no standard error")?);
        let mut served = Self { child, stderr, url: String::new() };
        served.url = served.address()?;
        Ok(served)
    }

    fn address(&mut self) -> anyhow::Result<String> {
        let mut said = String::new();
        while self.stderr.read_line(&mut said)? > 0 {
            if let Some(url) = said.split_whitespace().find(|word| word.starts_with("http://")) {
                return Ok(url.to_owned());
            }
        }
        bail!("it does not say where it listens, but: {said}")
    }

    /// Its endpoint.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it as Ctrl-C does.
    pub(crate) fn interrupt(mut self) -> anyhow::Result<()> {
        Command::new("kill").args(["-INT", &self.child.id().to_string()]).status()?;
        let ended = self.child.wait()?;
        ensure!(ended.success(), "the server ended with {ended}");
        Ok(())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

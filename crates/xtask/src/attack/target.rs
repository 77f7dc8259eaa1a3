//! An attacked process that listens: `proof serve`, `record --http` or `replay --http`. It knows where it listens, what it
//! wrote and how much memory it holds, but not what is done to it.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use super::Plan;
use super::request::{Request, initialize};
use super::socket::{self, Reply};
use crate::peers::ProcessGroup;

const START: Duration = Duration::from_secs(10);
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A running process that listens.
pub(super) struct Target {
    group: ProcessGroup,
    name: &'static str,
    pub(super) address: SocketAddr,
    pub(super) path: String,
    log: PathBuf,
    /// What an honest client sends in `Authorization`.
    pub(super) token: Option<String>,
}

impl Target {
    /// Starts `proof` with these arguments and waits until it says where it listens.
    pub(super) fn start(plan: &Plan, name: &'static str, args: &[&str], env: &[(&str, &str)]) -> anyhow::Result<Self> {
        let log = plan.folder.join(format!("{name}-{}.log", COUNT.fetch_add(1, Ordering::Relaxed)));
        let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = vec![plan.proof.display().to_string()];
        command.extend(args.iter().map(|arg| (*arg).to_owned()));
        let group = ProcessGroup::start(&command, env, &output)?;
        let (address, path) = listening(&log)?;
        Ok(Self { group, name, address, path, log, token: None })
    }

    /// The reference server with all of its HTTP transports.
    pub(super) fn serve(plan: &Plan) -> anyhow::Result<Self> {
        Self::start(plan, "serve", &["serve", "--http", "127.0.0.1:0", "--sse", "--ws"], &[])
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// What an honest client sends as `Host`.
    pub(super) fn host(&self) -> String {
        self.address.to_string()
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}{}", self.address, self.path)
    }

    /// Sends a request; the response, which must come.
    pub(super) fn answer(&self, request: &Request) -> anyhow::Result<Reply> {
        socket::answer(self.address, &request.bytes())
    }

    /// What an honest client does works.
    pub(super) fn honest(&self) -> anyhow::Result<()> {
        self.open_session().map(drop)
    }

    /// Opens a session of Streamable HTTP; its id.
    pub(super) fn open_session(&self) -> anyhow::Result<String> {
        self.open_session_as(self.token.as_deref())
    }

    /// Opens a session as the holder of a token.
    pub(super) fn open_session_as(&self, token: Option<&str>) -> anyhow::Result<String> {
        let request = Request::post(&self.path, &self.host(), &initialize()).bearing(token);
        let reply = self.answer(&request)?;
        ensure!(reply.status == 200, "an honest initialize got {}: {}", reply.status, reply.text());
        reply.header("mcp-session-id").map(str::to_owned).context("no session id")
    }

    /// The most memory that the process ever held, in MiB.
    pub(super) fn peak(&self) -> anyhow::Result<u64> {
        memory(self.group.process(), "VmHWM:")
    }

    pub(super) fn log(&self) -> String {
        fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// Fails where the process wrote that something in it broke.
    pub(super) fn log_is_sound(&self) -> anyhow::Result<()> {
        ensure!(!self.log().contains("panicked"), "it panicked; see {}", self.log.display());
        Ok(())
    }

    pub(super) fn process(&self) -> u32 {
        self.group.process()
    }

    /// Sends a signal, by its name.
    pub(super) fn signal(&self, name: &str) -> anyhow::Result<()> {
        signal(self.process(), name)
    }

    /// Whether the process ends within this time.
    pub(super) fn ends_within(&mut self, time: Duration) -> anyhow::Result<bool> {
        let begun = Instant::now();
        while begun.elapsed() < time {
            if self.group.ended()?.is_some() {
                return Ok(true);
            }
            sleep(Duration::from_millis(10));
        }
        Ok(false)
    }
}

/// Sends a signal to a process of ours.
pub(super) fn signal(process: u32, name: &str) -> anyhow::Result<()> {
    let status = std::process::Command::new("kill").args(["-s", name, "--", &process.to_string()]).status()?;
    ensure!(status.success(), "kill -{name} {process}: {status}");
    Ok(())
}

/// A figure of `/proc/PROCESS/status`, in MiB.
pub(super) fn memory(process: u32, figure: &str) -> anyhow::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).context("its memory (Linux only)")?;
    // Before it runs the program, a new process is a copy of this one, with this one's memory.
    let own = fs::read_to_string("/proc/self/comm").unwrap_or_default();
    ensure!(status.lines().next().and_then(|name| name.strip_prefix("Name:\t")) != Some(own.trim()), "not yet run");
    let line = status.lines().find_map(|line| line.strip_prefix(figure)).context("it has ended")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse::<u64>()? / 1024)
}

/// The first address of Streamable HTTP that the process says it listens on, and its path.
fn listening(log: &Path) -> anyhow::Result<(SocketAddr, String)> {
    let begun = Instant::now();
    while begun.elapsed() < START {
        let said = fs::read_to_string(log).unwrap_or_default();
        let line = said
            .lines()
            .find(|line| ["serving ", "recording ", "replaying "].iter().any(|word| line.starts_with(word)));
        if let Some(url) = line.and_then(|line| line.split_whitespace().find_map(|word| word.strip_prefix("http://"))) {
            let (address, path) = url.split_once('/').context("an address without a path")?;
            return Ok((address.replace("localhost", "127.0.0.1").parse()?, format!("/{path}")));
        }
        sleep(Duration::from_millis(10));
    }
    bail!("it does not say where it listens; its output lies in {}", log.display())
}

//! Runs `proof` as a child: in a folder that is removed afterwards, with a minimal environment and bounds. Credentials go from
//! this program's environment to the child's and nowhere else.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use net::Children;
use net::process::{Bounds, Command, Ending};

use crate::config::{Fleet, Limits, Server, Text};
use crate::gates::Ended;
use crate::launch::{self, Invocation};

/// The most bytes of a report.
const REPORT: u64 = 64 << 20;

/// How `proof` is run.
#[derive(Clone, Debug)]
pub struct Runner {
    children: Children,
    proof: PathBuf,
    /// What it says of its version.
    version: String,
}

impl Runner {
    /// Finds `proof` beside this program, or on the path.
    pub async fn find(children: &Children) -> Result<Self, String> {
        let beside = std::env::current_exe().ok().map(|own| own.with_file_name("proof")).filter(|path| path.is_file());
        Self::at(children, beside.unwrap_or_else(|| "proof".into())).await
    }

    /// With the `proof` at this path.
    pub async fn at(children: &Children, proof: PathBuf) -> Result<Self, String> {
        let mut runner = Self { children: children.clone(), proof, version: String::new() };
        let command = Command::new(runner.proof.to_string_lossy(), ["--version"]);
        let limits = Limits { seconds: 20, ..Limits::default() };
        let ended = runner.children.run_bounded(&command, bounds(limits)).await;
        let ended = ended.map_err(|error| format!("`{}` cannot be started: {error}", runner.proof.display()))?;
        String::from_utf8_lossy(&ended.stdout).trim().clone_into(&mut runner.version);
        if !runner.version.starts_with("proof ") {
            return Err(format!("`{}` is not proof", runner.proof.display()));
        }
        Ok(runner)
    }

    /// What `proof` says of its version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Starts `proof` in the background, without the credentials of any entry. It works in `folder`, by which it is found if this
    /// program is killed.
    pub fn background(&self, args: &[&str], folder: &Path) -> std::io::Result<net::process::Background> {
        let mut command = Command::new(self.proof.to_string_lossy(), args.iter().copied());
        command.env.push(("TMPDIR".to_owned(), folder.display().to_string()));
        self.children.background(&command)
    }

    /// Runs one command line in `work`.
    pub async fn run(&self, fleet: &Fleet, server: &Server, invocation: &Invocation, work: &Path) -> Ended {
        let start = Instant::now();
        let env = match self.environment(server, work) {
            Ok(env) => env,
            Err(why) => return Ended { stopped: Some(why), ..Ended::default() },
        };
        let command = Command {
            program: self.proof.to_string_lossy().into_owned(),
            args: invocation.args.clone(),
            env,
            cwd: Some(invocation.cwd.clone().unwrap_or_else(|| work.to_owned())),
        };
        let ended = match self.children.run_bounded(&command, bounds(fleet.limits)).await {
            Ok(ended) => ended,
            Err(error) => {
                return Ended { stopped: Some(format!("`proof` cannot be started: {error}")), ..Ended::default() };
            }
        };
        let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let stopped = why_stopped(&ended.ending, fleet.limits);
        let code = match ended.ending {
            Ending::Exited(status) => status.code(),
            _ => None,
        };
        let document = match &invocation.output {
            Some(path) => read_report(path),
            None if ended.is_cut => None,
            None => serde_json::from_slice(&ended.stdout).ok(),
        };
        Ended { code, stopped, document, stderr: ended.stderr, ms }
    }

    /// The variables of the child; an error where one that an entry refers to is not set.
    fn environment(&self, server: &Server, work: &Path) -> Result<Vec<(String, String)>, String> {
        let mut env = vec![("TMPDIR".to_owned(), work.display().to_string())];
        for (name, value) in launch::variables(server) {
            let value = match value {
                Text::Plain(value) => value,
                Text::Variable { env } => std::env::var(&env).map_err(|_| format!("the variable {env} is not set"))?,
            };
            env.push((name, value));
        }
        // Entries name `proof` by its name: it must be this one.
        if let Some(folder) = self.proof.parent().filter(|folder| folder.is_absolute()) {
            let given = env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| OsString::from(value));
            let rest = given.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
            let paths = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&rest));
            let joined = std::env::join_paths(paths).map_err(|error| format!("PATH cannot be used: {error}"))?;
            env.retain(|(name, _)| name != "PATH");
            env.push(("PATH".to_owned(), joined.to_string_lossy().into_owned()));
        }
        Ok(env)
    }
}

fn bounds(limits: Limits) -> Bounds {
    Bounds {
        time: Duration::from_secs(limits.seconds),
        memory: limits.memory_mb << 20,
        processes: limits.processes,
        output: 1 << 20,
    }
}

fn why_stopped(ending: &Ending, limits: Limits) -> Option<String> {
    match ending {
        Ending::Exited(_) => None,
        Ending::TimeOver => Some(format!("it took more than {} s (limits.seconds)", limits.seconds)),
        Ending::MemoryOver => Some(format!("it used more than {} MB (limits.memory_mb)", limits.memory_mb)),
        Ending::ProcessesOver => {
            Some(format!("it started more than {} processes (limits.processes)", limits.processes))
        }
    }
}

/// A report, if it is JSON and not too large.
fn read_report(path: &Path) -> Option<serde_json::Value> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    net::open_regular(path).ok()?.take(REPORT + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= REPORT).then(|| serde_json::from_slice(&bytes).ok()).flatten()
}

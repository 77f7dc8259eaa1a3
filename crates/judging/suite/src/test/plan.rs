//! A test file after reading, ready to run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use document::{Filled, Pattern, Position};
use net::Environment;
use net::client::Command;
use serde_json::Value;
use serde_json_path::JsonPath;
use url::Url;
use wire::redact::Secrets;
use wire::{Revision, Transport};

use super::matcher::{At, Matcher};
pub(super) use super::model::Outcome;
use super::scripted::Scripted;
pub(super) use crate::requests::List;

/// A test file.
#[derive(Debug)]
pub struct Suite {
    pub(super) path: PathBuf,
    pub(super) servers: Vec<Server>,
    /// `None` for the newest that both sides support.
    pub(super) revisions: Option<Vec<Revision>>,
    pub(super) vars: Value,
    pub(super) setup: Vec<Case>,
    pub(super) cases: Vec<Case>,
}

/// A server of the matrix.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub(super) location: Location,
    /// Whether every case starts a new process.
    pub(super) per_case: bool,
    /// The names of variables that its process inherits, or `all`, in addition to those of the run.
    pub(super) inherits: Vec<String>,
}

impl Server {
    /// The command that starts it.
    pub(super) const fn command(&self) -> Option<&Command> {
        match &self.location {
            Location::Command(command) => Some(command),
            Location::Url { command, .. } => command.as_ref(),
        }
    }

    /// Whether its transport supports `revision`. HTTP+SSE has only one.
    pub(super) fn supports(&self, revision: Revision) -> bool {
        let is_sse = matches!(self.location, Location::Url { transport: Some(Transport::HttpSse), .. });
        !is_sse || revision == Revision::R2024_11_05
    }
}

/// Where a server is reached.
#[derive(Clone, Debug)]
pub(super) enum Location {
    /// Over the standard streams of a command.
    Command(Command),
    Url {
        /// As in the file, with `{port}`.
        url: String,
        /// `None` to detect it.
        transport: Option<Transport>,
        headers: Vec<(String, String)>,
        /// The environment variable with the bearer token.
        bearer_env: Option<String>,
        /// The command that serves there. `{port}` in it and in the URL becomes a free port.
        command: Option<Command>,
    },
}

/// One request and its expectations.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) at: Position,
    pub(super) request: RequestTemplate,
    pub(super) expect: Expect,
    /// Variables to capture, with their paths.
    pub(super) capture: Vec<(String, JsonPath)>,
    pub(super) volatile: Vec<JsonPath>,
    pub(super) answers: Option<Scripted>,
    /// The revisions to run in; empty for all.
    pub(super) revisions: Vec<Revision>,
    pub(super) timeout: Option<Duration>,
    pub(super) tags: Vec<String>,
    pub(super) skip: Option<String>,
    pub(super) only: bool,
    pub(super) xfail: Option<String>,
    pub(super) repeat: u32,
    pub(super) independent: bool,
    /// Whether the server must list the tool that is called: a name from a command line may be a slip.
    pub(super) must_be_listed: bool,
    /// The variables that it uses.
    pub(super) uses: BTreeSet<String>,
}

/// A request with variables.
#[derive(Debug)]
pub(super) enum RequestTemplate {
    Call { tool: Pattern, arguments: Filled },
    Read(Pattern),
    Get { prompt: Pattern, arguments: Filled },
    Complete { reference: Filled, argument: String, value: Pattern, known: Filled },
    List(List),
    Raw { method: String, params: Filled },
}

/// The expectations of a case.
#[derive(Debug)]
pub(super) struct Expect {
    /// `None` for any outcome, where only `status` counts.
    pub(super) outcome: Option<Outcome>,
    pub(super) code: Option<i64>,
    /// The expected HTTP status.
    pub(super) status: Option<u16>,
    pub(super) message: Option<(Matcher, Position)>,
    pub(super) latency: Option<Duration>,
    pub(super) progress: Option<usize>,
    pub(super) notifications: Vec<String>,
    pub(super) snapshot: Option<Snapshot>,
    pub(super) at: Vec<PathExpectation>,
}

/// What is compared with a snapshot.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    /// Its name; `None` for the name of the case.
    pub(super) name: Option<String>,
    /// The parts of the result that are compared; empty for all of it.
    pub(super) of: Vec<(String, JsonPath)>,
}

/// An expectation at a path into the result.
#[derive(Debug)]
pub(super) struct PathExpectation {
    pub(super) text: String,
    pub(super) path: JsonPath,
    pub(super) matcher: At,
    pub(super) at: Position,
}

impl Case {
    /// The name of its snapshot, if it has one.
    pub(super) fn snapshot_name(&self) -> Option<&str> {
        let snapshot = self.expect.snapshot.as_ref()?;
        Some(snapshot.name.as_deref().unwrap_or(&self.name))
    }

    /// Whether the case runs in a revision.
    pub(super) fn applies_to(&self, revision: Revision) -> bool {
        self.revisions.is_empty() || self.revisions.contains(&revision)
    }
}

impl Suite {
    /// The file, as it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds the secrets in the file, and those that it names.
    pub fn add_secrets(&self, secrets: &mut Secrets) {
        for server in &self.servers {
            if let Some(command) = server.command() {
                for (name, value) in &command.env {
                    secrets.variable(name, value);
                }
                secrets.arguments(command.args.iter().map(String::as_str));
                Environment::of(&server.inherits).add_secrets(secrets);
            }
            match &server.location {
                Location::Command(_) => {}
                Location::Url { url, headers, bearer_env, .. } => {
                    for (name, value) in headers {
                        secrets.header(name, value);
                    }
                    if let Some(token) = bearer_env.as_ref().and_then(|name| std::env::var(name).ok()) {
                        secrets.add(&token);
                    }
                    secrets.address(url);
                }
            }
        }
    }

    /// The files and directories that its servers visibly depend on: the working directory of a command, if it has one, and the
    /// files that the command names.
    pub fn local_paths(&self) -> Vec<PathBuf> {
        let mut local = Vec::new();
        for server in &self.servers {
            let Some(command) = server.command() else { continue };
            let cwd = command.cwd.clone().unwrap_or_default();
            let named = std::iter::once(&command.program).chain(&command.args).map(|part| cwd.join(part));
            local.extend(named.filter(|path| path.is_file()));
            local.extend(command.cwd.clone());
        }
        local
    }

    /// The URLs of servers that it does not start.
    pub fn urls_of_others(&self) -> Vec<Url> {
        let url = |server: &Server| match &server.location {
            Location::Url { url, command: None, .. } => Url::parse(url).ok(),
            Location::Url { .. } | Location::Command(_) => None,
        };
        self.servers.iter().filter_map(url).collect()
    }

    /// The number of cases.
    pub fn len(&self) -> usize {
        self.cases.len()
    }

    /// Whether it has no cases.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// Whether a case is marked `only`.
    pub(super) fn is_narrowed(&self) -> bool {
        self.cases.iter().any(|case| case.only)
    }

    /// Whether a case expects progress.
    pub(super) fn wants_progress(&self) -> bool {
        self.all().any(|case| case.expect.progress.is_some())
    }

    /// The abilities of the client: the answers of all cases together.
    pub(super) fn required_abilities(&self) -> Scripted {
        let mut abilities = Scripted::default();
        for answers in self.all().filter_map(|case| case.answers.as_ref()) {
            abilities.consent = abilities.consent.or(answers.consent);
            abilities.model_text = abilities.model_text.or_else(|| answers.model_text.clone());
            abilities.roots = abilities.roots.or_else(|| answers.roots.clone());
        }
        abilities
    }

    fn all(&self) -> impl Iterator<Item = &Case> {
        self.setup.iter().chain(&self.cases)
    }
}

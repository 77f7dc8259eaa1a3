//! A test file as it is played: everything that was looked at once, with its place in the file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use document::{Filled, Pattern, Position};
use net::client::Command;
use serde_json::Value;
use serde_json_path::JsonPath;
use wire::redact::Secrets;
use wire::{Revision, Transport};

use super::matcher::{At, Matcher};
pub(super) use super::model::Outcome;
use super::scripted::Scripted;
pub(super) use crate::asking::List;

/// A test file.
#[derive(Debug)]
pub struct Suite {
    pub(super) path: PathBuf,
    pub(super) servers: Vec<Server>,
    /// `None`: the newest that both know.
    pub(super) revisions: Option<Vec<Revision>>,
    pub(super) vars: Value,
    pub(super) setup: Vec<Case>,
    pub(super) cases: Vec<Case>,
}

/// A way to the server.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub(super) reached: Reached,
    /// Whether every case has a process of its own.
    pub(super) per_case: bool,
}

impl Server {
    /// What is started for it.
    pub(super) const fn command(&self) -> Option<&Command> {
        match &self.reached {
            Reached::Command(command) => Some(command),
            Reached::Url { command, .. } => command.as_ref(),
        }
    }

    /// Whether it can be spoken to at `revision`. HTTP+SSE is of one alone.
    pub(super) fn speaks(&self, revision: Revision) -> bool {
        let old = matches!(self.reached, Reached::Url { transport: Some(Transport::HttpSse), .. });
        !old || revision == Revision::R2024_11_05
    }
}

/// Where a server is.
#[derive(Clone, Debug)]
pub(super) enum Reached {
    /// At the standard streams of what is started.
    Command(Command),
    Url {
        /// As it was written, with its `{port}`.
        url: String,
        /// Where it is not to be found out.
        transport: Option<Transport>,
        headers: Vec<(String, String)>,
        /// The variable that holds the bearer token.
        bearer_env: Option<String>,
        /// What is started to serve there. `{port}` in it, and in the address, becomes a free port.
        command: Option<Command>,
    },
}

/// One request and what is expected of it.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) at: Position,
    pub(super) request: Request,
    pub(super) expect: Expect,
    /// Name and path of each.
    pub(super) capture: Vec<(String, JsonPath)>,
    pub(super) volatile: Vec<JsonPath>,
    pub(super) answers: Option<Scripted>,
    /// Where it is tried; everywhere where there is none.
    pub(super) revisions: Vec<Revision>,
    pub(super) timeout: Option<Duration>,
    pub(super) tags: Vec<String>,
    pub(super) skip: Option<String>,
    pub(super) only: bool,
    pub(super) xfail: Option<String>,
    pub(super) repeat: u32,
    pub(super) independent: bool,
    /// The variables that it is filled with.
    pub(super) uses: BTreeSet<String>,
}

/// What is asked.
#[derive(Debug)]
pub(super) enum Request {
    Call { tool: Pattern, arguments: Filled },
    Read(Pattern),
    Get { prompt: Pattern, arguments: Filled },
    Complete { reference: Filled, argument: String, value: Pattern, known: Filled },
    List(List),
    Raw { method: String, params: Filled },
}

/// What is expected.
#[derive(Debug)]
pub(super) struct Expect {
    /// `None`: whatever comes with the `status`.
    pub(super) outcome: Option<Outcome>,
    pub(super) code: Option<i64>,
    /// Of the HTTP response, where HTTP is spoken.
    pub(super) status: Option<u16>,
    pub(super) message: Option<(Matcher, Position)>,
    pub(super) latency: Option<Duration>,
    pub(super) progress: Option<usize>,
    pub(super) notifications: Vec<String>,
    pub(super) snapshot: bool,
    pub(super) at: Vec<Place>,
}

/// A path into the result, and what is expected there.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) text: String,
    pub(super) path: JsonPath,
    pub(super) matcher: At,
    pub(super) at: Position,
}

impl Case {
    /// Whether it is tried at a revision.
    pub(super) fn is_for(&self, revision: Revision) -> bool {
        self.revisions.is_empty() || self.revisions.contains(&revision)
    }
}

impl Suite {
    /// The file, as it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds what stands in it, or is named there, that must not come out again.
    pub fn conceal(&self, secrets: &mut Secrets) {
        for server in &self.servers {
            if let Some(command) = server.command() {
                for (name, value) in &command.env {
                    secrets.variable(name, value);
                }
                secrets.arguments(command.args.iter().map(String::as_str));
            }
            match &server.reached {
                Reached::Command(_) => {}
                Reached::Url { url, headers, bearer_env, .. } => {
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

    /// The files and directories that its servers are started from, as far as they show: the directory that a command runs
    /// in, where it has one of its own, and the files that it names.
    pub fn local(&self) -> Vec<PathBuf> {
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

    /// How many cases it has.
    pub fn len(&self) -> usize {
        self.cases.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// Whether a case is marked `only`.
    pub(super) fn is_narrowed(&self) -> bool {
        self.cases.iter().any(|case| case.only)
    }

    /// Whether progress is asked for.
    pub(super) fn wants_progress(&self) -> bool {
        self.all().any(|case| case.expect.progress.is_some())
    }

    /// What the client is able to do: all that any case answers.
    pub(super) fn able(&self) -> Scripted {
        let mut able = Scripted::default();
        for answers in self.all().filter_map(|case| case.answers.as_ref()) {
            able.consent = able.consent.or(answers.consent);
            able.says = able.says.or_else(|| answers.says.clone());
            able.roots = able.roots.or_else(|| answers.roots.clone());
        }
        able
    }

    fn all(&self) -> impl Iterator<Item = &Case> {
        self.setup.iter().chain(&self.cases)
    }
}

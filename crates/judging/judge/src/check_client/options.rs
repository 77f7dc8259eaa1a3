//! What a check of a client is asked to do: the meaning of the command line's options, free of how they were typed.

use std::path::PathBuf;
use std::time::Duration;

use net::Children;
use net::client::Command;
use wire::redact::{Redactor, Secrets};
use wire::{Revision, Transport};

use super::ending::Ending;
use crate::judging::{Reproduce, Selection, TraceSink};

/// Where the server's URL goes in a client's command.
pub const URL: &str = "{url}";
/// Where the server's command goes.
pub const SERVER: &str = "{server}";

/// What a check of a client is asked to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The client's command, with [`URL`] or [`SERVER`] in it.
    pub words: Vec<String>,
    /// How the subject is named in reports.
    pub target: String,
    /// Makes the command lines that reproduce findings.
    pub reproduce: Reproduce,
    /// Variables added to the client's environment.
    pub env: Vec<(String, String)>,
    /// Where it runs.
    pub cwd: Option<PathBuf>,
    /// The command that a client starts as its server; the address of this process is added to it.
    pub bridge: Vec<String>,
    /// The revisions to judge at; those that the client speaks where empty.
    pub revisions: Vec<Revision>,
    /// The transports it is tried over.
    pub transports: Vec<Transport>,
    /// The scenarios to play, by name or glob; all where empty.
    pub scenarios: Vec<String>,
    /// Whether a short selection is enough: fewer scenarios, and only the newest revision of each era.
    pub quick: bool,
    /// Which rules to judge by.
    pub selection: Selection,
    /// How long one scenario may take.
    pub timeout: Duration,
    /// How long everything may take in all; no limit where none.
    pub max_time: Option<Duration>,
    /// Ends the check early; what was judged until then is reported.
    pub ending: Ending,
    /// How many clients run at the same time.
    pub jobs: usize,
    /// How much of one scenario is kept.
    pub trace_bytes: usize,
    /// Owns the clients that are started.
    pub children: Children,
    /// What the user handed in that must not come out.
    pub secrets: Secrets,
    /// Replaces them, and what looks like a secret.
    pub redactor: Redactor,
    /// Who keeps the traces, if anybody does.
    pub keep: TraceSink,
}

/// How a client is told where its server is.
pub enum ServerWord {
    /// By an address.
    Url(String),
    /// By a command to start.
    Command(Vec<String>),
}

impl Options {
    /// The client's command with the server in its place. An address that has none goes last, as the official suite has it.
    pub fn command(&self, server: &ServerWord) -> Command {
        let mut words = Vec::new();
        for word in &self.words {
            match server {
                ServerWord::Url(url) => words.push(word.replace(URL, url)),
                ServerWord::Command(command) if word == SERVER => words.extend(command.iter().cloned()),
                ServerWord::Command(command) => words.push(word.replace(SERVER, &line(command))),
            }
        }
        if let ServerWord::Url(url) = server
            && !self.words.iter().any(|word| word.contains(URL))
        {
            words.push(url.clone());
        }
        let mut words = words.into_iter();
        let program = words.next().unwrap_or_default();
        Command { program, args: words.collect(), env: Vec::new(), cwd: self.cwd.clone() }
    }
}

/// A command as one line for a shell.
fn line(command: &[String]) -> String {
    let quoted = |word: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    command.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

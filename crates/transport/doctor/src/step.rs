//! What a walk found. Values only.

use std::time::Duration;

use serde_json::{Value, json};

/// One step of the way to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepName {
    /// The addresses of the host.
    Dns,
    /// A TCP connection.
    Tcp,
    /// Encryption and the certificate.
    Tls,
    /// One HTTP request.
    Http,
    /// The metadata of the server as a protected resource.
    Resource,
    /// The metadata of the authorization server.
    Issuer,
    /// Whether a client can get an identity there.
    Registration,
    /// A token that the server accepts.
    Token,
    /// The program of a command.
    Program,
    /// The start of a command.
    Start,
    /// What it writes to stdout.
    Stdout,
    /// What it writes to stderr.
    Stderr,
    /// How it ends.
    End,
    /// The first request of each era.
    Handshake,
    /// The first list.
    List,
}

impl StepName {
    /// The steps to a URL, in order.
    pub const TO_URL: [Self; 10] = [
        Self::Dns,
        Self::Tcp,
        Self::Tls,
        Self::Http,
        Self::Resource,
        Self::Issuer,
        Self::Registration,
        Self::Token,
        Self::Handshake,
        Self::List,
    ];
    /// The steps to a command, in order.
    pub const TO_COMMAND: [Self; 7] =
        [Self::Program, Self::Start, Self::Stdout, Self::Stderr, Self::End, Self::Handshake, Self::List];

    /// Its id.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Tcp => "tcp",
            Self::Tls => "tls",
            Self::Http => "http",
            Self::Resource => "resource-metadata",
            Self::Issuer => "issuer-metadata",
            Self::Registration => "registration",
            Self::Token => "token",
            Self::Program => "program",
            Self::Start => "start",
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::End => "end",
            Self::Handshake => "handshake",
            Self::List => "list",
        }
    }
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As it should.
    Ok,
    /// The way does not go on, or a client stumbles here.
    Failed,
    /// There was nothing to do, or the way ended before.
    Skipped,
}

impl Outcome {
    /// In one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// A step that was taken. Texts hold no secrets and nothing that a terminal obeys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which one.
    pub name: StepName,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took; zero where it was skipped.
    pub took: Duration,
    /// What was seen, a line each.
    pub seen: Vec<String>,
    /// What fixes it; only in a step that failed.
    pub fix: Option<String>,
}

impl Step {
    /// For a document.
    pub fn to_value(&self) -> Value {
        let took = u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX);
        json!({
            "step": self.name.as_str(), "outcome": self.outcome.as_str(), "ms": took,
            "seen": self.seen, "fix": self.fix,
        })
    }
}

/// The way to one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The steps in order, each once.
    pub steps: Vec<Step>,
}

impl Report {
    /// The first step that failed.
    pub fn failed(&self) -> Option<&Step> {
        self.steps.iter().find(|step| step.outcome == Outcome::Failed)
    }

    /// Whether a client got through to an answer: no step failed, and the handshake was made.
    pub fn works(&self) -> bool {
        let greeted = |step: &Step| step.name == StepName::Handshake && step.outcome == Outcome::Ok;
        self.failed().is_none() && self.steps.iter().any(greeted)
    }
}

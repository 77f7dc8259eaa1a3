//! A client on lines: a child process and what is said over its pipes, in either era. Keeps the text of answers as it came.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::MODERN;
use crate::root;

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(30);

/// The text of a result, or of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Result(String),
    Error(String),
}

pub(super) struct Session {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    modern: bool,
    next: u64,
}

impl Session {
    /// Starts a command with a small environment, and opens a session where the era has one.
    pub(super) fn start(command: &[String], variables: &[(&str, String)], revision: &str) -> anyhow::Result<Self> {
        let (program, words) = command.split_first().context("no command")?;
        let log = File::create(root().join("target/gateway-peers/stderr.log")).context("stderr.log")?;
        let mut command = Command::new(program);
        command.args(words).env_clear().envs(variables.iter().map(|(name, value)| (name, value)));
        for name in ["PATH", "HOME"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().with_context(|| format!("cannot start {program}"))?;
        let stdin = child.stdin.take().context("no stdin")?;
        let stdout = child.stdout.take().context("no stdout")?;
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let mut session = Self { child, stdin, lines, modern: revision == MODERN, next: 1 };
        if !session.modern {
            let client = json!({ "name": "gateway-peers", "version": "1" });
            let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
            match session.ask("initialize", params)? {
                Answer::Result(result) if result.contains(revision) => {}
                other => bail!("initialize at {revision}: {other:?}"),
            }
            session.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        }
        Ok(session)
    }

    /// Its tools.
    pub(super) fn tools(&mut self) -> anyhow::Result<Vec<Value>> {
        let mut tools = Vec::new();
        let mut params = json!({});
        loop {
            let Answer::Result(text) = self.ask("tools/list", params)? else { bail!("tools/list is refused") };
            let result: Value = serde_json::from_str(&text)?;
            tools.extend(result["tools"].as_array().cloned().unwrap_or_default());
            match result["nextCursor"].as_str() {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return Ok(tools),
            }
        }
    }

    /// Sends a request and waits for its answer.
    pub(super) fn ask(&mut self, method: &str, mut params: Value) -> anyhow::Result<Answer> {
        let id = self.next;
        self.next += 1;
        if self.modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": { "name": "gateway-peers", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let line = self.lines.recv_timeout(ANSWER).with_context(|| format!("no answer to {method}"))?;
            let message: Parts<'_> = serde_json::from_str(&line).with_context(|| format!("not a message: {line}"))?;
            if message.get("id").is_none_or(|one| one.get() != id.to_string()) || message.contains_key("method") {
                continue;
            }
            if let Some(result) = message.get("result") {
                return Ok(Answer::Result(result.get().to_owned()));
            }
            let error = message.get("error").context("neither result nor error")?;
            return Ok(Answer::Error(error.get().to_owned()));
        }
    }

    fn write(&mut self, message: &Value) -> anyhow::Result<()> {
        writeln!(self.stdin, "{message}").context("it reads no more")
    }
}

/// The members of an object, each as it was written.
pub(super) type Parts<'a> = std::collections::BTreeMap<String, &'a RawValue>;

impl Drop for Session {
    fn drop(&mut self) {
        // A gateway ends its server, too.
        let _ = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        for _ in 0..100 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

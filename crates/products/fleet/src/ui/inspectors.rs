//! Traces opened in the inspector: each is a `proof inspect` of its own, which the browser opens at the address that it prints.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use net::process::Background;
use net::server::http::StatusCode;
use page::{Body, Failure};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Mutex;

use super::Ui;
use crate::{compute, evidence};

/// How many may be open; the oldest ends for a new one.
const MOST: usize = 4;
/// How long one may take to print its address, and to end.
const PATIENCE: Duration = Duration::from_secs(20);
const FAREWELL: Duration = Duration::from_secs(1);

/// The inspectors that are open, the oldest first, each with the folder of its trace.
#[derive(Default)]
pub(super) struct Inspectors(Mutex<VecDeque<(Background, TempDir)>>);

impl Inspectors {
    /// Ends all of them.
    pub(super) async fn end(&self) {
        for (inspector, _folder) in self.0.lock().await.drain(..) {
            inspector.end(FAREWELL).await;
        }
    }
}

impl Ui {
    /// Opens a trace of a finding; the address of the inspector, with its token.
    pub(super) async fn inspect(&self, body: &Body) -> Result<Value, Failure> {
        let (server, gate) = (body.text("server")?, super::reading::gate_of(body.text("gate")?)?);
        let name = body.text("trace")?;
        let report = self.report_of(server, gate).await?;
        let text = evidence::trace(&report, name).ok_or_else(|| Failure::missing("this trace is not kept"))?;
        let mut open = self.inspectors.0.lock().await;
        while open.len() >= MOST {
            if let Some((oldest, _folder)) = open.pop_front() {
                oldest.end(FAREWELL).await;
            }
        }
        let (mut inspector, folder) = self.started(text).map_err(|error| cannot(&error.to_string()))?;
        let begun = Instant::now();
        loop {
            if let Some(address) = address_in(&inspector.output()) {
                open.push_back((inspector, folder));
                return Ok(json!({ "address": address }));
            }
            if inspector.exited().is_some() || begun.elapsed() > PATIENCE {
                let output = inspector.output();
                inspector.end(FAREWELL).await;
                return Err(cannot(output.lines().next().unwrap_or("it printed no address")));
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    fn started(&self, text: &str) -> std::io::Result<(Background, TempDir)> {
        let folder = compute::folder()?;
        let path = folder.path().join("trace.jsonl");
        std::fs::write(&path, text)?;
        let args = ["inspect", "--http", "127.0.0.1:0", "--trace", &path.to_string_lossy()];
        let inspector = self.runner.background(&args, folder.path())?;
        Ok((inspector, folder))
    }
}

fn cannot(why: &str) -> Failure {
    let what = format!("`proof inspect` does not start: {}", wire::escape::snippet(why, 200));
    Failure::new(
        StatusCode::BAD_GATEWAY,
        what,
        "proof inspect --trace FILE, with the trace from `proof check --save-trace`",
    )
}

/// The address that an inspector printed, whole.
fn address_in(output: &str) -> Option<String> {
    let line = output.lines().find(|line| line.starts_with("http://127.0.0.1:") && line.contains("/#token="))?;
    let is_whole = output.contains(&format!("{line}\n"));
    let is_plain = line.chars().all(|c| c.is_ascii_alphanumeric() || "-_:/#=&.".contains(c));
    (is_whole && is_plain).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_address_on_this_machine_is_taken() {
        let line = "http://127.0.0.1:4000/#token=0a1b\n";
        assert_eq!(address_in(line).as_deref(), Some("http://127.0.0.1:4000/#token=0a1b"));
        for wrong in [
            line.trim_end(),
            "http://evil.example/#token=1\n",
            "http://127.0.0.1:1/\n",
            "http://127.0.0.1:1/#token=\"><a\n",
        ] {
            assert_eq!(address_in(wrong), None, "{wrong}");
        }
    }
}

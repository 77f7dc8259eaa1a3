//! One gate of one server, computed: its commands run, their reports judged, secrets replaced. Must not know the store.

use std::io;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use wire::redact::Redactor;

use crate::child::Runner;
use crate::config::{Fleet, Server};
use crate::gate::{Finding, GateKind, Judged, Outcome};
use crate::gates::{self, Ended, Material, Surface};
use crate::{evidence, files, launch, secret};

/// A gate's outcome, and the report that it was read from.
#[derive(Debug)]
pub struct Computed {
    /// What came of it.
    pub judged: Judged,
    /// The first report, as JSON.
    pub report: Option<Vec<u8>>,
}

/// What a look at a server showed.
#[derive(Debug)]
pub struct Look {
    /// What it lists; `None` where it cannot be seen.
    pub surface: Option<Surface>,
    /// The gate `starts`.
    pub starts: Computed,
}

/// Lists what a server has.
pub async fn look(runner: &Runner, fleet: &Fleet, server: &Server) -> Look {
    let ended = match run_all(runner, fleet, server, GateKind::Starts).await {
        Ok(ended) => ended,
        Err(judged) => return Look { surface: None, starts: Computed { judged, report: None } },
    };
    let document = ended.first().filter(|ended| ended.code == Some(0)).and_then(|ended| ended.document.as_ref());
    let surface = document.and_then(Surface::of);
    let seen = surface.clone().unwrap_or_default();
    Look { starts: judge(fleet, server, GateKind::Starts, &seen, ended, &[], &secret::redactor([server])), surface }
}

/// What the names of jobs' folders begin with.
pub const JOBS: &str = "proof-fleet-";

/// A folder of this program that only its owner reads: reports and traces are no other user's.
pub fn folder() -> io::Result<TempDir> {
    use std::os::unix::fs::PermissionsExt as _;
    let own = std::fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix(&net::process::marked(JOBS)).permissions(own).tempdir()
}

/// Computes a gate of a server that lists `surface`.
pub async fn gate(runner: &Runner, fleet: &Fleet, server: &Server, kind: GateKind, surface: &Surface) -> Computed {
    let negatives = if kind == GateKind::Tested { files::negatives(fleet, server) } else { Vec::new() };
    match run_all(runner, fleet, server, kind).await {
        Ok(ended) => judge(fleet, server, kind, surface, ended, &negatives, &secret::redactor([server])),
        Err(judged) => Computed { judged, report: None },
    }
}

/// Runs the commands of a gate in a folder that is removed afterwards. `Err` is the outcome where there is nothing to run.
async fn run_all(runner: &Runner, fleet: &Fleet, server: &Server, kind: GateKind) -> Result<Vec<Ended>, Judged> {
    let incomplete = |why: String| Judged::new(Outcome::Incomplete, why);
    let work = folder().map_err(|error| incomplete(format!("no folder for the job can be made: {error}")))?;
    let invocations =
        launch::invocations(kind, fleet, server, work.path()).map_err(|why| Judged::new(Outcome::Skipped, why))?;
    if let Some(path) = launch::files(kind, fleet, server).iter().find(|path| is_missing(kind, path)) {
        return Err(incomplete(format!("{} does not exist", shown(fleet, path))));
    }
    if kind == GateKind::Scanned
        && let Some(configuration) = launch::client_configuration(server)
    {
        let written = std::fs::write(work.path().join("launch.json"), configuration.to_string());
        written.map_err(|error| incomplete(format!("the job's folder cannot be written: {error}")))?;
    }
    let mut ended = Vec::new();
    for invocation in &invocations {
        ended.push(runner.run(fleet, server, invocation, work.path()).await);
    }
    // The folder goes when this returns, and the traces that it holds.
    for document in ended.iter_mut().filter_map(|one| one.document.as_mut()).filter(|_| kind == GateKind::Conforms) {
        evidence::keep_traces(document, work.path(), &secret::redactor([server]));
    }
    Ok(ended)
}

/// Suppressions need not be there.
fn is_missing(kind: GateKind, path: &Path) -> bool {
    kind != GateKind::Scanned && !path.exists()
}

fn shown(fleet: &Fleet, path: &Path) -> String {
    path.strip_prefix(&fleet.folder).unwrap_or(path).display().to_string()
}

fn judge(
    fleet: &Fleet,
    server: &Server,
    kind: GateKind,
    surface: &Surface,
    mut ended: Vec<Ended>,
    negatives: &[String],
    redactor: &Redactor,
) -> Computed {
    for one in &mut ended {
        one.stderr = redactor.redact_known(&one.stderr).into_owned();
    }
    let material = Material { server, thresholds: &fleet.thresholds, surface, ended: &ended, negatives };
    // A secret that is cut is not found any more.
    let judged = redacted(gates::judge(kind, &material), redactor).bounded();
    let report = ended.into_iter().next().and_then(|ended| ended.document);
    let fits = |document: &Value| serde_json::to_vec(document).ok().filter(|bytes| bytes.len() <= MOST_REPORT);
    // Traces must not cost the report.
    let report = report.and_then(|document| fits(&document).or_else(|| fits(&evidence::without_traces(document))));
    Computed { judged, report }
}

/// The largest report that is kept.
const MOST_REPORT: usize = 16 << 20;

/// The same without what variables of the entry hold: reports have it replaced already, and messages should.
fn redacted(mut judged: Judged, redactor: &Redactor) -> Judged {
    let replace = |text: &mut String| *text = redactor.redact_known(text).into_owned();
    replace(&mut judged.summary);
    for finding in &mut judged.findings {
        let Finding { rule, level, place, message, fix, fails: _ } = finding;
        for text in [rule, level, place, message, fix] {
            replace(text);
        }
    }
    judged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_replaced_before_its_text_is_cut() {
        let secret = "s3cr3t-4829a7c1e5b36d08f2";
        let text = "servers:\n  - { name: a, owner: o, source: s, command: [x] }\n";
        let fleet = Fleet::read(text, ".".into()).expect("valid");
        let mut known = wire::redact::Secrets::default();
        known.add(secret);
        let redactor = Redactor::masking().knowing(&known);
        for blanks in 280..300 {
            let mut ended = Ended { code: Some(1), ..Ended::default() };
            let message = format!("{}{secret}", "x".repeat(blanks));
            let finding = serde_json::json!({ "class": "c", "severity": "high", "what": message, "of": "tool" });
            ended.document = Some(serde_json::json!({
                "schema": "proof.lock-drift/1", "status": "drift", "changes": [finding], "notCompared": []
            }));
            let stderr = Ended { stderr: format!("{}{secret}", "x".repeat(blanks - 100)), ..Ended::default() };
            let surface = Surface::default();
            let judged = |ended| {
                judge(&fleet, &fleet.servers[0], GateKind::Locked, &surface, vec![ended], &[], &redactor).judged
            };
            let found = judged(ended);
            assert_eq!(found.outcome, Outcome::Fail, "{found:?}");
            let shown = format!("{found:?}{:?}", judged(Ended { code: Some(3), ..stderr }));
            assert!(!shown.contains("s3cr"), "{blanks}: {shown}");
        }
    }
}

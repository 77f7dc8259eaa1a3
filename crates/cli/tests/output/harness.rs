//! Runs the binary among the recordings and keeps what it printed. Does not know what that ought to be.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::printed::Printed;

/// The recordings: one that keeps every rule, one that breaks some and is full of hostile text, one over HTTP.
pub(crate) const RECORDINGS: [&str; 3] = ["clean.jsonl", "broken.jsonl", "http.jsonl"];

/// Runs `proof` with these arguments; neither stdout nor stderr is a terminal.
pub(crate) fn proof(arguments: &[&str]) -> Printed {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof"));
    command.args(arguments).stdin(Stdio::null()).env_remove("RUST_LOG");
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings"));
    Printed::by(&mut command)
}

/// `proof check --trace RECORDING` with more arguments.
pub(crate) fn check(recording: &str, arguments: &[&str]) -> Printed {
    proof(&[&["check", "--trace", recording], arguments].concat())
}

/// The same in JSON.
pub(crate) fn report(recording: &str, arguments: &[&str]) -> Value {
    let ran = check(recording, &[&["--format", "json"], arguments].concat());
    serde_json::from_str(&ran.stdout).expect("one JSON document on stdout")
}

/// The results of a report.
pub(crate) fn results(report: &Value) -> &[Value] {
    report["results"].as_array().expect("results")
}

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
    let ran = Printed::by(&mut command);
    Printed { stdout: undated(&ran.stdout), ..ran }
}

/// A text with one date in place of every time at which a report was made.
fn undated(text: &str) -> String {
    const FORM: &str = "0000-00-00T00:00:00";
    // For readers, a blank stands in place of the `T`.
    let fits = |c: u8, due: u8| match due {
        b'0' => c.is_ascii_digit(),
        b'T' => matches!(c, b'T' | b' '),
        _ => c == due,
    };
    let is_time = |text: &[u8]| text.iter().zip(FORM.bytes()).all(|(c, due)| fits(*c, due));
    let mut text = text.as_bytes().to_vec();
    for at in 0..text.len().saturating_sub(FORM.len()) {
        if is_time(&text[at..at + FORM.len()]) {
            text[at..at + FORM.len()].copy_from_slice(b"2026-01-02T03:04:05");
        }
    }
    String::from_utf8(text).expect("UTF-8")
}

/// What a report of `proof check --trace RECORDING` with these arguments says, but for when and by which command it was made;
/// with one blank between words.
pub(crate) fn unmade(report: &str, recording: &str, arguments: &[&str]) -> String {
    let command = [&["proof check --trace", recording], arguments].concat().join(" ");
    let words = undated(report).replace("<span>", "").replace("</span>", "");
    words.split_whitespace().collect::<Vec<_>>().join(" ").replace(&command, "COMMAND")
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

//! Runs the binary and keeps what it printed. Does not know what that ought to be.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::printed::Printed;

/// The binary.
pub(crate) const PROOF: &str = env!("CARGO_BIN_EXE_proof");

/// `proof` with these arguments.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROOF);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).env_remove("RUST_LOG");
    command
}

/// Runs `proof check-client` with these arguments.
pub(crate) fn check(arguments: &[&str]) -> Printed {
    Printed::by(&mut command(&[&["check-client"], arguments].concat()))
}

/// The same in JSON.
pub(crate) fn report(arguments: &[&str]) -> (Printed, Value) {
    let ran = check(&[&["--format", "json"], arguments].concat());
    let report = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr));
    (ran, report)
}

/// What became of a rule, at every place it was judged.
pub(crate) fn outcomes<'r>(report: &'r Value, rule: &str) -> Vec<&'r str> {
    let results = report["results"].as_array().unwrap().iter().filter(|result| result["rule"] == rule);
    results.map(|result| result["outcome"].as_str().unwrap()).collect()
}

/// The places of a report's runs.
pub(crate) fn places(report: &Value) -> Vec<String> {
    let place = |run: &Value| format!("{} {}", run["transport"].as_str().unwrap(), run["revision"].as_str().unwrap());
    report["runs"].as_array().unwrap().iter().map(place).collect()
}

/// A client in shell that says `lines` to its server and then closes its stdin. Its arguments are the server's command.
pub(crate) fn shell_client(folder: &Path, lines: &[&str]) -> PathBuf {
    let path = folder.join("client.sh");
    let said: Vec<_> = lines.iter().map(|line| format!("printf '%s\\n' '{line}'; sleep 0.1\n")).collect();
    let said = said.concat();
    std::fs::write(&path, format!("{{\n{said}}} | \"$@\" > /dev/null\n")).unwrap();
    path
}

/// The first words of a legacy client, and a list of tools.
pub(crate) const GREETING: [&str; 3] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
];

//! The program judges its own client over real connections, at every revision that each transport carries.

use std::process::Command;

use serde_json::Value;

/// Judges itself as a client with these words.
fn judged(place: &[&str], client: &[&str]) -> Value {
    let proof = env!("CARGO_BIN_EXE_proof");
    let mut command = Command::new(proof);
    command.args(["check-client", "--format", "json", "--timeout", "10"]).args(place);
    let ran = command.args(["--", proof, "client"]).args(client).output().expect("proof runs");
    serde_json::from_slice(&ran.stdout)
        .unwrap_or_else(|error| panic!("{client:?}: {error}\n{}", String::from_utf8_lossy(&ran.stderr)))
}

/// The rules that are broken, each with what is said of it.
fn broken(report: &Value) -> Vec<(String, String)> {
    let results = report["results"].as_array().expect("results");
    let broken = results.iter().filter(|finding| finding["outcome"] == "fail" || finding["outcome"] == "warn");
    let text = |finding: &Value, member: &str| finding[member].as_str().unwrap_or_default().to_owned();
    broken.map(|finding| (text(finding, "rule"), text(finding, "message"))).collect()
}

#[test]
fn our_own_client_breaks_nothing_anywhere() {
    let everywhere = judged(&["--transport", "http,sse,ws"], &["--conformance", "{url}"]);
    assert_eq!(broken(&everywhere), []);
    assert_eq!(everywhere["runs"].as_array().map(Vec::len), Some(10));
    let piped = judged(&[], &["--conformance", "--", "{server}"]);
    assert_eq!(broken(&piped), []);
}

//! `--conformance`: uses everything that a server offers.

use crate::harness::Serving;

#[test]
fn conformance_uses_everything_in_the_official_catalogue() {
    let serving = Serving::with(&["--catalog", "official"]);
    for revision in ["2025-11-25", "2026-07-28"] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_proof"));
        command.args(["client", "--conformance", &serving.mcp()]).env("MCP_CONFORMANCE_PROTOCOL_VERSION", revision);
        let ran = crate::harness::run(&mut command).ends_with(0);
        assert_eq!(ran.stdout, "", "{ran:?}");
    }
}

#[test]
fn invalid_variables_of_the_suite_are_reported() {
    for (variable, value) in [("MCP_CONFORMANCE_PROTOCOL_VERSION", "1999-01-01"), ("MCP_CONFORMANCE_CONTEXT", "{")] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_proof"));
        command.args(["client", "--conformance", "http://127.0.0.1:1/"]).env(variable, value);
        crate::harness::run(&mut command).ends_with(2).says(&[variable]);
    }
}

//! `--conformance`: a tour of what a server offers.

use crate::harness::Serving;

#[test]
fn the_tour_uses_everything_that_the_official_catalogue_has() {
    let serving = Serving::with(&["--catalog", "official"]);
    for revision in ["2025-11-25", "2026-07-28"] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_proof"));
        command.args(["client", "--conformance", &serving.mcp()]).env("MCP_CONFORMANCE_PROTOCOL_VERSION", revision);
        let ran = crate::harness::run(&mut command).ends_with(0);
        assert_eq!(ran.stdout, "", "{ran:?}");
    }
}

#[test]
fn what_the_suite_sets_wrongly_is_told() {
    for (variable, value) in [("MCP_CONFORMANCE_PROTOCOL_VERSION", "1999-01-01"), ("MCP_CONFORMANCE_CONTEXT", "{")] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_proof"));
        command.args(["client", "--conformance", "http://127.0.0.1:1/"]).env(variable, value);
        crate::harness::run(&mut command).ends_with(2).says(&[variable]);
    }
}

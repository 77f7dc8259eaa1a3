//! Models and metadata, which no revision defines, at every revision.

use crate::harness::{Ran, client};

const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

fn at(revision: &str, words: &[&str]) -> Ran {
    let server = ["--", env!("CARGO_BIN_EXE_proof"), "serve", "--stdio"];
    client(&[words, &["--revision", revision], &server].concat())
}

#[test]
fn models_are_listed_and_selected_at_every_revision() {
    for revision in REVISIONS {
        let listed = at(revision, &["models"]).ends_with(0).stdout;
        assert!(listed.starts_with("proof-small (selected)\n  ") && listed.contains("\n  context: "), "{listed}");
        at(revision, &["models", "proof-large"]).prints("proof-large is selected\n");
        at(revision, &["models", "no-such"]).ends_with(1).says(&["-32602", "no-such"]);
        let json = at(revision, &["models", "--json"]).ends_with(0).stdout;
        assert!(json.contains("\"active\":\"proof-small\""), "{json}");
    }
}

#[test]
fn metadata_is_shown_at_every_revision() {
    for revision in REVISIONS {
        let shown = at(revision, &["metadata"]).ends_with(0).stdout;
        assert!(shown.contains("\"authRequired\": false"), "{shown}");
    }
}

#[test]
fn a_missing_extension_names_the_verb_that_has_it() {
    for (method, verb) in [("models/list", "`proof client models`"), ("metadata/get", "`proof client metadata`")] {
        let ran = at("2026-07-28", &["raw", method]).ends_with(1);
        let ran = ran.says(&["-32021", "try: ", verb]);
        assert!(!ran.stderr.contains("--answer"), "{ran:?}");
    }
}

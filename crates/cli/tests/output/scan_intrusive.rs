//! `proof scan --intrusive` on our own server, and what it does not take. Servers that are weak on purpose are scanned by
//! `cargo xtask scan-intrusive`.

use std::process::{Command, Stdio};

use base64::Engine as _;
use serde_json::{Value, json};

use crate::harness::proof;
use crate::printed::Printed;
use crate::scan::{list, written};
use crate::serving::Serving;

const PROOF: &str = env!("CARGO_BIN_EXE_proof");

#[test]
fn our_own_server_is_attacked_and_proves_nothing() {
    let above = tempfile::tempdir().expect("a folder");
    let served = above.path().join("served");
    std::fs::create_dir(&served).expect("a folder");
    std::fs::write(served.join("a.txt"), "a").expect("a file");
    let folder = served.to_string_lossy();
    let server = ["--", PROOF, "serve", "--stdio", "--resources", &folder];
    let ran = proof(&[&["scan", "--intrusive", "--plant", &folder, "--format", "json"][..], &server].concat());
    // Its tools that need a model or a decision, and the one that always fails, succeed for nobody here.
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let incomplete = report["incomplete"].as_array().expect("a list");
    let is_of = |one: &Value, name: &str| one.as_str().is_some_and(|one| one.contains(&format!("no call of {name} ")));
    let unreached = ["fail", "sample", "buy"];
    assert_eq!(incomplete.len(), unreached.len(), "{incomplete:?}");
    assert!(unreached.iter().all(|name| incomplete.iter().any(|one| is_of(one, name))), "{incomplete:?}");
    let rules = ["command-injection", "argument-injection", "path-traversal", "ssrf", "changing-definition"];
    for rule in rules {
        let id = format!("scan.{rule}");
        assert!(report["tried"][&id].as_u64() > Some(0), "{rule}: {}", report["tried"]);
        let results = report["results"].as_array().expect("results");
        assert!(results.iter().all(|one| one["rule"] != id.as_str()), "{}", report["results"]);
    }
    let left = |path: &std::path::Path| std::fs::read_dir(path).expect("a folder").count();
    assert_eq!((left(above.path()), left(&served)), (1, 1), "what was planted is removed");
}

#[test]
fn a_rule_that_was_not_tried_has_not_passed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = written(folder.path(), "tools.json", &list("Adds two numbers.").to_string());
    for format in ["junit", "tap"] {
        let text = proof(&["scan", "--format", format, &file]).stdout;
        assert!(text.contains("scan.injection") && !text.contains("scan.ssrf"), "{text}");
    }
}

#[test]
fn it_needs_a_server_and_stays_on_this_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = written(folder.path(), "tools.json", &list("Adds two numbers.").to_string());
    for (words, expected) in [
        (vec!["--intrusive", &file], "calls a server, and none is given"),
        (vec!["--intrusive", "--site", "192.0.2.1:80", "--", PROOF], "address of this machine"),
        (vec!["--intrusive", "--plant", "/no/such", "--", PROOF, "serve", "--stdio"], "is not a directory"),
        (
            vec!["--intrusive", "--other-audience-env", "NO_SUCH_VARIABLE", "--", PROOF, "serve", "--stdio"],
            "is not set",
        ),
        (vec!["--plant", ".", &file], "--intrusive"),
        (vec!["--intrusive", "--config", &file], "cannot be used with"),
    ] {
        let ran = proof(&[&["scan"][..], &words].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{words:?}: {}", ran.stderr);
    }
}

/// A JWT with this audience. Nobody signed it: a server that is asked whether it is for itself need not get so far.
fn token(audience: &str) -> String {
    let part = |value: &Value| base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let claims = json!({ "iss": "https://issuer.example", "sub": "u", "aud": audience, "exp": 4_000_000_000_u64 });
    format!("{}.{}.{}", part(&json!({ "alg": "ES256", "typ": "JWT" })), part(&claims), part(&json!({ "s": 1 })))
}

fn scanned_with(token: &str, url: &str) -> Printed {
    let mut command = Command::new(PROOF);
    command.args(["scan", "--intrusive", "--oauth", "--other-audience-env", "OTHER", "--format", "json", url]);
    Printed::by(command.env("OTHER", token).stdin(Stdio::null()))
}

#[test]
fn a_token_for_another_server_is_found_where_it_is_accepted() {
    for (fault, found) in [(Some("any-audience"), true), (None, false)] {
        let mut serve = Command::new(PROOF);
        serve.args(["serve", "--http", "127.0.0.1:0", "--auth", "dev"]);
        serve.args(fault.into_iter().flat_map(|name| ["--fault", name]));
        let serving = Serving::start(&mut serve);
        let other = token("https://other.example/mcp");
        let ran = scanned_with(&other, &serving.url);
        assert!(!ran.stdout.contains(&other) && !ran.stderr.contains(&other));
        let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
        assert_eq!(report["tried"]["scan.token-audience"], 1, "{report}");
        let results = report["results"].as_array().expect("results");
        assert_eq!(results.iter().any(|one| one["rule"] == "scan.token-audience"), found, "{report}");
        let high = report["summary"]["findings"]["high"].as_u64();
        assert_eq!(high, Some(u64::from(found)), "{report}");
        let own = scanned_with(&token(&serving.url), &serving.url);
        assert_eq!(own.code, Some(2), "{}", own.stderr);
        assert!(own.stderr.contains("its audience is the server that is scanned"), "{}", own.stderr);
    }
}

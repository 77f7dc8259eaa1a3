//! Servers over HTTP that are not where others are, or do not let everybody in.

use crate::catalogue::Catalogue;
use crate::harness::{check, proof};
use crate::offers::TOOLS;
use crate::verdicts::Checked;

const LEAST: [(&str, usize); 4] = [("2025-03-26", 36), ("2025-06-18", 40), ("2025-11-25", 44), ("2026-07-28", 63)];

#[test]
fn behind_a_path() {
    let serving = Catalogue::of(TOOLS).over_http(&["--path", "/some/deep/mcp"], &[]);
    assert!(serving.url.ends_with("/some/deep/mcp"), "{}", serving.url);
    let checked = Checked::of(check(&["--revision", "all"]), &[&serving.url]);
    checked.is_clean().says(&["tools-only 1.0", &serving.url]).keeps(&LEAST).ran.within(20);
    let elsewhere = serving.url.replace("/some/deep/mcp", "/mcp");
    let ran = check(&[&elsewhere]).run();
    ran.found_no_answer(&["HTTP 404", &format!("at {elsewhere}"), "try: check the path"]).within(10);
}

#[test]
fn at_no_path_at_all() {
    for path in ["some/where", "/a?b=c", "/a%20b", "/a b", "/ws", "/.well-known/oauth-protected-resource"] {
        let ran = proof(&["serve", "--http", "127.0.0.1:0", "--path", path]).run();
        ran.was_misused(&["'--path <PATH>'", "/some/deep/mcp"]);
    }
}

const TOKEN: &str = "open-sesame-4711";
const WRONG: &str = "open-barley-4712";

#[test]
fn behind_a_token() {
    let serving = Catalogue::of(TOOLS).over_http(&["--bearer-env", "TOKEN"], &[("TOKEN", TOKEN)]);
    let target = [serving.url.as_str()];
    let metadata = serving.url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp");

    let without = Checked::of(check(&[]), &target);
    without.ran.ends_with(1).within(10);
    without.keeps(&[("2026-07-28", 8)]).passes("authorization.missing-token-401");
    without.says(&["demands a bearer token, and none was given", &metadata, "hand it over with --bearer-env VAR"]);
    assert_eq!(without.ran.last_line(), "Failed: 1 run ended early, so some rules were not tested.");

    let wrong = Checked::of(check(&["--bearer-env", "TOKEN"]).variable("TOKEN", WRONG), &target);
    wrong.ran.ends_with(1).within(10);
    wrong.keeps(&[("2026-07-28", 8)]);
    wrong.says(&["refuses the token that was given", &metadata, "try another with --bearer-env VAR"]);
    assert_eq!(wrong.ran.last_line(), "Failed: 1 run ended early, so some rules were not tested.");
    assert!(!wrong.ran.output().contains(WRONG), "the token is shown");

    let right = Checked::of(check(&["--revision", "all", "--bearer-env", "TOKEN"]).variable("TOKEN", TOKEN), &target);
    right.is_clean().keeps(&LEAST).says(&["tools-only 1.0"]).ran.within(20);
    right.passes("authorization.missing-token-401").passes("authorization.invalid-token-401");
    assert!(!right.ran.output().contains(TOKEN), "the token is shown");
}

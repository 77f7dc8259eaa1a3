//! What is no client, and what is no way to call us: what happened, where, and what to try.

use crate::harness::{PROOF, check};

#[test]
fn a_command_that_is_not_a_client_exits_with_three() {
    let absent = check(&["--", "/no/such/client"]);
    assert_eq!(absent.code, Some(3));
    assert_eq!(
        absent.stderr,
        "error: the client was not started: `/no/such/client` was not found\n  try: the command by itself\n"
    );
    let silent = check(&["--", "sh", "-c", "echo I would rather not >&2; exit 5"]);
    assert_eq!(silent.code, Some(3));
    assert!(silent.stderr.starts_with("error: the client said nothing to the server it was given (exit code 5)\n"));
    assert!(silent.stderr.contains("it said: I would rather not"), "{}", silent.stderr);
    let deaf = check(&["--timeout", "0.3", "--", "sleep", "60"]);
    assert_eq!(deaf.code, Some(3), "{}", deaf.stderr);
}

#[test]
fn an_unsupported_revision_is_an_error() {
    let over_http = check(&["--revision", "2024-11-05", "--", "true"]);
    assert_eq!(over_http.code, Some(2), "{}", over_http.stderr);
    let ran = check(&[
        "--revision",
        "2025-03-26",
        "--",
        PROOF,
        "client",
        "--revision",
        "2026-07-28",
        "--url",
        "{url}",
        "ping",
    ]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn usage_errors_have_a_remedy() {
    let cases: [(&[&str], &str); 4] = [
        (&["--scenario", "tool_call", "--", "x"], "try: `tools_call`; --list-scenarios lists all scenarios"),
        (&["--transport", "stdio", "--", "x"], "does not contain {server}"),
        (&["--only", "no.such.rule", "--", "x"], "unknown rule `no.such.rule`"),
        (&[], "required"),
    ];
    for (arguments, wanted) in cases {
        let ran = check(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(wanted), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn the_scenarios_are_listed_on_eighty_columns() {
    let ran = check(&["--list-scenarios"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.contains("tools_call  (any transport, any revision)\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("hostile.stdout-banner  (stdio, any revision)\n"), "{}", ran.stdout);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
}

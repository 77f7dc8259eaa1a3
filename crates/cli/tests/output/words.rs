//! Help and explanations.

use crate::harness::proof;

fn said(arguments: &[&str]) -> String {
    let ran = proof(arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.stderr, "");
    for line in ran.stdout.lines() {
        assert!(line.chars().count() <= 80 || line.contains("https://"), "too wide: {line}");
        assert!(!line.contains('\u{1b}'), "{line:?}");
    }
    ran.stdout
}

#[test]
fn help() {
    insta::assert_snapshot!(said(&["--help"]));
    insta::assert_snapshot!(said(&["check", "--help"]));
}

#[test]
fn a_judged_rule() {
    insta::assert_snapshot!(said(&["explain", "tools.names-unique"]));
}

#[test]
fn a_rule_with_several_wordings() {
    insta::assert_snapshot!(said(&["explain", "http.accepted-202"]));
}

#[test]
fn a_rule_that_no_trace_can_show() {
    insta::assert_snapshot!(said(&["explain", "completion.rate-limited"]));
}

#[test]
fn an_area() {
    insta::assert_snapshot!(said(&["explain", "tools.names-*"]));
    let all = said(&["explain", "tools.*"]);
    assert!(all.lines().filter(|line| line.starts_with("tools.")).count() >= 15, "{all}");
    assert!(all.lines().all(|line| !line.starts_with("http.")), "{all}");
}

#[test]
fn every_rule_can_be_explained() {
    let list = said(&["explain", "*"]);
    let ids: Vec<&str> = list
        .lines()
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.strip_suffix("MUST"))
        .map(str::trim)
        .collect();
    assert!(ids.len() > 100, "{}", ids.len());
    // Each is a process: a sample will do.
    for id in ids.iter().step_by(10) {
        let text = said(&["explain", id]);
        assert!(text.starts_with(&format!("{id}  (binds ")), "{text}");
        let judging = ["\nNot judged\n", "\nNot judged yet\n", "\nHow it is judged\n"];
        assert!(judging.iter().any(|heading| text.contains(heading)), "{text}");
        assert!(!text.contains("\n\n\n"), "{text}");
    }
}

#[test]
fn an_unknown_rule() {
    let ran = proof(&["explain", "tools.name-unique"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(ran.stderr);
    let ran = proof(&["explain", "nothing.like-it*"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(ran.stderr);
}

/// `proof help oauth` names every verb that signs in.
#[test]
fn every_verb_with_oauth_is_named_in_its_topic() {
    let topic = said(&["help", "oauth"]);
    let topic: Vec<&str> = topic.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
    let verbs = said(&["--help"]);
    let verbs = verbs.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    let mut signing_in = 0;
    for verb in verbs.filter(|verb| verb.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !verb.starts_with('-'))
    {
        let help = proof(&[verb, "--help"]);
        if help.code == Some(0) && help.stdout.contains(" --oauth") {
            signing_in += 1;
            assert!(topic.contains(&verb), "`proof {verb}` takes --oauth");
        }
    }
    assert!(signing_in >= 10, "{signing_in} verbs");
}

//! The report for people.

use std::collections::BTreeMap;

use crate::harness::{RECORDINGS, check, proof, report, results};

/// Rules that the hostile recording breaks, keeps, does not exercise, and that do not apply to it.
const FEW: &str = "tools.names-unique,tools.names-characters,shape.results,jsonrpc.result-id,jsonrpc.utf8,\
    stdio.only-messages-on-stdout,tools.list-answered,ping.answered,http.accepted-202";

#[test]
fn reports() {
    insta::assert_snapshot!(check("clean.jsonl", &["--only", FEW]).stdout);
    insta::assert_snapshot!(check("broken.jsonl", &["--only", FEW]).stdout);
    insta::assert_snapshot!(check("broken.jsonl", &["--only", FEW, "--verbose"]).stdout);
    insta::assert_snapshot!(check("http.jsonl", &["--only", "http.accepted-202,http.accepted-empty"]).stdout);
}

#[test]
fn every_line_fits_and_is_harmless() {
    for recording in RECORDINGS {
        for more in [&[][..], &["--verbose"], &["--safety", "--verbose"]] {
            let ran = check(recording, more);
            for line in ran.stdout.lines() {
                let free = line.contains("https://") || line.trim_start().starts_with("reproduce: ");
                assert!(line.chars().count() <= 80 || free, "too wide: {line}");
                assert!(!line.contains(|c: char| c.is_control() || c == '\u{202e}'), "{line:?}");
                assert_eq!(line.trim_end(), line, "space at the end");
            }
            assert!(!ran.stdout.contains("\n\n\n"), "{}", ran.stdout);
            assert_eq!(ran.stderr, "");
        }
    }
}

#[test]
fn the_last_line_is_the_verdict() {
    let last = |recording, more: &[&str]| {
        let ran = check(recording, more);
        (ran.stdout.lines().last().unwrap_or_default().to_owned(), ran.code)
    };
    let broken = ["--only", FEW];
    assert_eq!(last("clean.jsonl", &[]), ("Passed: no rule is broken.".to_owned(), Some(0)));
    assert_eq!(last("broken.jsonl", &broken), ("Failed: 3 MUST rules broken (2 warnings).".to_owned(), Some(1)));
    let should = ["--only", "tools.names-unique"];
    let line = "Passed: 1 warning.";
    assert_eq!(last("broken.jsonl", &should), (line.to_owned(), Some(0)));
    let line = "Failed: no rule was judged, so this says nothing about the server.";
    assert_eq!(last("clean.jsonl", &["--only", "http.accepted-202"]), (line.to_owned(), Some(1)));
}

/// What stands over the carets, by the rule's id.
fn marked(text: &str) -> BTreeMap<String, String> {
    let mut marked: BTreeMap<String, String> = BTreeMap::new();
    let mut rule = String::new();
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.windows(2) {
        if let Some(rest) = pair[0].strip_prefix("FAIL  ").or_else(|| pair[0].strip_prefix("WARN  ")) {
            rest.split("  ").next().unwrap_or_default().clone_into(&mut rule);
        }
        if pair[1].contains('^') && pair[1].trim().chars().all(|c| c == '^') {
            let under = pair[0].chars().zip(pair[1].chars()).filter(|(_, mark)| *mark == '^').map(|(c, _)| c);
            marked.entry(rule.clone()).or_default().extend(under);
        }
    }
    marked
}

#[test]
fn the_carets_stand_under_the_offending_part() {
    let marked = marked(&check("broken.jsonl", &["--only", FEW]).stdout);
    let under = |rule: &str| marked.get(rule).map(String::as_str);
    assert_eq!(under("jsonrpc.result-id"), Some("\"5\""));
    assert_eq!(under("shape.results"), Some("7"));
    assert_eq!(under("tools.names-unique"), Some("\"a\""));
    assert_eq!(under("tools.names-characters"), Some(r#""bad name \u001b[31m\u{202e}""#));
    assert_eq!(under("stdio.only-messages-on-stdout"), None, "the whole line is at fault");
}

#[test]
fn the_carets_stand_under_wide_characters() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("wide.jsonl");
    let trace = std::fs::read_to_string("tests/recordings/broken.jsonl").expect("the recording");
    std::fs::write(&path, trace.replace("\"x\":", "\"日本語\":\"").replace(r#""text":7"#, r#""記":"日本語","text":7"#))
        .expect("a file");
    let trace = std::fs::read_to_string(&path).expect("the file").replace("\"日本語\":\"\"", "\"日本語\":\"");
    std::fs::write(&path, trace).expect("a file");
    let ran = proof(&["check", "--only", "shape.results", "--trace", &path.to_string_lossy()]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let at =
        lines.iter().position(|line| line.trim() == "^").unwrap_or_else(|| panic!("{}\n{}", ran.stdout, ran.stderr));
    let column = lines[at].len() - 1;
    // Every character that is not ASCII takes two columns here, but for the ellipsis.
    let width = |c: char| if c.is_ascii() || c == '…' { 1 } else { 2 };
    let before = lines[at - 1]
        .chars()
        .scan(0, |sum, c| Some(std::mem::replace(sum, *sum + width(c))))
        .zip(lines[at - 1].chars());
    assert_eq!(before.filter(|(start, _)| *start == column).map(|(_, c)| c).collect::<String>(), "7", "{}", ran.stdout);
    assert!(lines.iter().all(|line| line.chars().map(width).sum::<usize>() <= 80
        || line.contains("reproduce: ")
        || line.contains("https:")));
}

#[test]
fn the_reproducing_command_reproduces_the_finding() {
    let found = report("broken.jsonl", &["--only", FEW]);
    for finding in results(&found).iter().filter(|f| f["outcome"] == "fail") {
        let again = finding["repro"].as_str().expect("a way to see it again");
        let words: Vec<&str> = again.split(' ').skip(1).collect();
        let ran = proof(&words);
        assert_eq!(ran.code, Some(1), "{again}\n{}", ran.stderr);
        assert!(ran.stdout.contains(finding["message"].as_str().expect("a message").split(' ').next().unwrap_or("?")));
    }
}

#[test]
fn the_reproducing_command_checks_the_same_server() {
    let given = ["--env", "A=b c", "--call", "none", "--seed", "3", "--timeout", "20"];
    let server = [env!("CARGO_BIN_EXE_proof"), "serve", "--stdio", "--fault", "tool-name-with-space"];
    let asked = ["check", "--format", "json", "--revision", "2025-11-25", "--only", "tools.names-characters"];
    let ran = proof(&[&asked[..], &given, &["--"], &server].concat());
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("a report");
    let again = results(&report)[0]["repro"].as_str().expect("a way to see it again");
    let (_, options) = again.split_once("--transport stdio ").expect("the place");
    assert_eq!(options, format!("--env A=YOUR-SECRET-HERE --timeout 20 --call none --seed 3 -- {}", server.join(" ")));
}

/// A message whose id is null breaks two rules: people see one finding with its consequence, programs both.
#[test]
fn a_line_that_breaks_two_rules_is_one_finding() {
    let lines = [
        r#"{"trace":"proof.trace/1","subject":"server","transport":"stdio","revision":"2025-06-18","case":"test"}"#,
        r#"{"at":1,"from":"client","line":{"jsonrpc":"2.0","id":0,"method":"ping"}}"#,
        r#"{"at":2,"from":"server","line":{"jsonrpc":"2.0","id":null,"result":{}}}"#,
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("null.jsonl");
    std::fs::write(&path, lines.join("\n") + "\n").expect("a recording");
    let shown = check(&path.to_string_lossy(), &[]);
    assert_eq!(shown.code, Some(1), "{}", shown.stderr);
    assert!(shown.stdout.contains("FAIL  jsonrpc.result-id"), "{}", shown.stdout);
    assert!(shown.stdout.contains("Also breaks stdio.only-messages-on-stdout (MUST)"), "{}", shown.stdout);
    assert!(!shown.stdout.contains("FAIL  stdio.only-messages-on-stdout"), "{}", shown.stdout);
    assert!(shown.stdout.contains("2 MUST rules broken"), "both count: {}", shown.stdout);
    let found = report(&path.to_string_lossy(), &[]);
    let failed: Vec<&str> =
        results(&found).iter().filter(|f| f["outcome"] == "fail").filter_map(|f| f["rule"].as_str()).collect();
    assert_eq!(failed, ["jsonrpc.result-id", "stdio.only-messages-on-stdout"]);
}

#[test]
fn tools_that_the_server_does_not_list_are_named_with_the_nearest() {
    let server = ["--", env!("CARGO_BIN_EXE_proof"), "serve", "--stdio"];
    let asked = ["check", "--revision", "2025-06-18", "--only", "tools.names-unique"];
    let checked = |names: &[&str]| {
        let named = names.iter().flat_map(|name| ["--allow-tool", name]).collect::<Vec<_>>();
        proof(&[&asked[..], &named, &server].concat()).stdout.replace('\n', " ")
    };
    let shown = checked(&["ech", "nothing-like-it", "sum"]);
    assert!(shown.contains("names 2 tools that the server does not list: ech (echo?), nothing-like-it."), "{shown}");
    assert!(!checked(&["echo"]).contains("does not list"));
}

//! Clients that are started for each scenario.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;
use wire::Party;
use wire::trace::{Closed, Content, file};

use crate::harness::{GREETING, PROOF, check, command, outcomes, places, report, shell_client};
use crate::signal::send;

const FEW: &str = "initialize,tools_call,hostile.wrong-id";

#[test]
fn our_own_client_is_clean_over_every_transport() {
    let (ran, report) =
        report(&["--scenario", FEW, "--transport", "http,sse,ws", "--", PROOF, "client", "--url", "{url}", "tools"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let subject = &report["subject"];
    assert_eq!((&subject["kind"], &subject["name"]), (&"client".into(), &"proofhouse".into()));
    let places = places(&report);
    for place in ["http 2025-03-26", "http 2026-07-28", "sse 2024-11-05", "ws 2024-11-05", "ws 2025-11-25"] {
        assert!(places.iter().any(|known| known == place), "{place}: {places:?}");
    }
    assert!(outcomes(&report, "jsonrpc.version-member").iter().all(|outcome| *outcome == "pass"));
    for run in report["runs"].as_array().unwrap() {
        assert_eq!(run["scenarios"].as_array().unwrap().len(), 3);
        assert!(run["scenarios"].as_array().unwrap().iter().all(|scenario| scenario["content"] == true), "{run}");
    }
}

#[test]
fn a_client_starts_its_server_over_stdio() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().to_string_lossy().into_owned();
    let arguments =
        ["--scenario", "initialize", "--save-trace", &kept, "--", PROOF, "client", "tools", "--", "{server}"];
    let (ran, report) = report(&arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(places(&report).len(), 5);
    let traces: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(traces.len(), 5);
    for path in traces {
        let trace = file::read(&fs::read_to_string(&path).unwrap()).unwrap();
        let marks: Vec<_> = trace
            .frames
            .iter()
            .filter_map(|frame| if let Content::Mark(mark) = &frame.content { Some(mark.name()) } else { None })
            .collect();
        assert_eq!(marks, ["scenario", "stimulus", "command-started"], "{}", path.display());
        let place =
            |wanted: fn(&Content) -> bool| trace.frames.iter().position(|frame| wanted(&frame.content)).unwrap();
        let closed = place(|content| *content == Content::Closed(Closed::End));
        assert_eq!(trace.frames[closed].from, Party::Client);
        let exit = place(|content| matches!(content, Content::Exit { code: Some(0), .. }));
        assert!(closed < exit, "{}", path.display());
        let last = trace.frames.last().unwrap();
        assert_eq!((last.from, &last.content), (Party::Client, &Content::Exit { code: Some(0), signal: None }));
    }
}

#[test]
fn a_client_that_does_not_know_an_extension_breaks_nothing() {
    let scenarios = "auth/client-credentials-*,auth/enterprise-*,auth/wif-*";
    let place = ["--scenario", scenarios, "--revision", "2025-11-25,2026-07-28", "--transport", "http"];
    let client = ["--", PROOF, "client", "--oauth", "--url", "{url}"];
    for known in [&[][..], &["--oauth-client-id", "scenario-key-client"]] {
        let (ran, report) = report(&[&place, client.as_slice(), known, &["tools"]].concat());
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
        for rule in ["oauth.assertion-exchanged", "oauth.assertion-presented", "oauth.client-credentials-by-assertion"]
        {
            assert_eq!(outcomes(&report, rule), ["not-exercised"; 2], "{rule}");
        }
        for run in report["runs"].as_array().unwrap() {
            let ended = run["scenarios"].as_array().unwrap();
            assert_eq!(ended.len(), 5);
            assert!(ended.iter().all(|one| one["content"] == false && one["expected"] == true), "{ended:?}");
        }
    }
}

#[test]
fn a_client_without_proofs_of_its_key_breaks_nothing() {
    let place = ["--scenario", "auth/dpop*", "--revision", "2025-11-25,2026-07-28", "--transport", "http"];
    // One without any token, and one whose token is bound to nothing.
    for token in [&[][..], &["--bearer-env", "HOME"]] {
        let client = ["--", PROOF, "client", "--url", "{url}"];
        let (ran, report) = report(&[&place, client.as_slice(), token, &["tools"]].concat());
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
        for run in report["runs"].as_array().unwrap() {
            let ended = run["scenarios"].as_array().unwrap();
            assert_eq!(ended.len(), 2);
            assert!(ended.iter().all(|one| one["content"] == false && one["expected"] == true), "{ended:?}");
        }
    }
}

#[test]
fn a_violation_is_found_and_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let broken = r#"{"jsonrpc":"1.0","id":3,"method":"tools/list"}"#;
    let script = shell_client(folder.path(), &[GREETING.as_slice(), &[broken]].concat());
    let script = script.to_string_lossy();
    let target = ["--", "sh", &script, "{server}"];
    let (ran, report) = report(&[&["--scenario", "initialize"], target.as_slice()].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert_eq!(places(&report), ["stdio 2024-11-05", "stdio 2025-03-26", "stdio 2025-06-18", "stdio 2025-11-25"]);
    assert_eq!(outcomes(&report, "jsonrpc.version-member"), ["fail"; 4]);
    let finding = report["results"].as_array().unwrap().iter().find(|result| result["outcome"] == "fail").unwrap();
    assert_eq!(finding["evidence"][0]["case"], "initialize");
    assert!(finding["evidence"][0]["excerpt"].as_str().unwrap().contains("1.0"), "{finding}");
    let again = finding["repro"].as_str().unwrap();
    assert!(again.starts_with("proof check-client --only jsonrpc.version-member --revision 2024-11-05 "), "{again}");
    // The baseline is that of `check`.
    let baseline = folder.path().join("known.json").to_string_lossy().into_owned();
    let options = ["--scenario", "initialize", "--revision", "2025-06-18"];
    let written = check(&[options.as_slice(), &["--write-baseline", &baseline], &target].concat());
    assert_eq!(written.code, Some(0), "{}", written.stdout);
    let known = check(&[options.as_slice(), &["--baseline", &baseline], &target].concat());
    assert_eq!(known.code, Some(0), "{}", known.stdout);
    assert!(known.stdout.contains("Passed: "), "{}", known.stdout);
}

#[test]
fn a_client_receives_its_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let said = folder.path().join("said");
    let script = format!(
        "printf '%s %s %s %s %s\\n' \"$PROOF_SCENARIO\" \"$PROOF_REVISION\" \"$MCP_CONFORMANCE_SCENARIO\" \"$MCP_CONFORMANCE_PROTOCOL_VERSION\" \"$MCP_CONFORMANCE_CONTEXT\" >> '{}'; exec '{PROOF}' client --url \"$1\" tools",
        said.display()
    );
    let arguments = ["--scenario", "http-custom-headers", "--revision", "2026-07-28", "--", "sh", "-c", &script, "sh"];
    let (ran, report) = report(&arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(report["runs"][0]["scenarios"][0]["name"], "http-custom-headers");
    let said = fs::read_to_string(said).unwrap();
    let told = said.lines().find(|line| line.starts_with("http-custom-headers")).unwrap();
    let words: Vec<_> = told.splitn(5, ' ').collect();
    assert_eq!(words[..4], ["http-custom-headers", "2026-07-28", "http-custom-headers", "2026-07-28"]);
    let context: Value = serde_json::from_str(words[4]).unwrap();
    assert_eq!(context["name"], "http-custom-headers");
    assert_eq!(context["toolCalls"][0]["name"], "test_custom_headers");
}

#[test]
fn an_exit_code_is_reported_but_is_no_finding() {
    let script = format!("'{PROOF}' client --url \"$1\" tools; echo 'no luck today' >&2; exit 7");
    let arguments = ["--scenario", "initialize", "--revision", "2025-11-25", "--", "sh", "-c", &script, "sh"];
    let (ran, report) = report(&arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let scenario = &report["runs"][0]["scenarios"][0];
    assert_eq!((&scenario["ended"], &scenario["last_words"]), (&"exit code 7".into(), &"no luck today".into()));
    let told = check(&arguments).stdout;
    assert!(told.contains("1 scenario played, 1 did not end as expected."), "{told}");
    assert!(told.contains("initialize: exit code 7 (http 2025-11-25)"), "{told}");
    let content =
        ["--scenario", "initialize", "--revision", "2025-11-25", "--", PROOF, "client", "--url", "{url}", "tools"];
    let told = check(&content).stdout;
    assert!(told.contains("1 scenario played, all ended as expected."), "{told}");
}

#[test]
fn a_hanging_client_is_killed_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let script = format!("'{PROOF}' client --url \"$1\" tools; sleep 300 & echo $! >> '{}'; wait", pids.display());
    let arguments =
        ["--scenario", "initialize", "--revision", "2025-11-25", "--timeout", "1", "--", "sh", "-c", &script, "sh"];
    let (ran, report) = report(&arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let ended = report["runs"][0]["scenarios"][0]["ended"].as_str().unwrap();
    assert_eq!(ended, "did not end within 1 s and was killed");
    for pid in fs::read_to_string(pids).unwrap().lines() {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "{pid} lives: {stat}");
    }
}

#[test]
fn an_interruption_leaves_nothing_in_the_temporary_directory() {
    let folder = tempfile::tempdir().unwrap();
    let there = || fs::read_dir(folder.path()).unwrap().count();
    for signal in ["INT", "TERM", "HUP"] {
        let mut check = command(&["check-client", "--", "sh", "-c", "sleep 300", "{server}"]);
        let mut child = check.env("TMPDIR", folder.path()).spawn().unwrap();
        let begun = Instant::now();
        while there() == 0 {
            assert!(begun.elapsed() < Duration::from_secs(20), "no client was started");
            std::thread::sleep(Duration::from_millis(5));
        }
        send(signal, &child);
        assert!(!child.wait().unwrap().success());
        assert_eq!(there(), 0, "after {signal}");
    }
}

//! Text from a stranger: harmless on a terminal, intact in JSON.

use crate::children::{greeting, server};
use crate::harness::{check, check_script};

/// A server whose name, tool names and error messages hold a colour, a screen's erasure, a bell and reversed text: as JSON
/// has it, and as it is.
const NASTY: &str = r"a\u001b[31mb\u001b[2Jc\u0007d\u202ee";
const NASTY_MEANT: &str = "a\u{1b}[31mb\u{1b}[2Jc\u{7}d\u{202e}e";
const NASTY_SHOWN: &str = r"a\u{1b}[31mb\u{1b}[2Jc\u{7}d\u{202e}e";

fn nasty_server() -> String {
    // Backslashes stay as they are between single quotes; two tools of one name make a finding that quotes it.
    let tool = format!(r#"{{"name":"{NASTY}","description":"x","inputSchema":{{"type":"object"}}}}"#);
    let welcome = format!(
        r#"{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"{NASTY}","version":"1"}}}}"#
    );
    let cases = format!(
        r#"initialize) result '{welcome}' ;;
           ping) result '{{}}' ;;
           tools/list) result '{{"tools":[{tool},{tool}]}}' ;;
           *) error -32601 '{NASTY}' ;;"#
    );
    // `printf %s` leaves escapes alone, as `echo` would not.
    server(&cases)
}

#[test]
fn is_escaped_for_people() {
    let ran = check(&["--verbose", "--timeout", "2", "--", "sh", "-c", &nasty_server()]).run();
    assert!(!ran.stdout.contains('\u{202e}'), "{}", ran.output());
    assert!(ran.stdout.starts_with(NASTY_SHOWN), "{}", ran.output());
    ran.ends_with(1).within(30);
}

#[test]
fn is_kept_in_json() {
    let ran = check(&["--format", "json", "--timeout", "2", "--", "sh", "-c", &nasty_server()]).run();
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("one JSON document on stdout");
    assert_eq!(report["schema"], "proof.report/1");
    assert_eq!(report["subject"]["name"], NASTY_MEANT);
    ran.ends_with(1).within(30);
}

#[test]
fn is_escaped_in_errors() {
    let ran = check_script("printf '%s\\n' 'Hello \u{1b}[31mred\u{202e}'; exec sleep 100").run();
    ran.found_no_answer(&[r"this is not MCP: Hello \u{1b}[31mred\u{202e}"]).within(12);
    assert!(!ran.stderr.contains('\u{202e}'), "{}", ran.output());
}

#[test]
fn is_escaped_in_last_words() {
    let ran = check_script("printf 'bad \\033]0;title\\007 \\342\\200\\256 key\\n' >&2; exit 1").run();
    ran.found_no_answer(&[r"bad \u{1b}]0;title\u{7} \u{202e} key"]).within(12);
}

#[test]
fn invalid_utf_8_in_last_words() {
    check_script("printf 'bad \\377\\376 key\\n' >&2; exit 1").run().found_no_answer(&["bad \u{fffd}"]).within(12);
}

#[test]
fn a_name_of_a_hundred_kilobytes() {
    // An argument's length is the system's limit, not ours: 128 KiB.
    let name = "n".repeat(100_000);
    let ran = check_script(&greeting("", "").replace("${2:-fake}", &name)).run();
    assert!(ran.stdout.starts_with("nnnn") && !ran.stdout.contains("Cut short"), "{}", &ran.output()[..400]);
    ran.ends_with(1).within(20);
}

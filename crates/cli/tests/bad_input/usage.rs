//! Command lines that make no sense, and output that nobody reads.

use std::process::{Command, Stdio};

use crate::children::greeting;
use crate::harness::{check, proof};

#[test]
fn no_verb() {
    let ran = proof(&[]).run();
    ran.ends_with(2);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("Usage: proof"), "{}", ran.output());
}

#[test]
fn an_unknown_verb() {
    proof(&["chekc"]).run().was_misused(&["chekc", "check"]);
}

#[test]
fn an_unknown_flag() {
    check(&["--bogus"]).run().was_misused(&["--bogus"]);
}

/// What was pasted must not speak to the terminal.
#[test]
fn an_argument_with_terminal_escapes() {
    let odd = "x\u{1b}]0;title\u{7}\u{9b}2J\u{202e}";
    // What begins with the character ESC, clap leaves out.
    let shown = r"\u{9b}2J\u{202e}";
    let flag = format!("--bogus{odd}");
    for arguments in [
        &["check", &flag][..],
        &["check", "--transport", odd],
        &["check", "--jobs", odd],
        &["check", "--format", odd],
        &["check", "--oauth=client", "--oauth-issuer", odd],
        &["rules", odd],
        &[odd],
    ] {
        proof(arguments).run().was_misused(&[shown]);
    }
}

#[test]
fn a_command_without_its_dashes() {
    for verb in [&["check"][..], &["check-client"], &["generate"], &["snapshot"], &["record", "-o", "x.jsonl"]] {
        let ran = proof(verb).and(&["npx", "-y", "my server"]).run();
        ran.was_misused(&["error: the command `npx` needs `--` before it\n  try: proof ", " -- npx -y 'my server'\n"]);
    }
    check(&["npx"]).run().was_misused(&["the command `npx` needs `--` before it", " -- npx\n"]);
    let ran = check(&["npx", "my-server", "--timeout", "5"]).run();
    ran.was_misused(&[" -- npx my-server --timeout 5\n", "note: options after `--` go to the command: --timeout"]);
    let ran = proof(&["rules", "tools"]).run();
    ran.was_misused(&["unexpected argument 'tools'"]);
    assert!(!ran.stderr.contains("`--` before it"), "{}", ran.output());
}

/// The line that the error of a missing `--` proposes is accepted.
#[test]
fn the_line_to_type_works() {
    let ran = check(&["sh", "-c", "exit 7"]).run();
    let line = ran.stderr.lines().find_map(|line| line.strip_prefix("  try: proof ")).expect("a line to type");
    let script = format!("\"$PROOF\" {line}");
    let ran =
        Command::new("sh").args(["-c", &script]).env("PROOF", env!("CARGO_BIN_EXE_proof")).output().expect("it runs");
    assert_eq!(ran.status.code(), Some(3), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn a_slip_is_not_answered_with_a_way_to_pass_it_on() {
    let ran = check(&["--fomat", "json", "--", "true"]).run();
    ran.was_misused(&["'--fomat'", "'--format'"]);
    assert!(!ran.stderr.contains("-- --fomat"), "{}", ran.output());
}

#[test]
fn help_has_topics_and_proposes_them() {
    let ran = proof(&["help", "exit-codes"]).run();
    ran.ends_with(0);
    assert!(ran.stdout.starts_with("Exit codes\n") && ran.stderr.is_empty(), "{}", ran.output());
    let ran = proof(&["help", "topics"]).run();
    assert!(ran.stdout.contains("  oauth ") && ran.stdout.contains("  test-files"), "{}", ran.output());
    proof(&["help", "check"]).run().ends_with(0);
    proof(&["help", "exit-code"]).run().was_misused(&["neither a verb nor a topic", "`proof help exit-codes`"]);
    proof(&["help", "frobnicate"]).run().was_misused(&["`proof help topics`"]);
}

#[test]
fn colours_come_where_they_are_asked_for() {
    let colours =
        |arguments: &[&str]| proof(&["serve", "--list-faults"]).and(arguments).run().stdout.contains('\u{1b}');
    assert!(!colours(&["--color", "always"]), "a list has no colours");
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("a.json");
    let path = report.to_string_lossy().into_owned();
    let serve = env!("CARGO_BIN_EXE_proof");
    let made = ["--only", "lifecycle.*", "--revision", "2025-11-25", "--format", "json", "-o", &path, "--", serve];
    check(&made).and(&["serve", "--stdio"]).run().ends_with(0);
    let diff =
        |arguments: &[&str]| proof(&["diff", &path, &path]).and(arguments).variable("NO_COLOR", "1").run().stdout;
    assert!(!diff(&[]).contains('\u{1b}') && !diff(&["--color", "never"]).contains('\u{1b}'));
    assert!(diff(&["--color", "always"]).contains('\u{1b}'), "{}", diff(&["--color", "always"]));
}

#[test]
fn an_invalid_number() {
    for option in ["--seed", "--jobs"] {
        check(&[option, "many"]).run().was_misused(&["'many'", option, "tip: use a whole number"]);
    }
    let ran = check(&["--jobs", "0"]).run();
    ran.was_misused(&["0 is not in 1..=256"]);
    assert!(!ran.stderr.contains("tip:"), "{}", ran.output());
}

#[test]
fn a_misspelled_rule() {
    let ran = check(&["--only", "caching.hint-present", "--", "true"]).run();
    ran.was_misused(&[]);
    assert_eq!(
        ran.stderr,
        "error: unknown rule `caching.hint-present`\n  try: `caching.hints-present`; `proof rules` lists all rules\n"
    );
}

#[test]
fn an_unknown_rule_without_a_suggestion() {
    check(&["--skip", "\u{1b}[31mxyzzy", "--", "true"]).run().was_misused(&[r"`\u{1b}[31mxyzzy`", "proof rules"]);
}

#[test]
fn a_rule_of_another_verb() {
    let lists = "`proof explain 'scan.*'` lists the rules of `proof scan`\n";
    for (pattern, similar) in [("scan.injection", ""), ("scan.*", ""), ("scan.injektion", "`scan.injection`; ")] {
        let ran = check(&["--only", pattern, "--", "true"]).run();
        ran.was_misused(&[]);
        assert_eq!(ran.stderr, format!("error: unknown rule `{pattern}`\n  try: {similar}{lists}"));
    }
}

#[test]
fn an_unknown_rule_to_explain() {
    proof(&["explain", "caching.hint-present"]).run().was_misused(&["unknown rule", "`caching.hints-present`"]);
}

#[test]
fn a_misspelled_fault() {
    let ran = proof(&["serve", "--stdio", "--fault", "latin-1,wrong-di"]).run();
    ran.was_misused(&[]);
    assert_eq!(
        ran.stderr,
        "error: unknown fault `wrong-di`\n  try: `wrong-id`; `proof serve --list-faults` lists all faults\n"
    );
}

#[test]
fn faults_are_listed_with_what_they_break() {
    let ran = proof(&["serve", "--list-faults"]).run();
    ran.ends_with(0);
    assert!(ran.stdout.contains("wrong-id  jsonrpc.result-id\n"), "{}", ran.output());
}

#[test]
fn an_unknown_revision() {
    let ran = check(&["--revision", "2025-11-26", "--", "true"]).run();
    ran.was_misused(&["unknown revision `2025-11-26`", "2025-11-25"]);
}

#[test]
fn an_unsupported_revision() {
    let ran = check(&["--revision", "2024-11-05", "--timeout", "2", "--", "sh", "-c", &greeting("", "")]).run();
    ran.was_misused(&["does not speak 2024-11-05", "2025-11-25"]);
}

#[test]
fn a_revision_that_only_some_transports_of_the_built_in_server_carry() {
    let ran = check(&["--revision", "2025-03-26", "--only", "ping.answered"]).run();
    ran.ends_with(0);
    assert!(ran.stdout.contains("http") && ran.stdout.contains("ws"), "{}", ran.output());
}

#[test]
fn an_unknown_transport() {
    check(&["--transport", "carrier-pigeon", "http://127.0.0.1:1/"]).run().was_misused(&["carrier-pigeon", "http"]);
}

#[test]
fn a_transport_that_does_not_fit_the_target() {
    check(&["--transport", "stdio", "http://127.0.0.1:1/"]).run().was_misused(&["cannot connect", "over stdio"]);
    check(&["--transport", "http", "--", "true"]).run().was_misused(&["cannot connect", "over http"]);
    check(&["--transport", "ws", "http://127.0.0.1:1/"]).run().was_misused(&["cannot connect", "over ws"]);
}

#[test]
fn invalid_urls() {
    for text in ["me:secret@localhost:3000", "http://", "http://[", "ftp://host/", "file:///etc/passwd", ""] {
        check(&[text]).run().was_misused(&["is not an http(s):// or ws(s):// URL", "put a command after `--`"]);
    }
}

/// Every verb takes a host and a port for the URL of a server.
#[test]
fn a_host_and_a_port_are_a_url() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    std::fs::write(here("recording.jsonl"), include_str!("../recordings/clean.jsonl")).expect("a recording");
    let (report, recording) = (here("t.mcp.yaml"), here("recording.jsonl"));
    for line in [
        &["check", "127.0.0.1:1"][..],
        &["check", ":1"],
        &["check", "--url", "127.0.0.1:1"],
        &["client", "tools", "127.0.0.1:1"],
        &["client", "call", "echo", "a=1", "127.0.0.1:1"],
        &["doctor", "127.0.0.1:1"],
        &["eval", "lint", "127.0.0.1:1"],
        &["generate", "-o", &report, "127.0.0.1:1"],
        &["lock", "127.0.0.1:1"],
        &["scan", "127.0.0.1:1"],
        &["snapshot", "127.0.0.1:1"],
        &["test", "--call", "echo", "a=1", "127.0.0.1:1"],
        &["replay", &recording, "--verify", "--live", "127.0.0.1:1"],
    ] {
        let ran = proof(line).run();
        ran.ends_with(3);
        // A comparison counts calls, and names no server.
        let is_named = line[0] == "replay" || ran.output().contains("http://127.0.0.1:1/mcp");
        assert!(is_named, "{line:?}: {}", ran.output());
    }
}

/// A file of that name wins, where files may be named.
#[test]
fn a_file_may_have_the_name_of_an_address() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("127.0.0.1:1"), "no JSON").expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof"));
    let ran = command.args(["scan", "127.0.0.1:1"]).current_dir(folder.path()).output().expect("it runs");
    assert_eq!(ran.status.code(), Some(2), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// Without a terminal, messages are 80 columns wide; a line that people may paste stays whole.
#[test]
fn messages_fit_80_columns() {
    let long = "a-command-with-a-long-name --and --many --options --of --its --own --which --go --on --for --long";
    let long: Vec<&str> = long.split(' ').collect();
    let mut broken = 0;
    for line in [
        &["check", "--max-time", "x"][..],
        &["check", "--format", "yaml"],
        &["check", "--revision", "2025-06-19"],
        &["check", "--allow-tool"],
        &["eval", "run"],
        &["client", "call"],
        &["serve", "--fault", "x"],
        &["record", "-o", "x.jsonl"],
        &["diff", "a.json", "https://example.com/mcp"],
        &["test", "--call", "echo"],
        &["verify", "x"],
        &[&["check"][..], &long].concat(),
    ] {
        let ran = Command::new(env!("CARGO_BIN_EXE_proof")).args(line).output().expect("it runs");
        let told = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(2), "{line:?}: {told}");
        let may_be_long = |line: &str| line.contains("proof ") || line.contains("://");
        let too_long: Vec<&str> = told.lines().filter(|line| line.chars().count() > 80 && !may_be_long(line)).collect();
        assert_eq!(too_long, [""; 0], "{line:?}");
        broken += usize::from(told.contains("\n       "));
    }
    assert!(broken >= 3, "{broken} messages were broken");
}

#[test]
fn invalid_listen_and_proxy_addresses() {
    for text in ["localhost", ":3000", "127.0.0.1", "127.0.0.1:99999"] {
        for verb in [&["serve", "--http"][..], &["check-client", "--listen"], &["replay", "x.jsonl", "--http"]] {
            proof(verb).and(&[text]).run().was_misused(&["expected a port such as 3000"]);
        }
    }
    let record = proof(&["record", "-o", "x.jsonl", "--http", "127.0.0.1:0", "--to", "my-server"]);
    record.run().was_misused(&["expected a URL, such as http://"]);
}

#[test]
fn an_address_and_a_command() {
    check(&["http://127.0.0.1:1/", "--", "true"]).run().was_misused(&["cannot be used with"]);
}

#[test]
fn an_address_and_a_recording() {
    check(&["--trace", "x.jsonl", "http://127.0.0.1:1/"]).run().was_misused(&["cannot be used with"]);
}

#[test]
fn variables_without_a_value() {
    check(&["--env", "TOKEN", "--", "true"]).run().was_misused(&["invalid `--env TOKEN`: expected K=V"]);
    check(&["--env", "=x", "--", "true"]).run().was_misused(&["expected K=V"]);
}

#[test]
fn invalid_headers() {
    for text in ["Authorization", ": x", "X Y: z", "X: a\nEvil: b", "X: \u{1b}"] {
        check(&["--header", text, "http://127.0.0.1:1/"]).run().was_misused(&["--header"]);
    }
}

#[test]
fn a_missing_secret() {
    let ran = check(&["--bearer-env", "NO_SUCH_VARIABLE_HERE", "http://127.0.0.1:1/"]).run();
    ran.was_misused(&["NO_SUCH_VARIABLE_HERE", "export it"]);
}

#[test]
fn a_secret_that_is_invalid_in_a_header() {
    let run = check(&["--bearer-env", "ODD_TOKEN", "http://127.0.0.1:1/"]).variable("ODD_TOKEN", "two\nlines");
    let ran = run.run();
    ran.was_misused(&["ODD_TOKEN"]);
    assert!(!ran.stderr.contains("lines"), "{}", ran.output());
}

#[test]
fn times_and_numbers_out_of_range() {
    for arguments in [["--timeout", "0"], ["--timeout=-1", "--safety"], ["--timeout", "NaN"], ["--timeout", "1e9"]] {
        check(&arguments).and(&["--", "true"]).run().was_misused(&["--timeout"]);
    }
    check(&["--jobs", "0", "--", "true"]).run().was_misused(&["--jobs"]);
    check(&["--seed", "x", "--", "true"]).run().was_misused(&["--seed"]);
}

/// Reads one line of what the binary prints and closes the pipe.
fn head(arguments: &[&str]) -> (Option<i32>, String) {
    let quoted: Vec<_> = arguments.iter().map(|a| format!("'{}'", a.replace('\'', "'\\''"))).collect();
    let binary = env!("CARGO_BIN_EXE_proof");
    let script = format!("{{ '{binary}' {}; echo \"code $?\" >&2; }} | head -1 >/dev/null", quoted.join(" "));
    let out = Command::new("sh").args(["-c", &script]).stdin(Stdio::null()).output().expect("sh runs");
    let told = String::from_utf8_lossy(&out.stderr).into_owned();
    let code = told.lines().find_map(|line| line.strip_prefix("code ")).and_then(|code| code.parse().ok());
    (code, told)
}

#[test]
fn a_closed_stdout() {
    // The help and the list of rules are longer than one line; the report comes in one piece.
    for (arguments, expected) in [(&["explain", "*"][..], 0), (&["--help"], 0), (&["check", "--help"], 0)] {
        let (code, told) = head(arguments);
        assert_eq!(code, Some(expected), "{arguments:?}: {told}");
        assert!(!told.contains("panicked"), "{told}");
    }
    let (code, told) = head(&["check", "--verbose", "--timeout", "2", "--", "sh", "-c", &greeting("", "")]);
    assert!(!told.contains("panicked"), "{told}");
    assert!(matches!(code, Some(0 | 1)), "{told}");
}

#[test]
fn a_full_disk() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
        println!("skipped: there is no /dev/full here");
        return;
    };
    let out = Command::new(env!("CARGO_BIN_EXE_proof")).args(["explain", "*"]).stdout(full).output().expect("it runs");
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).starts_with("error: cannot write to stdout: "));
}

#[test]
fn a_closed_stderr() {
    let binary = env!("CARGO_BIN_EXE_proof");
    let script = format!("('{binary}' check --only nothing-like-it -- true; echo $? >&3) 2>&1 >/dev/null 3>&4 | true");
    let script = format!("exec 4>&1; {script}");
    let out = Command::new("sh").args(["-c", &script]).output().expect("sh runs");
    assert_eq!(String::from_utf8_lossy(&out.stdout).trim(), "2");
}

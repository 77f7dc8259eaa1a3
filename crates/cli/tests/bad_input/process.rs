//! Commands that never give an MCP answer.

use std::io::Write as _;

use crate::harness::{check, check_script};

#[test]
fn a_command_that_does_not_exist() {
    let ran = check(&["--", "no-such-command-anywhere", "--flag"]).run();
    ran.found_no_answer(&[]).within(5);
    assert_eq!(
        ran.stderr,
        "error: the command could not be started: `no-such-command-anywhere` was not found\n  \
         at no-such-command-anywhere --flag\n  \
         try: check that it is installed and spelled right\n"
    );
}

#[test]
fn a_command_that_is_not_executable() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(b"#!/bin/sh\n").expect("it can be written");
    let path = file.path().to_str().expect("a path");
    check(&["--", path]).run().found_no_answer(&["may not be executed", path]).within(5);
}

#[test]
fn a_command_that_is_a_directory() {
    check(&["--", "/"]).run().found_no_answer(&["may not be executed"]).within(5);
}

#[test]
fn a_file_that_is_no_program() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("server");
    std::fs::write(&path, b"\x7fELF and then nothing").expect("it can be written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it can be made executable");
    check(&["--", path.to_str().expect("a path")]).run().found_no_answer(&["could not be started"]).within(5);
}

#[test]
fn a_working_directory_that_does_not_exist() {
    let ran = check(&["--cwd", "/no/such/directory", "--", "sh"]).run();
    ran.was_misused(&["--cwd: /no/such/directory is not a directory"]);
}

#[test]
fn exits_at_once_with_success() {
    check(&["--timeout", "2", "--", "true"]).run().found_no_answer(&["ended with code 0", "at true"]).within(8);
}

#[test]
fn exits_at_once_with_an_error() {
    let ran = check(&["--timeout", "2", "--", "sh", "-c", "echo starting >&2; echo no key given >&2; exit 7"]).run();
    ran.found_no_answer(&[]).within(8);
    assert_eq!(
        ran.stderr,
        "error: the command ended with code 7 before it answered\n  \
         at sh -c \"echo starting >&2; echo no key given >&2; exit 7\"\n  \
         its last lines on stderr:\n    \
         starting\n    \
         no key given\n  \
         try: run the command by itself and see why it ends\n"
    );
}

#[test]
fn exits_with_an_error_and_advice() {
    let script = "echo error: no key given >&2; echo '  at main' >&2; echo '  try: KEY=…' >&2; echo >&2; exit 2";
    let ran = check_script(script).run();
    // Advice of the command stands below what is quoted of it.
    ran.found_no_answer(&["    error: no key given\n    try: KEY="]).within(8);
    let ran = check_script("echo '  only this' >&2; exit 2").run();
    ran.found_no_answer(&["before it answered: only this\n"]).within(8);
}

#[test]
fn the_last_lines_are_shown_without_the_log_of_npm() {
    let npm = |said: &str| format!("echo 'npm error {said}' >&2; ");
    let script =
        [npm("code E404"), npm("404 Not Found - GET https://npm.example/x"), npm("404"), npm("a"), npm("b"), npm("c")];
    let log = npm("A complete log of this run can be found in: /home/ada/.npm/_logs/1-debug-0.log");
    let ran = check_script(&format!("{}{log}exit 1", script.concat())).run();
    ran.found_no_answer(&["before it answered\n", "    npm error 404 Not Found", "    npm error c\n  try: "]).within(8);
    let quoted = ran.stderr.lines().filter(|line| line.starts_with("    npm")).count();
    assert!(
        quoted == 5
            && !ran
                .stderr
                .contains("complete log of this run can be found in: /home/ada/.npm/_logs/1-debug-0.log\n  try"),
        "{}",
        ran.output()
    );
    assert!(!ran.stderr.contains("    npm error A complete log"), "{}", ran.output());
}

#[test]
fn is_killed_by_a_signal() {
    check_script("kill -SEGV $$").run().found_no_answer(&["by signal 11"]).within(8);
}

#[test]
fn prints_garbage() {
    let ran = check_script("echo Welcome to my server!; exec sleep 100").run();
    ran.found_no_answer(&["this is not MCP: Welcome to my server!", "Only messages belong on stdout"]).within(12);
}

#[test]
fn prints_binary_garbage() {
    let ran = check_script("head -c 65536 /dev/urandom; exec sleep 100").run();
    ran.found_no_answer(&["this is not MCP"]).within(12);
}

#[test]
fn echoes_what_it_reads() {
    let ran = check(&["--", "cat"]).run();
    ran.found_no_answer(&[]).within(12);
    assert_eq!(
        ran.stderr,
        "error: our own request came back instead of an answer\n  \
         at cat\n  \
         try: is it an MCP server? A terminal in between (ssh -t, docker -t) echoes, too\n"
    );
}

/// A terminal that echoes does not hide the server behind it; and what a server asks under the same number is no echo.
#[test]
fn echoes_requests_and_answers_them() {
    let welcome = crate::children::greeting(r#""tools":{}"#, r#"tools/list) result '{"tools":[]}' ;;"#);
    let back = r#"; do printf '%s\n' "$line"; case $line in *'"id":1,'*) sleep 0.3 ;; esac"#;
    let echo = welcome.replacen("; do", back, 1);
    assert_ne!(echo, welcome);
    let ask = r#"echo '{"jsonrpc":"2.0","id":1,"method":"ping"}'; sleep 1.5"#;
    for script in [echo, format!("{ask}\n{welcome}")] {
        let ran = check_script(&script).run();
        assert!(ran.stdout.contains("fake 1"), "{}", ran.output());
    }
}

#[test]
fn hangs_silently() {
    let ran = check(&["--timeout", "1", "--", "sleep", "100"]).run();
    ran.found_no_answer(&[]).within(12);
    assert_eq!(
        ran.stderr,
        "error: no answer within 1.0 s\n  \
         at sleep 100\n  \
         try: is it an MCP server? If it is slow to start, raise --timeout\n"
    );
}

#[test]
fn hangs_and_ignores_term() {
    let ran = check(&["--timeout", "1", "--", "sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"]).run();
    ran.found_no_answer(&["no answer within 1.0 s"]).within(12);
}

#[test]
fn floods_stdout_with_lines() {
    let ran = check_script("yes 'a line of no use to anyone' | head -c 100000000; exec sleep 100").run();
    ran.found_no_answer(&["this is not MCP: a line of no use"]).within(15);
}

#[test]
fn floods_stdout_with_one_endless_line() {
    let ran = check_script("head -c 100000000 /dev/zero | tr '\\0' x; exec sleep 100").run();
    ran.found_no_answer(&["this is not MCP: xxx"]).within(15);
}

#[test]
fn floods_stdout_with_messages() {
    let ran = check_script(r#"yes '{"jsonrpc":"2.0","method":"notifications/message"}'"#).run();
    ran.found_no_answer(&[]).within(15);
}

#[test]
fn floods_stderr() {
    let ran = check_script("yes 'a log line' | head -c 100000000 >&2; exec sleep 100").run();
    ran.found_no_answer(&["no answer within"]).within(15);
}

#[test]
fn floods_stderr_and_exits() {
    let ran = check_script("yes 'a log line' | head -c 20000000 >&2; echo the last word >&2; exit 3").run();
    ran.found_no_answer(&["ended with code 3", "the last word"]).within(15);
}

#[test]
fn closes_stdout_and_lives_on() {
    let ran = check_script("exec >&-; exec sleep 100").run();
    ran.found_no_answer(&["closed its stdout"]).within(12);
}

#[test]
fn closes_every_pipe_and_lives_on() {
    check_script("exec <&- >&- 2>&-; exec sleep 100").run().found_no_answer(&["closed its stdout"]).within(12);
}

#[test]
fn leaves_a_grandchild_that_holds_the_pipes() {
    let ran = check_script("sleep 100 & exit 5").run();
    ran.found_no_answer(&["ended with code 5"]).within(12);
}

#[test]
fn leaves_a_stubborn_grandchild() {
    let ran = check_script("(trap '' TERM HUP INT; while :; do sleep 0.2; done) & exit 0").run();
    ran.found_no_answer(&["ended with code 0"]).within(12);
}

#[test]
fn answers_with_wrong_ids_for_ever() {
    let answer = r#"'{"jsonrpc":"2.0","id":4711,"result":{}}'"#;
    let ran = check_script(&format!("while sleep 0.05; do echo {answer}; done")).run();
    // It speaks, if only nonsense: that is a finding, and no missing answer.
    ran.ends_with(1).within(25);
    assert!(
        ran.stdout.contains("jsonrpc.result-id") && ran.stdout.contains("no request had the id 4711"),
        "{}",
        ran.stdout
    );
}

#[test]
fn answers_every_opening_with_an_error() {
    let script = crate::children::server("nothing) ;;");
    check_script(&script).run().found_no_answer(&["declines every revision: Method not found"]).within(12);
}

#[cfg(target_os = "linux")]
#[test]
fn leaves_a_grandchild_in_a_session_of_its_own() {
    let script = crate::children::greeting("", "nothing) ;;");
    let left = || {
        let found = std::process::Command::new("pgrep").args(["-xf", "sleep 1000.417"]).output();
        found.map_or_else(|_| String::new(), |found| String::from_utf8_lossy(&found.stdout).into_owned())
    };
    let script = format!("setsid sleep 1000.417 </dev/null >/dev/null 2>&1 &\n{script}");
    let ran = check_script(&script).run();
    assert!(ran.output().contains("judged MUST"), "{}", ran.output());
    assert_eq!(left(), "");
}

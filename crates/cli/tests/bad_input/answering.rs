//! Servers that answer the greeting and then misbehave: the check goes on, ends in time, and tells what it found.

use std::io::Write as _;

use crate::children::{greeting, server};
use crate::harness::{Ran, check, check_script};

/// Ends with code 1, and the report says that it was cut short, and why.
#[track_caller]
fn was_cut_short(ran: &Ran, why: &str) {
    ran.ends_with(1).within(30);
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Cut short at") && text.contains(why), "{}", ran.output());
    // The last sentence; it may be longer than a line.
    assert!(text.rfind("Failed: ") > text.rfind("Cut short at"), "{}", ran.output());
}

#[test]
fn hangs_after_the_greeting() {
    let script = greeting(r#""tools":{}"#, "tools/list) exec sleep 100 ;;");
    let ran = check(&["--timeout", "1", "--", "sh", "-c", &script]).run();
    was_cut_short(&ran, "stopped answering");
}

#[test]
fn answers_nothing_but_the_greeting() {
    let script = server(r#"initialize) welcome '"tools":{}' ;; *) continue ;;"#);
    let ran = check(&["--timeout", "1", "--", "sh", "-c", &script]).run();
    was_cut_short(&ran, "stopped answering");
}

/// What each new child says late is not what a peer leaves unsaid: on a busy machine several are slow to start at once.
#[test]
fn starts_slowly_when_several_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = folder.path().join("told");
    let told = told.display();
    let list = format!(r#"tools/list) : > {told}; result '{{"tools":[]}}' ;;"#);
    let script = format!("[ -e {told} ] && sleep 60\n{}", greeting(r#""tools":{}"#, &list));
    let ran = check_script(&script).run();
    assert!(ran.stdout.contains("fake 1") && !ran.stdout.contains("Cut short"), "{}", ran.output());
}

/// Each call of a tool that never answers costs seconds, and tells no more than the first.
#[test]
fn leaves_one_tool_unanswered() {
    let folder = tempfile::tempdir().expect("a folder");
    let called = folder.path().join("called");
    let tool = |name: &str| {
        format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"annotations":{{"readOnlyHint":true}}}}"#)
    };
    let list = format!(r#"tools/list) result '{{"tools":[{},{}]}}' ;;"#, tool("hangs"), tool("works"));
    let answered = r#"result '{"content":[{"type":"text","text":"Done"}]}'"#;
    let calls = format!(
        r#"tools/call) case $line in *'"name":"hangs"'*) echo >> {} ;; *) {answered} ;; esac ;;"#,
        called.display()
    );
    let ran = check_script(&greeting(r#""tools":{}"#, &format!("{list}\n{calls}"))).run();
    ran.within(30);
    assert!(!ran.stdout.contains("Cut short"), "{}", ran.output());
    let calls = std::fs::read_to_string(&called).expect("the file").lines().count();
    assert!((1..=4).contains(&calls), "{calls} calls");
}

#[test]
fn answers_under_other_ids() {
    let odd = r#"printf '{"jsonrpc":"2.0","id":"not-%s","result":{}}\n' "$id""#;
    let script = server(&format!(r#"initialize) welcome '"tools":{{}}' ;; *) {odd} ;;"#));
    let ran = check(&["--timeout", "1", "--", "sh", "-c", &script]).run();
    was_cut_short(&ran, "under other ids");
}

#[test]
fn dies_after_the_greeting() {
    let ran = check_script(&greeting(r#""tools":{}"#, "tools/list) exit 9 ;;")).run();
    was_cut_short(&ran, "the command ended (exit status: 9)");
}

#[test]
fn floods_after_the_greeting() {
    let flood = r#"yes '{"jsonrpc":"2.0","method":"notifications/message"}'"#;
    let ran = check_script(&greeting(r#""tools":{}"#, &format!("tools/list) {flood} ;;"))).run();
    was_cut_short(&ran, "sends without end");
}

#[test]
fn lists_ten_megabytes_of_tools() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    let words = "x".repeat(1000);
    let tools: Vec<_> = (0..9500)
        .map(|n| format!(r#"{{"name":"tool-{n}","description":"{words}","inputSchema":{{"type":"object"}}}}"#))
        .collect();
    writeln!(file, r#"{{"tools":[{}]}}}}"#, tools.join(",")).expect("it can be written");
    let path = file.path().display();
    let list = format!(r#"tools/list) printf '{{"jsonrpc":"2.0","id":%s,"result":' "$id"; cat {path} ;;"#);
    let ran = check_script(&greeting(r#""tools":{}"#, &list)).run();
    assert!(ran.stdout.contains("fake 1") && !ran.stdout.contains("Cut short"), "{}", ran.output());
    // Several cases hold the list at once, each as bytes, as text and as parsed.
    // As long as any check may take: a busy machine needs more than half of it.
    ran.ends_with_at_most(800 << 10, 1).within(60);
}

#[test]
fn lists_tools_ten_thousand_deep() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let ran = check_script(&greeting(r#""tools":{}"#, &format!(r#"tools/list) result '{{"tools":{deep}}}' ;;"#))).run();
    ran.ends_with(1).within(30);
}

#[test]
fn greets_ten_thousand_deep() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let ran = check_script(&server(&format!("initialize) result '{deep}' ;;"))).run();
    ran.ends_with(3).within(30);
}

#[test]
fn answers_in_invalid_utf_8() {
    let list = r#"tools/list) result "$(printf '{"tools":[{"name":"\377\376","inputSchema":{"type":"object"}}]}')" ;;"#;
    let ran = check_script(&greeting(r#""tools":{}"#, list)).run();
    ran.ends_with(1).within(30);
}

#[test]
fn declares_nothing() {
    let ran = check(&["--only", "caching.hints-present", "--timeout", "2", "--", "sh", "-c", &greeting("", "")]).run();
    ran.ends_with(1).within(20);
    assert!(ran.last_line().starts_with("Failed: no rule was judged"), "{}", ran.output());
}

/// Each answer takes a second: without the limit, the check would last for minutes.
#[test]
fn answers_slowly() {
    let script = server(r#"*) sleep 1; case $method in initialize) welcome '"tools":{}' ;; *) result '{}' ;; esac ;;"#);
    let ran = check(&["--max-time", "8", "--", "sh", "-c", &script]).run();
    was_cut_short(&ran, "the time limit of 8 s left no time for");
    ran.within(20);
}

/// Once in all of its lives it says something wrong: that may be chance, and is no finding.
#[test]
fn breaks_a_rule_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = folder.path().join("told");
    let told = told.display();
    let odd = r#"printf '{"jsonrpc":"1.0","id":%s,"result":{"tools":[]}}\n' "$id""#;
    let list = format!(r#"tools/list) if [ -e {told} ]; then result '{{"tools":[]}}'; else : > {told}; {odd}; fi ;;"#);
    let ran = check_script(&greeting(r#""tools":{}"#, &list)).run();
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("SEEN ONCE jsonrpc.version-member MUST"), "{}", ran.output());
    assert!(!text.contains("FAIL jsonrpc.version-member"), "{}", ran.output());
}

#[test]
fn always_breaks_a_rule() {
    let list = r#"tools/list) printf '{"jsonrpc":"1.0","id":%s,"result":{"tools":[]}}\n' "$id" ;;"#;
    let ran = check_script(&greeting(r#""tools":{}"#, list)).run();
    ran.ends_with(1);
    assert!(
        ran.stdout.contains("FAIL  jsonrpc.version-member") && !ran.stdout.contains("SEEN ONCE"),
        "{}",
        ran.output()
    );
    assert!(ran.stderr.contains("FAIL  jsonrpc.version-member  MUST  stdio 2025-11-25"), "{}", ran.output());
}

#[test]
fn crashes_at_a_call() {
    let ran =
        check_script(&greeting(r#""tools":{}"#, r#"tools/list) result '{"tools":[]}' ;; tools/call) kill -9 $$ ;;"#))
            .run();
    ran.ends_with(1).within(30);
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("FAIL safety.no-crash") && text.contains("killed by signal 9, after `tools/call`"),
        "{}",
        ran.output()
    );
}

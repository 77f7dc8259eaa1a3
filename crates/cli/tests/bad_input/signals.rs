//! Ctrl-C, TERM and a closed terminal in the middle of a check: it ends soon, and its children with it.

use crate::children::greeting;
use crate::harness::{Ran, check};

/// A child that neither the end of its stdin nor TERM impresses, in the middle of a check.
fn interrupted_by(signal: &str, script: &str) -> Ran {
    let running = check(&["--timeout", "20", "--", "sh", "-c", script]).start();
    running.until_children(1);
    std::thread::sleep(std::time::Duration::from_millis(300));
    running.signal(signal);
    running.end()
}

#[track_caller]
fn ended(ran: &Ran, code: i32) {
    ran.ends_with(code).within(4);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.starts_with("interrupted"), "{}", ran.output());
}

const STUBBORN: &str = "trap '' TERM INT HUP; while :; do sleep 0.2; done";

#[test]
fn ctrl_c_while_detecting() {
    ended(&interrupted_by("INT", STUBBORN), 130);
}

#[test]
fn term_while_detecting() {
    ended(&interrupted_by("TERM", STUBBORN), 143);
}

#[test]
fn hang_up_while_detecting() {
    ended(&interrupted_by("HUP", STUBBORN), 129);
}

#[test]
fn ctrl_c_while_probing() {
    let script = greeting(r#""tools":{}"#, &format!("tools/list) {STUBBORN} ;;"));
    ended(&interrupted_by("INT", &script), 130);
}

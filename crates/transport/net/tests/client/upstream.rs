//! The ends for programs that pass traffic on: what the client ends do not share with them.

use std::time::Duration;

use net::Children;
use net::client::Command;
use net::upstream::{Child, ChildLimits, Output};
use tokio::time::timeout;

use super::end::SOON;

const LIMITS: ChildLimits = ChildLimits { message: 8 << 20, memory: None };

/// A message whose sender gave up while it was being written does not run into the next one.
#[tokio::test]
async fn half_a_message_is_completed_before_the_next_one() {
    let script = "sleep 0.5; while IFS= read -r line; do echo \"${#line}\"; done";
    let (child, mut output) =
        Child::start(&Command::new("sh", ["-c", script]), &Children::new(), LIMITS).expect("a shell");
    let long = "x".repeat(300_000);
    assert!(timeout(Duration::from_millis(100), child.send(long.as_bytes())).await.is_err(), "the pipe takes it all");
    child.send(b"short").await.expect("it runs");
    for expected in ["300000", "5"] {
        let line = timeout(SOON, output.recv()).await.expect("it answers");
        assert_eq!(line, Some(Output::Message(expected.into())));
    }
    child.close(Duration::from_millis(200)).await;
}

#[tokio::test]
async fn the_cause_of_an_end_names_code_signal_and_last_words() {
    for (script, expected) in [
        ("echo one >&2; printf two >&2; exit 3", "it ended with exit code 3, and wrote: two"),
        ("exit 0", "it ended with exit code 0"),
        ("kill -9 $$", "it was ended by signal 9"),
        ("exec 1>&-; sleep 5", "it closed its stdout"),
    ] {
        let (child, mut output) =
            Child::start(&Command::new("sh", ["-c", script]), &Children::new(), LIMITS).expect("a shell");
        while timeout(SOON, output.recv()).await.expect("stdout ends").is_some() {}
        assert_eq!(child.cause().await, expected, "{script}");
    }
}

//! A task whose stdout nobody reads ends without a word.

use std::process::{Command, Stdio};

#[test]
fn nobody_who_reads_is_nobodys_mistake() {
    for words in [&["--help"][..], &["peers", "--help"], &["mutants", "--help"], &["soak", "--help"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_xtask"));
        child.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().expect("the binary runs");
        // Closed before anything is printed, or with it in the pipe: neither may make a difference.
        drop(child.stdout.take());
        let ran = child.wait_with_output().expect("it ends");
        assert_eq!((ran.status.code(), String::from_utf8_lossy(&ran.stderr).as_ref()), (Some(0), ""), "{words:?}");
    }
}

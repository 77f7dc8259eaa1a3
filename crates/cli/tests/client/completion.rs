//! `proof completion`.

use std::process::Command;

#[test]
fn every_shell_gets_a_script_that_knows_the_verbs() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = Command::new(env!("CARGO_BIN_EXE_proof")).args(["completion", shell]).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{shell}");
        let script = String::from_utf8_lossy(&output.stdout);
        for word in ["client", "check", "conformance", "list-faults"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn rules_are_completed_by_their_id() {
    for shell in ["bash", "fish", "zsh"] {
        let output = Command::new(env!("CARGO_BIN_EXE_proof")).args(["completion", shell]).output().expect("it runs");
        assert!(String::from_utf8_lossy(&output.stdout).contains("tools.names-unique"), "{shell}");
    }
}

#[test]
fn bash_reads_the_script() {
    let script =
        Command::new(env!("CARGO_BIN_EXE_proof")).args(["completion", "bash"]).output().expect("it runs").stdout;
    let script = String::from_utf8_lossy(&script);
    let Ok(read) = Command::new("bash").args(["-n", "-c", &script]).output() else { return };
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
}

//! `-o FILE`: every verb with a result has it, the file holds what stdout would, and a part of a result never stays.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::printed::Printed;

/// Verbs with a result that need no server, in a folder with two reports.
const VERBS: [&[&str]; 14] = [
    &["rules", "--only", "ping.*"],
    &["rules", "--json"],
    &["explain", "ping.answered"],
    &["explain", "scan.*"],
    &["diff", "old.json", "new.json"],
    &["badge", "new.json"],
    &["clients"],
    &["list"],
    &["list", "--json"],
    &["config", "effective"],
    &["client", "--list-faults"],
    &["check-client", "--list-scenarios"],
    &["completion", "bash"],
    &["man", "diff"],
];

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof"));
    command.args(words).current_dir(folder).stdin(Stdio::null()).env("HOME", folder).env_remove("NO_COLOR");
    command
}

fn proof(folder: &Path, words: &[&str]) -> Printed {
    Printed::by(&mut command(folder, words))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
    for (name, recording) in [("old.json", "clean.jsonl"), ("new.json", "broken.jsonl")] {
        let recording = recordings.join(recording).to_string_lossy().into_owned();
        let words = ["check", "--trace", &recording, "--only", "ping.*,shape.*", "--format", "json", "-o", name];
        assert!(proof(folder.path(), &words).stdout.is_empty() && folder.path().join(name).is_file());
    }
    folder
}

/// Times of the steps of `doctor` differ from run to run.
fn timeless(text: &str) -> String {
    text.replace(|c: char| c.is_ascii_digit(), "")
}

#[test]
fn a_file_holds_what_stdout_would() {
    let folder = folder();
    let file = folder.path().join("result");
    for words in VERBS.iter().chain(&[&["doctor", "--", "false"][..], &["client", "ping", "--json", "--", "false"]]) {
        let direct = proof(folder.path(), words);
        let (front, back) = words.split_at(words.iter().position(|word| *word == "--").unwrap_or(words.len()));
        let ran = proof(folder.path(), &[front, &["--color", "always", "-o", "result"], back].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (direct.code, ""), "{words:?}: {}", ran.stderr);
        // What failed has no result.
        let text = fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(timeless(&text), timeless(&direct.stdout), "{words:?}");
        assert_eq!(file.exists(), words[0] != "client" || words[1] != "ping", "{words:?}");
        let _ = fs::remove_file(&file);
    }
}

#[test]
fn what_cannot_be_written_whole_leaves_nothing() {
    let folder = folder();
    let file = folder.path().join("result");
    // The shell lets files grow to 1 KiB, and no signal ends the program there.
    let limited = |words: &str| {
        let line = format!("trap '' XFSZ; ulimit -f 1; exec {} {words} -o result", env!("CARGO_BIN_EXE_proof"));
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-c", &line]).current_dir(folder.path()).env("HOME", folder.path());
        Printed::by(&mut bash)
    };
    for words in ["rules", "clients", "diff old.json new.json --format json", "completion bash"] {
        let ran = limited(words);
        assert_eq!(ran.code, Some(2), "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains("error: cannot write result: "), "{words}: {}", ran.stderr);
        assert!(!file.exists(), "{words}: {} bytes stay", file.metadata().expect("a file").len());
        // A file that was there before is empty: it may be one that others hold open, or a link.
        fs::write(&file, "before").expect("a file");
        assert_eq!(limited(words).code, Some(2));
        assert_eq!(fs::read(&file).expect("the file"), b"", "{words}");
        fs::remove_file(&file).expect("the file");
    }
}

#[test]
fn the_result_replaces_no_file_that_is_read() {
    let folder = folder();
    for words in [&["diff", "old.json", "new.json", "-o", "old.json"][..], &["badge", "new.json", "-o", "./new.json"]] {
        let before = fs::read(folder.path().join(words[1])).expect("a report");
        let ran = proof(folder.path(), words);
        assert_eq!(ran.code, Some(2), "{words:?}");
        assert!(ran.stderr.contains("are the same file"), "{}", ran.stderr);
        assert_eq!(fs::read(folder.path().join(words[1])).expect("a report"), before);
    }
    let ran = proof(folder.path(), &["list", "-o", "nowhere/list.txt"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("cannot write nowhere/list.txt"), "{}", ran.stderr);
}

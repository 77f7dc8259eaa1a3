//! Missing and invalid files on the command line. Each is reported before a server starts.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::harness::{Ran, check, proof};

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).expect("it can be written");
        shown(&path)
    }
}

fn shown(path: &Path) -> String {
    path.to_str().expect("a path of characters").to_owned()
}

/// With a command that would leave a file behind if it were started.
#[track_caller]
fn misused(arguments: &[&str], parts: &[&str]) -> Ran {
    let folder = Folder::new();
    let trace = shown(&folder.path("started"));
    let ran = check(arguments).and(&["--", "touch", &trace]).run();
    ran.was_misused(parts);
    assert!(!folder.path("started").exists(), "the server was started\n{}", ran.output());
    ran
}

#[track_caller]
fn no_trace(content: impl AsRef<[u8]>, parts: &[&str]) {
    let file = Folder::new();
    let path = file.file("case.jsonl", content);
    check(&["--trace", &path]).run().was_misused(parts).was_misused(&[&path]);
}

#[test]
fn missing_hints() {
    misused(&["--hints", "/no/such/hints.json"], &["/no/such/hints.json", "cannot read"]);
    misused(&["--hints", "/"], &["cannot read"]);
}

#[test]
fn invalid_hints() {
    let folder = Folder::new();
    for (name, content) in
        [("a", "not json"), ("b", ""), ("c", "[]"), ("d", r#"{"sampel":{}}"#), ("e", r#"{"slow":1}"#)]
    {
        let path = folder.file(name, content);
        misused(&["--hints", &path], &[&path, "is not a valid hints file", "`proof help hints`"]);
    }
    let path = folder.file("binary", [0xff, 0xfe, 0x00]);
    misused(&["--hints", &path], &[&path, "cannot read"]);
}

#[test]
fn a_missing_recording() {
    check(&["--trace", "/no/such/case.jsonl"]).run().was_misused(&["/no/such/case.jsonl", "cannot read"]);
}

#[test]
fn invalid_recordings() {
    no_trace("", &["cannot judge", "`proof help traces`"]);
    no_trace("\n\n", &["cannot judge"]);
    no_trace("Dear diary,\n", &["cannot judge", "line 1"]);
    no_trace("{}\n", &["cannot judge", "line 1"]);
    no_trace(r#"{"trace":"proof.trace/99"}"#, &["cannot judge"]);
    no_trace([0xff, 0xfe, 0x0a], &["cannot judge", "line 1"]);
}

#[test]
fn a_truncated_recording() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../judging/rules/fixtures");
    let whole = std::fs::read_dir(fixtures).expect("the fixtures").flatten();
    let whole = whole.map(|entry| entry.path().join("holds.jsonl")).find(|path| path.exists()).expect("a fixture");
    let whole = std::fs::read_to_string(whole).expect("it can be read");
    let whole = whole.trim_end();
    let lines = whole.lines().count();
    let truncated = &whole[..whole.len() - 7];
    // The last line is truncated because the writer was killed: no error.
    let file = Folder::new();
    let ran = check(&["--trace", &file.file("case.jsonl", truncated)]).run();
    assert!(matches!(ran.status.code(), Some(0 | 1)), "{}", ran.output());
    assert!(ran.stderr.contains(&format!("ignoring truncated line {lines}")), "{}", ran.output());
    // A truncated line before a line feed is an error.
    no_trace(format!("{truncated}\n"), &["cannot judge", &format!("line {lines}")]);
}

#[test]
fn too_large_recordings() {
    let folder = Folder::new();
    let path =
        folder.file("long.jsonl", "{\"trace\":\"proof.trace/1\",\"subject\":\"server\",\"transport\":\"stdio\"}\n");
    let file = std::fs::OpenOptions::new().append(true).open(&path).expect("it is there");
    file.set_len(1 << 30).expect("a file with a hole");
    check(&["--trace", &path]).run().was_misused(&[&path, "too large"]);
    // A line without an end: that is none of a recording either.
    proof(&["replay", &path, "--stdio"]).run().within(60).ends_with_at_most(400 << 10, 2).says_only(&[&path, "line 2"]);
}

#[test]
fn invalid_replays() {
    let folder = Folder::new();
    let replayed = |content: &str, parts: &[&str]| {
        let path = folder.file("case.jsonl", content);
        proof(&["replay", &path]).run().was_misused(parts).was_misused(&[&path]);
    };
    proof(&["replay", "/no/such/case.jsonl"]).run().was_misused(&["/no/such/case.jsonl", "cannot read"]);
    proof(&["replay", "/"]).run().was_misused(&["cannot read"]);
    let header = r#"{"trace":"proof.trace/1","subject":"server","transport":"stdio"}"#;
    replayed("", &["is not a recording", "proof help traces"]);
    replayed("Dear diary,\n", &["is not a recording", "line 1"]);
    replayed(&format!("{header}\n{{}}\n"), &["is not a recording", "line 2"]);
    replayed(&format!("{header}\n"), &["nothing to replay", "proof record"]);
}

#[test]
fn invalid_baselines() {
    let folder = Folder::new();
    misused(&["--baseline", "/no/such/baseline.json"], &["cannot read"]);
    let path = folder.file("a", "{}");
    misused(&["--baseline", &path], &[&path, "is not a baseline", "--write-baseline"]);
    let known = r#"{"rule":"x","revision":"2025","transport":"stdio","reason":"because"}"#;
    let path = folder.file("b", format!(r#"{{"schema":"proof.baseline/1","known":[{known}]}}"#));
    misused(&["--baseline", &path], &["the entry for x names no revision: `2025`"]);
    misused(&["--write-baseline", &folder.file("d", "Dear diary")], &["is not a baseline", "would be overwritten"]);
    let path = folder.file("c", r#"{"schema":"proof.baseline/2","known":[]}"#);
    misused(&["--baseline", &path], &["`schema` is `proof.baseline/2`"]);
}

#[test]
fn unwritable_outputs() {
    misused(&["--output", "/no/such/folder/report.txt"], &["/no/such/folder/report.txt", "cannot write"]);
    misused(&["--output", "/"], &["cannot write"]);
    misused(&["--write-baseline", "/no/such/folder/b.json"], &["cannot write"]);
    let folder = Folder::new();
    let file = folder.file("file", "");
    misused(&["--save-trace", &format!("{file}/traces")], &["cannot create"]);
}

#[test]
fn invalid_certificates() {
    let folder = Folder::new();
    let path = folder.file("ca.pem", "no certificate at all");
    for path in ["/no/such/ca.pem", &path] {
        check(&["--ca-file", path, "https://127.0.0.1:1/"]).run().was_misused(&["CA file", path]);
    }
}

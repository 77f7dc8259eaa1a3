//! `--color always`: what people read has colours, and only colours are added.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::printed::Printed;

const PROOF: &str = env!("CARGO_BIN_EXE_proof");

fn proof(home: &Path, words: &[&str], when: &str) -> Printed {
    let (front, back) = words.split_at(words.iter().position(|word| *word == "--").unwrap_or(words.len()));
    let mut command = Command::new(PROOF);
    command.args(front).args(["--color", when]).args(back).stdin(Stdio::null());
    Printed::by(command.current_dir(home).env("HOME", home).env("NO_COLOR", "1"))
}

/// A text without our colours, and without digits: times differ from run to run.
fn plain(text: &str) -> String {
    let colours = ["[1m", "[1;31m", "[1;33m", "[32m", "[2m", "[0m"].map(|code| format!("\u{1b}{code}"));
    let text = colours.iter().fold(text.to_owned(), |text, colour| text.replace(colour, ""));
    text.replace(|c: char| c.is_ascii_digit(), "")
}

#[test]
fn only_colours_are_added_and_documents_have_none() {
    let home = tempfile::tempdir().expect("a folder");
    fs::create_dir(home.path().join(".cursor")).expect("a folder");
    let entries = r#"{"mcpServers": {"weather": {"command": "no-such-program"}}}"#;
    fs::write(home.path().join(".cursor/mcp.json"), entries).expect("a file");
    let serve = ["--", PROOF, "serve", "--stdio"];
    for (words, server, json) in [
        (&["explain", "ping.answered"][..], &[][..], None),
        (&["explain", "tools.*"], &[], None),
        (&["explain", "scan.*"], &[], None),
        (&["rules", "--only", "ping.*"], &[], Some("--json")),
        (&["rules", "--role", "client"], &[], None),
        (&["clients"], &[], Some("--json")),
        (&["list"], &[], Some("--json")),
        (&["config", "effective"], &[], Some("--json")),
        (&["doctor"], &[], Some("--json")),
        (&["doctor"], &serve, Some("--json")),
        (&["doctor"], &["--", "false"], Some("--json")),
        (&["client", "discover"], &serve, Some("--json")),
        (&["client", "tools"], &serve, Some("--json")),
        (&["client", "resources"], &serve, Some("--json")),
        (&["client", "prompts"], &serve, Some("--json")),
    ] {
        let run = |more: &[&str], when| proof(home.path(), &[words, more, server].concat(), when);
        let (without, with) = (run(&[], "never"), run(&[], "always"));
        assert_eq!(with.code, without.code, "{words:?}: {}", with.stderr);
        assert!(with.stdout.contains('\u{1b}') && !without.stdout.contains('\u{1b}'), "{words:?}: {}", with.stdout);
        assert_eq!(plain(&with.stdout), plain(&without.stdout), "{words:?}");
        if let Some(json) = json {
            let ran = run(&[json], "always");
            assert!(ran.stdout.starts_with('{') && !ran.stdout.contains('\u{1b}'), "{words:?}: {}", ran.stdout);
        }
    }
}

const HOSTILE: &str = r#"{"name": "h", "version": "1", "tools": [{"name": "x", "description": "a\u001b[1;31mb", "answers": [{"text": "x"}]}]}"#;

/// A server's own escapes stay visible among our colours.
#[test]
fn a_server_cannot_paint() {
    let home = tempfile::tempdir().expect("a folder");
    let catalogue = home.path().join("hostile.json");
    fs::write(&catalogue, HOSTILE).expect("a file");
    let catalogue = catalogue.to_string_lossy().into_owned();
    let ran =
        proof(home.path(), &["client", "tools", "--", PROOF, "serve", "--stdio", "--catalog", &catalogue], "always");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("\u{1b}[1mx\u{1b}[0m") && ran.stdout.contains(r"a\u{1b}[1;31mb"), "{}", ran.stdout);
}

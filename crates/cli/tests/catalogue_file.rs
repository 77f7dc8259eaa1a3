//! `proof serve --catalog FILE`: what is served, and what is told of a file that cannot be.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const PROOF: &str = env!("CARGO_BIN_EXE_proof");

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/weather.yaml")
}

/// Ends the child, however the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What it says and ends with, within a bounded time; little enough is said that no pipe fills.
#[track_caller]
fn ended(command: &mut Command, seconds: u64, input: &str) -> Output {
    let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut running = Running(spawned.expect("the binary runs"));
    if let Some(mut stdin) = running.0.stdin.take() {
        // Whoever refuses its command line does not read.
        let _ = stdin.write_all(input.as_bytes());
    }
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = running.0.try_wait().expect("a child") {
            break status;
        }
        assert!(begun.elapsed() < Duration::from_secs(seconds), "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    running.0.stdout.take().expect("a pipe").read_to_end(&mut stdout).expect("it can be read");
    running.0.stderr.take().expect("a pipe").read_to_end(&mut stderr).expect("it can be read");
    Output { status, stdout, stderr }
}

#[track_caller]
fn refused(catalogue: &str) -> String {
    let ran = ended(Command::new(PROOF).args(["serve", "--stdio", "--catalog", catalogue]), 20, "");
    let said = String::from_utf8_lossy(&ran.stderr).replace("\n       ", " ");
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(ran.stdout.is_empty() && said.starts_with("error: "), "{said}");
    said
}

fn file(text: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("catalogue.yaml");
    std::fs::write(&path, text).expect("it can be written");
    let path = path.to_str().expect("a path of characters").to_owned();
    (folder, path)
}

/// `proof serve` with the greeting server, at the end of a shell's `echo`.
#[track_caller]
fn greeted(message: &str, more: &[&str]) -> String {
    let greet = example().with_file_name("greet.yaml");
    let mut command = Command::new(PROOF);
    command.args(["serve", "--stdio", "--catalog"]).arg(greet).args(more);
    let ran = ended(&mut command, 20, &format!("{message}\n"));
    assert_eq!((ran.status.code(), String::from_utf8_lossy(&ran.stderr).as_ref()), (Some(0), ""));
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

#[test]
fn one_line_of_a_shell_is_answered() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}"#;
    let hello =
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Hello, Ada!"}],"isError":false}}"#;
    assert_eq!(greeted(call, &["--lenient-start"]), format!("{hello}\n"));
    assert!(greeted(call, &[]).contains("-32600"), "without the option, the handshake comes first");
    let said = greeted(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#, &["--lenient-start"]);
    let unchanging = r#""listChanged":false"#;
    assert_eq!(said.matches(unchanging).count(), 3, "tools, resources and prompts: {said}");
    assert!(!said.contains(r#""listChanged":true"#), "{said}");
}

#[test]
fn the_example_is_clean() {
    let serve = ["serve", "--stdio", "--catalog"];
    let mut command = Command::new(PROOF);
    command.args(["check", "--revision", "all", "--", PROOF]).args(serve).arg(example());
    let ran = ended(&mut command, 300, "");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned()
        + &String::from_utf8_lossy(&ran.stderr).replace("\n       ", " ");
    assert_eq!(ran.status.code(), Some(0), "{said}");
    assert!(said.contains("weather 1.0"), "{said}");
}

#[test]
fn a_file_is_served() {
    let asked = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_weather","arguments":{"city":"Atlantis"}}}
"#;
    let ran = ended(Command::new(PROOF).args(["serve", "--stdio", "--catalog"]).arg(example()), 20, asked);
    assert_eq!(ran.status.code(), Some(0));
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(said.contains(r#""name":"weather""#) && said.contains("Atlantis has sunk"), "{said}");
}

#[test]
fn invalid_catalogues_are_reported() {
    let said = refused("offical");
    assert!(said.contains("`offical` is neither a built-in catalogue nor a file"), "{said}");
    assert!(said.contains("\n  try: use `standard`, `official`, or the path"), "{said}");
    assert!(refused(env!("CARGO_MANIFEST_DIR")).contains("cannot be read"));
    assert!(refused("/dev/null").contains("`/dev/null` is not a regular file"));
    let (_folder, path) = file("");
    assert!(refused(&path).contains("the file is empty"));
}

#[test]
fn every_error_is_reported() {
    let (_folder, path) = file("name: x\nversion: 1\ntools:\n  - nmae: t\n    description: d\n    answers: []\n");
    let said = refused(&path);
    let expected = format!(
        "error: `version` is a number, not a text – {path}:2:1\n  try: quotes: \"1\"\n\
         error: the key `nmae` is unknown here – {path}:4:5\n  try: `name`\n\
         error: `answers` is empty – {path}:6:5\n  try: at least one entry\n"
    );
    assert_eq!(said, expected);
}

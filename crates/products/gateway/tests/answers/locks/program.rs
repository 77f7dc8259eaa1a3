//! The program `proof-gateway` with a lock: it does not start without one, and takes another one over when the file changes.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::shop::{Locked, write};
use super::{refusal, until};
use crate::restarts::Gateway;
use crate::scene::{Raw, text};

fn configuration(folder: &Path, at: &str) {
    let text = format!(
        "listen: 127.0.0.1:0\nupstreams: {{ a: {{ url: \"{at}\" }} }}\nlock: {{ file: mcp.lock, each_call: false }}\n"
    );
    std::fs::write(folder.join("gateway.yaml"), text).expect("a file");
}

#[test]
fn without_its_lock_it_does_not_start() {
    let folder = tempfile::tempdir().expect("a folder");
    configuration(folder.path(), "http://127.0.0.1:9/mcp");
    for (lock, why) in [(None, "No such file"), (Some("{}"), "expected `mcp.lock/1`")] {
        if let Some(lock) = lock {
            std::fs::write(folder.path().join("mcp.lock"), lock).expect("a file");
        }
        for check in [false, true] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_proof-gateway"));
            command.arg("--config").arg(folder.path().join("gateway.yaml")).stdin(Stdio::null());
            if check {
                command.arg("--check-config");
            }
            let ended = command.output().expect("it runs");
            let said = String::from_utf8_lossy(&ended.stderr);
            assert_eq!(ended.status.code(), Some(2), "{said}");
            assert!(
                said.contains("mcp.lock` cannot be used") && said.contains(why) && said.contains("try: "),
                "{said}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_lock_is_taken_over_when_its_file_changes() {
    let scene = Locked::open(|_| {}).await;
    let folder = tempfile::tempdir().expect("a folder");
    let upstream = scene.upstream_address();
    configuration(folder.path(), &upstream);
    write(folder.path(), &[("a", &scene.shop.says())]);
    scene.shop.says().tools[0]["description"] = json!("Other.");
    let gateway = Gateway::start(folder.path());
    let client = Raw::at(&format!("http://{}/mcp", gateway.address)).await;
    assert_eq!(refusal(&client.call("buy", json!({})).await).0, "lock-changed");
    // A bad one changes nothing, and is reported once.
    std::fs::write(folder.path().join("mcp.lock"), "{}").expect("a file");
    let log = || std::fs::read_to_string(folder.path().join("log")).expect("a log");
    until(async || log(), |log| log.contains("the configuration stays as it was")).await;
    assert_eq!(text(&client.call("look", json!({})).await), "ran look");
    assert_eq!(refusal(&client.call("buy", json!({})).await).0, "lock-changed");
    // The change is approved.
    write(folder.path(), &[("a", &scene.shop.says())]);
    let answer = until(async || client.call("buy", json!({})).await, |answer| answer["error"].is_null()).await;
    assert_eq!(text(&answer), "ran buy");
    let said = log();
    assert_eq!(said.matches("the configuration stays as it was").count(), 1, "{said}");
    assert!(said.contains('`') && said.contains("expected `mcp.lock/1`"), "{said}");
    scene.scene.end().await;
}

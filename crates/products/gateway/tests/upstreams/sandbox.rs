//! What a program behind the gateway may reach. Each attempt is made without the sandbox too: what fails there proves nothing.

use std::path::Path;

use gateway::settings::{CommandLimits, Target};
use net::process::{Command, Gap, Ports, Sandbox};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use wire::Revision;

use crate::scene::{Scene, call};
use crate::scripted::server;

const REVISION: Revision = Revision::R2025_11_25;

fn required() -> Sandbox {
    Sandbox { is_required: true, ..Sandbox::default() }
}

/// Whether this system can restrict all that a test needs; a test that cannot be tried says so.
fn can_restrict(needed: &[Gap]) -> bool {
    let gaps = required().gaps();
    let lacking: Vec<_> = needed.iter().filter(|gap| gaps.contains(gap)).map(|gap| gap.as_str()).collect();
    if !lacking.is_empty() {
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            format!("NOT TRIED: this system cannot restrict {}\n", lacking.join(", ")).as_bytes(),
        );
    }
    lacking.is_empty()
}

/// A server whose tool `attempt` runs a shell script, and answers whether it succeeded.
fn attempting(script: &str, sandbox: Option<Sandbox>, folder: &Path) -> Target {
    let case = r#"*'"attempt"'*) if sh -c "$ATTEMPT" </dev/null >/dev/null 2>&1; then say '"result":{"content":[{"type":"text","text":"done"}]}'; else say '"result":{"content":[{"type":"text","text":"denied"}]}'; fi; continue ;;"#;
    let mut command = Command::new("sh", ["-c", &server("tool", case)]);
    command.env.push(("ATTEMPT".to_owned(), script.to_owned()));
    command.env.push(("FOLDER".to_owned(), folder.display().to_string()));
    Target::Command { command, inherit: Vec::new(), limits: CommandLimits { sandbox, ..CommandLimits::default() } }
}

async fn attempt(script: &str, sandbox: Option<Sandbox>, folder: &Path) -> bool {
    let scene = Scene::of(attempting(script, sandbox, folder)).await;
    let client = scene.client(REVISION).await;
    let answer = call(&client, "attempt", json!({})).await;
    scene.end().await;
    assert!(answer.contains("done") || answer.contains("denied"), "{script}: {answer}");
    answer.contains("done")
}

/// The attempt succeeds without a sandbox, and not in this one.
async fn is_denied(script: &str, sandbox: Sandbox, folder: &Path) {
    assert!(attempt(script, None, folder).await, "it fails without a sandbox, too: {script}");
    assert!(!attempt(script, Some(sandbox), folder).await, "the sandbox lets it through: {script}");
}

/// A folder with a secret, a folder to write in, and a link from there to the secret.
fn folders() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in [".ssh", "open", "shown"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    std::fs::write(folder.path().join(".ssh/id_ed25519"), "key").unwrap();
    std::fs::write(folder.path().join("shown/page"), "page").unwrap();
    std::os::unix::fs::symlink("../.ssh/id_ed25519", folder.path().join("open/link")).unwrap();
    folder
}

fn with_folders(folder: &Path) -> Sandbox {
    Sandbox { readable: vec![folder.join("shown")], writable: vec![folder.join("open")], ..required() }
}

#[tokio::test]
async fn files_that_are_not_named_are_out_of_reach() {
    if !can_restrict(&[Gap::Files]) {
        return;
    }
    let folder = folders();
    let at = folder.path();
    for script in [
        "cat /etc/passwd",
        "cat $FOLDER/.ssh/id_ed25519",
        "cat $FOLDER/open/link",
        "cat $FOLDER/open/../.ssh/id_ed25519",
        "ls $FOLDER",
        "ls /proc/$PPID",
        "cat /proc/1/cmdline",
        "tr '\\0' '\\n' < /proc/self/environ",
        "echo x > $FOLDER/new",
        "echo x > $FOLDER/shown/page",
        "truncate -s 0 $FOLDER/shown/page",
        "mkdir $FOLDER/folder && rmdir $FOLDER/folder",
        "ln $FOLDER/.ssh/id_ed25519 $FOLDER/open/hard && rm $FOLDER/open/hard",
        "mv $FOLDER/shown/page $FOLDER/open/page && mv $FOLDER/open/page $FOLDER/shown/page",
        "(setsid cat $FOLDER/.ssh/id_ed25519)",
        "cp /bin/ls $FOLDER/tool && $FOLDER/tool && rm $FOLDER/tool",
    ] {
        is_denied(script, with_folders(at), at).await;
    }
}

#[tokio::test]
async fn what_is_named_is_within_reach() {
    let folder = folders();
    let at = folder.path();
    let sandbox = Sandbox { is_required: false, ..with_folders(at) };
    for script in [
        "cat $FOLDER/shown/page",
        "echo x > $FOLDER/open/new && cat $FOLDER/open/new && mv $FOLDER/open/new $FOLDER/open/old && rm $FOLDER/open/old",
        "mkdir $FOLDER/open/a && rmdir $FOLDER/open/a",
        "cp /bin/ls $FOLDER/open/tool && $FOLDER/open/tool $FOLDER/open && rm $FOLDER/open/tool",
        "echo x > /dev/null && head -c 4 /dev/urandom",
        "date && cat /etc/resolv.conf /proc/meminfo",
    ] {
        assert!(attempt(script, None, at).await, "{script}");
        assert!(attempt(script, Some(sandbox.clone()), at).await, "the sandbox is in the way: {script}");
    }
}

/// A script that connects to a port of this machine; needs Python, as the system's own.
fn connects(port: u16) -> String {
    format!("/usr/bin/python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5)'")
}

#[tokio::test]
async fn connections_go_to_named_ports_alone() {
    let has_python = Path::new("/usr/bin/python3").exists();
    if !can_restrict(&[Gap::Files, Gap::Tcp]) || !has_python {
        return;
    }
    let folder = folders();
    let at = folder.path();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    is_denied(&connects(port), required(), at).await;
    is_denied(&connects(port), Sandbox { connect: Ports::Only(vec![443]), ..required() }, at).await;
    for connect in [Ports::Any, Ports::Only(vec![443, port])] {
        assert!(attempt(&connects(port), Some(Sandbox { connect, ..required() }), at).await);
    }
    let listens = "/usr/bin/python3 -c 'import socket; socket.create_server((\"127.0.0.1\", 0))'";
    is_denied(listens, Sandbox { connect: Ports::Any, ..required() }, at).await;
    assert!(attempt(listens, Some(Sandbox { listen: vec![0], ..required() }), at).await);
}

#[tokio::test]
async fn other_processes_get_no_signals() {
    if !can_restrict(&[Gap::Files, Gap::Signals]) {
        return;
    }
    let folder = folders();
    let mut outside = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    is_denied(&format!("kill -0 {}", outside.id()), required(), folder.path()).await;
    assert!(attempt("sleep 9 & kill $!", Some(required()), folder.path()).await, "its own processes do");
    outside.kill().unwrap();
    outside.wait().unwrap();
}

#[tokio::test]
async fn the_gateway_itself_is_not_restricted() {
    let folder = folders();
    assert!(attempt("true", Some(with_folders(folder.path())), folder.path()).await || !can_restrict(&[Gap::Files]));
    // The threads that tests and the runtime share have read nothing of this before.
    assert_eq!(std::fs::read(folder.path().join(".ssh/id_ed25519")).unwrap(), b"key");
    assert!(attempt("cat $FOLDER/.ssh/id_ed25519", None, folder.path()).await);
}

#[tokio::test]
async fn a_path_that_is_not_there_is_named() {
    if !can_restrict(&[Gap::Files]) {
        return;
    }
    let folder = folders();
    let sandbox = Sandbox { writable: vec![folder.path().join("missing")], ..required() };
    let scene = Scene::of(attempting("true", Some(sandbox), folder.path())).await;
    let error = scene.try_client(REVISION).await.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("missing") && error.contains("sandbox"), "{error}");
    scene.end().await;
}

/// A server of Node, which reads a lot when it starts.
const NODE: &str = r#"
const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const read = () => { try { return require("fs").readFileSync(params.arguments.path, "utf8"); } catch (e) { return e.code; } };
  const result = method === "initialize"
    ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "n", version: "1" } }
    : method === "tools/list" ? { tools: [{ name: "read", inputSchema: { type: "object" } }] }
    : method === "tools/call" ? { content: [{ type: "text", text: read() }] } : undefined;
  const answer = result ? { result } : { error: { code: -32601, message: "no" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\n");
});
"#;

#[tokio::test]
async fn a_server_of_node_runs_with_its_folder_readable() {
    let node =
        std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|at| at.join("node").is_file()));
    if !can_restrict(&[Gap::Files]) || !node {
        return;
    }
    let folder = folders();
    let file = folder.path().join("shown/server.js");
    std::fs::write(&file, NODE).unwrap();
    let command = Command::new("node", [file.display().to_string()]);
    let limits = CommandLimits { sandbox: Some(with_folders(folder.path())), ..CommandLimits::default() };
    let scene = Scene::of(Target::Command { command, inherit: Vec::new(), limits }).await;
    let client = scene.client(REVISION).await;
    for (name, expected) in [("shown/page", "page"), (".ssh/id_ed25519", "EACCES"), ("open/link", "EACCES")] {
        let path: Value = folder.path().join(name).display().to_string().into();
        let answer = call(&client, "read", json!({ "path": path })).await;
        assert!(answer.contains(expected), "{name}: {answer}");
    }
    scene.end().await;
}

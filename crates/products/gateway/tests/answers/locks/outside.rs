//! What reaches a legacy client without its asking: nothing of a server that is withheld, and no further round of a tool that
//! changed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use super::shop::{Locked, Says, write};

/// A legacy server that speaks, and asks, once its client has begun.
const SERVER: &str = r#"
while read -r line; do
  printf '%s\n' "$line" >> "$1/seen"
  id=$(printf '%s' "$line" | sed 's/.*"id":\([^,}]*\).*/\1/')
  case "$line" in
    *'"initialize"'*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{},"experimental":{"EVIL":{}}},"serverInfo":{"name":"EVIL","title":"EVIL","version":"1"},"instructions":"EVIL"}}' ;;
    *'"notifications/initialized"'*)
      printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"EVIL"}}'
      printf '%s\n' '{"jsonrpc":"2.0","id":71,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],"systemPrompt":"EVIL"}}'
      printf '%s\n' '{"jsonrpc":"2.0","id":72,"method":"elicitation/create","params":{"message":"EVIL","requestedSchema":{"type":"object","properties":{}}}}' ;;
    *'"tools/list"'*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[]}}' ;;
  esac
done
"#;

/// A gateway over stdio with its client.
struct Spoken {
    program: Child,
    input: ChildStdin,
    lines: Receiver<Value>,
}

impl Spoken {
    fn start(folder: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proof-gateway"));
        command.arg("--config").arg(folder.join("gateway.yaml")).arg("--stdio");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut program = command.spawn().expect("it runs");
        let (send, lines) = channel();
        let out = BufReader::new(program.stdout.take().expect("a pipe"));
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let _ = send.send(serde_json::from_str(&line).expect("JSON"));
            }
        });
        let input = program.stdin.take().expect("a pipe");
        let mut spoken = Self { program, input, lines };
        let capabilities = json!({ "sampling": {}, "elicitation": {}, "roots": {} });
        spoken.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": { "name": "t", "version": "1" } } }));
        spoken
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("it reads");
    }

    fn next(&self, patience: Duration) -> Option<Value> {
        self.lines.recv_timeout(patience).ok()
    }
}

impl Drop for Spoken {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

#[test]
fn a_withheld_server_says_nothing_and_asks_nothing() {
    for (unlocked, passes) in [("withhold", false), ("pass", true)] {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("server.sh"), SERVER).expect("a file");
        let path = folder.path().display();
        let text = format!(
            "upstreams: {{ c: {{ command: [sh, {path}/server.sh, {path}] }} }}\nlock: {{ file: mcp.lock, unlocked: {unlocked} }}\n"
        );
        std::fs::write(folder.path().join("gateway.yaml"), text).expect("a file");
        write(folder.path(), &[("another", &Says::default())]);
        let mut client = Spoken::start(folder.path());
        let begun = client.next(Duration::from_secs(20)).expect("an answer");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {} }));
        let mut said = vec![begun];
        while let Some(message) = client.next(Duration::from_millis(1500)) {
            said.push(message);
        }
        let seen = std::fs::read_to_string(folder.path().join("seen")).expect("it was begun");
        let all = json!(said).to_string();
        if passes {
            for part in ["sampling/createMessage", "elicitation/create", "notifications/message", "\"title\":\"EVIL\""]
            {
                assert!(all.contains(part), "{part}: {all}");
            }
        } else {
            assert!(!all.contains("EVIL") && !all.contains("\"method\""), "{all}");
            assert!(seen.contains("\"action\":\"cancel\"") && seen.contains("No client can be asked"), "{seen}");
            assert_eq!(said[0]["result"]["serverInfo"]["name"], "proof-gateway");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_of_questions_to_a_legacy_client_does_not_go_on() {
    for changes in [false, true] {
        let scene = Locked::open(|_| {}).await;
        let folder = tempfile::tempdir().expect("a folder");
        let at = scene.upstream_address();
        let text = format!("upstreams: {{ a: {{ url: \"{at}\" }} }}\nlock: {{ file: mcp.lock }}\n");
        std::fs::write(folder.path().join("gateway.yaml"), text).expect("a file");
        write(folder.path(), &[("a", &scene.shop.says())]);
        let shop = scene.shop.clone();
        let answer = tokio::task::spawn_blocking(move || {
            let mut client = Spoken::start(folder.path());
            client.next(Duration::from_secs(20)).expect("an answer");
            client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
            let call = json!({ "name": "ask", "arguments": {} });
            client.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }));
            loop {
                let message = client.next(Duration::from_secs(20)).expect("a message");
                if message["method"] == "roots/list" {
                    if changes {
                        shop.says().tools[2]["description"] = json!("Other.");
                    }
                    let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "roots": [] } });
                    client.send(&answer);
                }
                if message["id"] == 2 && message["method"].is_null() {
                    return message;
                }
            }
        });
        let answer = answer.await.expect("an answer");
        let data = &answer["error"]["data"];
        if changes {
            assert_eq!((&data["failure"], &data["outcome"]), (&json!("lock-changed"), &json!("unknown")), "{answer}");
        } else {
            assert!(answer["error"].is_null(), "{answer}");
        }
        assert_eq!(scene.seen.calls("ask"), if changes { 1 } else { 2 });
        scene.scene.end().await;
    }
}

//! Messages reach a webhook, signed, whatever dies on the way: `proof-fleet deliver` against a receiver of this test. Needs the
//! program `proof`, which a build of the workspace puts beside `proof-fleet`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use fleet::config::Fleet;
use fleet::keeping::Keeping;
use fleet::webhooks::Key;
use serde_json::Value;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PATIENCE: Duration = Duration::from_secs(30);

/// A request that came, in lower-case lines, and its body.
struct Request {
    head: Vec<String>,
    body: String,
}

impl Request {
    fn header(&self, name: &str) -> &str {
        let start = format!("{name}: ");
        self.head.iter().find_map(|line| line.strip_prefix(&start)).unwrap_or_default()
    }
}

/// A receiver that gives these answers in turn; an empty one never comes.
fn receiver(answers: &'static [&'static str]) -> (u16, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (came, requests) = channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for answer in answers {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
            let head: Vec<String> =
                reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            let head: Vec<String> = head
                .iter()
                .map(|line| {
                    line.split_once(": ")
                        .map_or_else(|| line.clone(), |(name, value)| format!("{}: {value}", name.to_lowercase()))
                })
                .collect();
            let length = head.iter().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("a body");
            let _ = came.send(Request { head, body: String::from_utf8(body).expect("text") });
            if !answer.is_empty() {
                let _ = write!(stream, "HTTP/1.1 {answer}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            }
            kept.push(stream);
        }
        // What was never answered stays open.
        std::thread::park();
    });
    (port, requests)
}

/// A fleet whose only server rose to a stage, with a webhook at this address.
async fn scene(url: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "store: results\nservers:\n  - {{ name: shop, owner: ada, command: [x] }}\nwebhooks:\n  \
         - {{ name: ops, url: \"{url}\", secret: {{ env: HOOK_SECRET }} }}\n"
    );
    std::fs::write(folder.path().join("fleet.yaml"), text).expect("a file");
    let (fleet, keeping) = opened(folder.path()).await;
    let ids = keeping.put_servers(&fleet, 1).await.expect("servers");
    keeping.store.record_stage(ids["shop"], 3, None, 2).await.expect("a stage");
    folder
}

async fn opened(folder: &Path) -> (Fleet, Keeping) {
    let fleet = Fleet::load(&folder.join("fleet.yaml")).expect("a fleet");
    let keeping = Keeping::open(&fleet).await.expect("a store");
    (fleet, keeping)
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof-fleet"));
    command.arg("deliver").current_dir(folder).env("HOOK_SECRET", SECRET).stdin(Stdio::null());
    command
}

fn out(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    text.replace('\n', " ")
}

#[tokio::test]
async fn a_message_that_is_refused_once_arrives_signed_and_once() {
    let (port, requests) = receiver(&["503 Busy", "204 Fine"]);
    let folder = scene(&format!("http://127.0.0.1:{port}/hook?of=fleet")).await;
    let refused = command(folder.path()).output().expect("the program");
    assert_eq!(refused.status.code(), Some(1), "{}", out(&refused));
    assert!(out(&refused).contains("1 waiting") && out(&refused).contains("it answers 503"), "{}", out(&refused));
    let first = requests.recv_timeout(PATIENCE).expect("a request");
    // It is due in 15 s, which the second process waits for.
    let sent = command(folder.path()).args(["--wait", "30"]).output().expect("the program");
    assert_eq!(sent.status.code(), Some(0), "{}", out(&sent));
    let second = requests.recv_timeout(PATIENCE).expect("a request");
    assert_eq!((first.head[0].as_str(), &first.body), ("POST /hook?of=fleet HTTP/1.1", &second.body));
    assert_eq!(first.header("webhook-id"), second.header("webhook-id"), "the receiver can see that it is the same");
    for request in [&first, &second] {
        let seconds = request.header("webhook-timestamp").parse().expect("seconds");
        let expected = Key::read(SECRET).expect("a key").sign(request.header("webhook-id"), seconds, &request.body);
        assert_eq!(request.header("webhook-signature"), expected);
    }
    let body: Value = serde_json::from_str(&second.body).expect("JSON");
    assert_eq!((body["type"].as_str(), body["to"].as_u64()), (Some("stage-changed"), Some(3)));
    let again = command(folder.path()).output().expect("the program");
    assert_eq!((again.status.code(), out(&again).trim()), (Some(0), "0 messages sent"));
}

#[tokio::test]
async fn a_kill_while_a_message_is_sent_does_not_lose_it() {
    let (port, requests) = receiver(&["", "200 OK"]);
    let folder = scene(&format!("http://127.0.0.1:{port}/hook")).await;
    let mut child = command(folder.path()).spawn().expect("the program");
    let first = requests.recv_timeout(PATIENCE).expect("a request");
    child.kill().expect("a signal");
    child.wait().expect("its end");
    let (_, keeping) = opened(folder.path()).await;
    let left = keeping.store.undelivered_messages(9).await.expect("a list");
    assert_eq!((left.len(), left[0].attempt, left[0].due.is_some()), (1, 1, true));
    let sent = command(folder.path()).args(["--wait", "30"]).output().expect("the program");
    assert_eq!(sent.status.code(), Some(0), "{}", out(&sent));
    assert_eq!(requests.recv_timeout(PATIENCE).expect("a request").body, first.body);
}

#[tokio::test]
async fn a_webhook_without_its_secret_is_named_and_its_message_waits() {
    let folder = scene("http://127.0.0.1:9/hook").await;
    let refused = command(folder.path()).env_remove("HOOK_SECRET").output().expect("the program");
    assert_eq!(refused.status.code(), Some(1));
    assert!(out(&refused).contains("HOOK_SECRET is not set"), "{}", out(&refused));
    let wrong = command(folder.path()).env("HOOK_SECRET", "hunter2-hunter2-hunter2").output().expect("the program");
    assert!(out(&wrong).contains("HOOK_SECRET holds no secret") && !out(&wrong).contains("hunter2"), "{}", out(&wrong));
    let (_, keeping) = opened(folder.path()).await;
    let left = keeping.store.undelivered_messages(9).await.expect("a list");
    assert_eq!((left.len(), left[0].attempt), (1, 0), "no attempt is used up");
}

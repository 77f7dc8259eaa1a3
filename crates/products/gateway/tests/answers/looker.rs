//! An interceptor that answers as a test says: over HTTP, or as a program.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gateway::settings::{InterceptorSettings, InterceptorTarget};
use net::client::HttpAddress;
use net::process::Command;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// What it answers to a question: a body, after a pause.
type Says = Arc<dyn Fn(&Value) -> (Duration, String) + Send + Sync>;

/// The questions that it got.
#[derive(Clone, Default)]
pub(crate) struct Asked(Arc<Mutex<Vec<Value>>>, Arc<Mutex<usize>>);

impl Asked {
    pub(crate) fn all(&self) -> Vec<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn of(&self, phase: &str) -> Vec<Value> {
        self.all().into_iter().filter(|question| question["phase"] == phase).collect()
    }

    /// How many connections ended before they got their answer.
    pub(crate) fn left(&self) -> usize {
        *self.1.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Over HTTP.
pub(crate) async fn looker(
    name: &str,
    says: impl Fn(&Value) -> Value + Send + Sync + 'static,
) -> (InterceptorSettings, Asked) {
    slow(name, move |question| (Duration::ZERO, says(question).to_string())).await
}

/// The same, which takes its time and may say anything.
pub(crate) async fn slow(
    name: &str,
    says: impl Fn(&Value) -> (Duration, String) + Send + Sync + 'static,
) -> (InterceptorSettings, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/look", listener.local_addr().expect("an address"));
    let (asked, says): (_, Says) = (Asked::default(), Arc::new(says));
    let kept = asked.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, kept.clone(), Arc::clone(&says)));
        }
    });
    let target = InterceptorTarget::Http(HttpAddress::new(url.parse().expect("a URL")));
    (InterceptorSettings::new(name, target), asked)
}

async fn serve(mut stream: TcpStream, asked: Asked, says: Says) {
    while let Some(question) = read(&mut stream).await {
        asked.0.lock().unwrap_or_else(PoisonError::into_inner).push(question.clone());
        let (pause, body) = says(&question);
        let mut byte = [0];
        tokio::select! {
            () = sleep(pause) => {}
            _ = stream.read(&mut byte) => {
                *asked.1.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                return;
            }
        }
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
        if stream.write_all((head + &body).as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Value> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
            if body.len() >= length.parse::<usize>().ok()? {
                return serde_json::from_str(body).ok();
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// A program that answers each line as a shell script says, which finds the line in `$line` and its id in `$id`.
pub(crate) fn program(name: &str, case: &str) -> InterceptorSettings {
    let script = format!("while IFS= read -r line; do id=${{line#*'\"id\":'}}; id=${{id%%[!0-9]*}}; {case}; done");
    let target = InterceptorTarget::Command(Command::new("sh", ["-c", &script]), Vec::new());
    InterceptorSettings::new(name, target)
}

pub(crate) fn proceed() -> Value {
    json!({ "verdict": "continue" })
}

/// A change of arguments.
pub(crate) fn set(arguments: Value) -> Value {
    json!({ "verdict": "modify", "arguments": { "set": arguments } })
}

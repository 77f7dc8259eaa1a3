//! A policy decision point that answers as a test says, and notes what it is asked.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gateway::settings::AuthzenSettings;
use net::client::HttpAddress;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// What it says: all bytes of an HTTP response, after a pause.
pub(crate) type Says = Arc<dyn Fn(&str, &Value) -> (Duration, String) + Send + Sync>;

/// A policy decision point: where it is, and the paths and bodies of the requests that it got.
#[derive(Clone)]
pub(crate) struct Point {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
    says: Arc<Mutex<Says>>,
}

impl Point {
    pub(crate) async fn start(says: impl Fn(&str, &Value) -> (Duration, String) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let says: Arc<Mutex<Says>> = Arc::new(Mutex::new(Arc::new(says)));
        let point = Self { url, asked: Arc::default(), says };
        let kept = point.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, kept.clone()));
            }
        });
        point
    }

    /// One that decides about each item, by the request for it alone.
    pub(crate) async fn deciding(may: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Self {
        Self::start(move |_, question| (Duration::ZERO, ok(&decisions(question, &may).to_string()))).await
    }

    /// From now on it says this.
    pub(crate) fn say(&self, says: impl Fn(&str, &Value) -> (Duration, String) + Send + Sync + 'static) {
        *self.says.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(says);
    }

    pub(crate) fn settings(&self) -> AuthzenSettings {
        let address = HttpAddress::new(self.url.parse().expect("a URL"));
        // A busy machine is no failure.
        AuthzenSettings { timeout: Duration::from_secs(20), ..AuthzenSettings::new(address) }
    }

    /// The requests since the last time.
    pub(crate) fn taken(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A whole request for each item of a question, with the values that they share.
pub(crate) fn each(question: &Value) -> Vec<Value> {
    let Some(evaluations) = question["evaluations"].as_array() else { return vec![question.clone()] };
    let shared = question.as_object().cloned().unwrap_or_default();
    let whole = |one: &Value| {
        let own = one.as_object().cloned().unwrap_or_default();
        Value::Object(shared.clone().into_iter().chain(own).collect::<Map<_, _>>())
    };
    evaluations.iter().map(whole).collect()
}

fn decisions(question: &Value, may: impl Fn(&Value) -> bool) -> Value {
    let all: Vec<_> = each(question).iter().map(|one| json!({ "decision": may(one) })).collect();
    if question["evaluations"].is_array() { json!({ "evaluations": all }) } else { all[0].clone() }
}

pub(crate) fn ok(body: &str) -> String {
    response("200 OK", "", body)
}

pub(crate) fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}")
}

async fn serve(mut stream: TcpStream, point: Point) {
    while let Some((path, question)) = read(&mut stream).await {
        let says = Arc::clone(&point.says.lock().unwrap_or_else(PoisonError::into_inner));
        point.asked.lock().unwrap_or_else(PoisonError::into_inner).push((path.clone(), question.clone()));
        let (pause, response) = says(&path, &question);
        sleep(pause).await;
        let is_whole = response.contains("content-length");
        if stream.write_all(response.as_bytes()).await.is_err() || !is_whole {
            return;
        }
        if response.contains("x-closes") {
            read(&mut stream).await;
            return;
        }
    }
}

/// The path and the body of a request.
async fn read(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::with_capacity(64 << 10);
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
    let whole = end + 4 + length.parse::<usize>().ok()?;
    bytes.reserve(whole.saturating_sub(bytes.len()));
    while bytes.len() < whole {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let path = head.split_whitespace().nth(1)?.to_owned();
    Some((path, serde_json::from_slice(&bytes[end + 4..whole]).unwrap_or_default()))
}

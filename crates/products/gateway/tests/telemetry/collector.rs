//! A collector: keeps the spans that it gets.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gateway::settings::TelemetrySettings;
use net::client::HttpAddress;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use crate::scene::LOCAL;

/// A request to the collector.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// A collector that runs.
#[derive(Clone)]
pub(crate) struct Collector {
    url: String,
    taken: Arc<Mutex<Vec<Taken>>>,
}

impl Collector {
    /// One that answers with these statuses, the last one for ever. 0 is no answer at all.
    pub(crate) async fn new(statuses: &'static [u16]) -> Self {
        let listener = TcpListener::bind(LOCAL).await.expect("a free port");
        let url = format!("http://{}/v1/traces", listener.local_addr().expect("an address"));
        let collector = Self { url, taken: Arc::default() };
        let (taken, count) = (Arc::clone(&collector.taken), Arc::new(Mutex::new(0)));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&taken), Arc::clone(&count), statuses));
            }
        });
        collector
    }

    pub(crate) fn settings(&self) -> TelemetrySettings {
        TelemetrySettings::new(HttpAddress::new(Url::parse(&self.url).expect("a URL")))
    }

    pub(crate) fn requests(&self) -> Vec<Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All spans so far.
    pub(crate) fn spans(&self) -> Vec<Value> {
        let spans = |taken: &Taken| taken.body.pointer("/resourceSpans/0/scopeSpans/0/spans").cloned();
        let all = self.requests();
        all.iter().filter_map(spans).flat_map(|spans| spans.as_array().cloned().unwrap_or_default()).collect()
    }

    /// Waits for that many spans.
    pub(crate) async fn wait(&self, count: usize) -> Vec<Value> {
        for _ in 0..500 {
            let spans = self.spans();
            if spans.len() >= count {
                return spans;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{} of {count} spans came", self.spans().len());
    }
}

async fn serve(stream: TcpStream, taken: Arc<Mutex<Vec<Taken>>>, count: Arc<Mutex<usize>>, statuses: &[u16]) {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let before = head.len();
            if !matches!(stream.read_line(&mut head).await, Ok(1..)) {
                return;
            }
            let line = head[before..].trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap_or_default();
            }
        }
        let mut body = vec![0; length];
        if stream.read_exact(&mut body).await.is_err() {
            return;
        }
        let status = {
            let mut count = count.lock().unwrap_or_else(PoisonError::into_inner);
            *count += 1;
            statuses[(*count - 1).min(statuses.len() - 1)]
        };
        if status == 0 {
            std::future::pending::<()>().await;
        }
        if status == 200 {
            let body = serde_json::from_slice(&body).expect("JSON");
            taken.lock().unwrap_or_else(PoisonError::into_inner).push(Taken { head, body });
        }
        let answer = format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}");
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

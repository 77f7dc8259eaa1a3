//! A server over HTTP whose answers a closure gives, one connection per request. It keeps what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// GET, POST, DELETE.
    pub(crate) verb: String,
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Received {
    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
    }

    pub(crate) fn result(&self, result: &Value) -> Answer {
        Answer::json(&json!({ "jsonrpc": "2.0", "id": self.body["id"], "result": result }))
    }

    pub(crate) fn error(&self, code: i64, message: &str) -> Answer {
        let error = json!({ "code": code, "message": message });
        Answer::json(&json!({ "jsonrpc": "2.0", "id": self.body["id"], "error": error }))
    }
}

/// A response.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Answer {
    pub(crate) fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: String::new() }
    }

    fn json(body: &Value) -> Self {
        Self { body: body.to_string(), ..Self::status(200) }.header("content-type", "application/json")
    }

    /// A stream of messages, which then is over.
    pub(crate) fn events(messages: &[Value]) -> Self {
        let body =
            messages.iter().flat_map(|message| ["data: ".to_owned(), message.to_string(), "\n\n".to_owned()]).collect();
        Self { body, ..Self::status(200) }.header("content-type", "text/event-stream")
    }

    pub(crate) fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// The server.
pub(crate) struct Fake {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Received>>>,
}

impl Fake {
    pub(crate) fn start(answer: impl Fn(&Received) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let asked: Arc<Mutex<Vec<Received>>> = Arc::default();
        let (kept, answer) = (asked.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(stream), kept, answer) = (stream, kept.clone(), answer.clone()) else { return };
                std::thread::spawn(move || serve(stream, &kept, &*answer));
            }
        });
        Self { url, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Received> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn methods(&self) -> Vec<String> {
        self.asked().iter().map(|asked| asked.method().to_owned()).collect()
    }

    pub(crate) fn ids(&self) -> Vec<i64> {
        self.asked().iter().filter_map(|asked| asked.body["id"].as_i64()).collect()
    }
}

fn serve(stream: TcpStream, kept: &Mutex<Vec<Received>>, answer: &dyn Fn(&Received) -> Answer) {
    let Some(asked) = read(&stream) else { return };
    kept.lock().unwrap_or_else(PoisonError::into_inner).push(asked.clone());
    let Answer { status, headers, body } = answer(&asked);
    let headers: String = headers.iter().flat_map(|(name, value)| [name.as_str(), ": ", value, "\r\n"]).collect();
    let head = format!("HTTP/1.1 {status} x\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    // A client that went away is not this server's business.
    let _ = (&stream).write_all([head, body].concat().as_bytes());
}

/// One request; `None` where the client connects and says nothing.
fn read(stream: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end() {
            "" => break,
            text => lines.push(text.to_owned()),
        }
    }
    let mut words = lines.first()?.split(' ').map(str::to_owned);
    let (verb, path) = (words.next()?, words.next()?);
    let header =
        |line: &String| line.split_once(": ").map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
    let headers: Vec<_> = lines.iter().skip(1).filter_map(header).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Some(Received { verb, path, headers, body })
}

//! A listener on loopback that does to each connection what it is told, for as long as the test lasts. It knows just enough
//! HTTP to read one request.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The head and body of a request.
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Request {
    /// The id of the JSON-RPC request in the body, as text; `null` where there is none.
    pub(crate) fn id(&self) -> String {
        let body: serde_json::Value = serde_json::from_str(&self.body).unwrap_or_default();
        body["id"].to_string()
    }

    /// Its method.
    pub(crate) fn method(&self) -> String {
        let body: serde_json::Value = serde_json::from_str(&self.body).unwrap_or_default();
        body["method"].as_str().unwrap_or_default().to_owned()
    }
}

/// Serves every connection with `serve` on a thread of its own; gives the URL.
pub(crate) fn listen(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let serve = Arc::new(serve);
    // The threads end with the test binary.
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time limit can be set");
            thread::spawn(move || serve(stream));
        }
    });
    format!("http://{address}/mcp")
}

/// Answers every request with what `answer` makes of it, byte by byte as it is, and closes.
pub(crate) fn answer(answer: impl Fn(&Request) -> String + Send + Sync + 'static) -> String {
    listen(move |mut stream| {
        if let Some(request) = read(&mut stream) {
            // The client may have gone away: that is its right.
            let _ = stream.write_all(answer(&request).as_bytes());
        }
    })
}

/// A whole response.
pub(crate) fn response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

/// The response to `initialize` of a server that declares `capabilities`.
pub(crate) fn welcome(request: &Request, capabilities: &str) -> String {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"protocolVersion":"2025-11-25","capabilities":{{{capabilities}}},"serverInfo":{{"name":"fake","version":"1"}}}}}}"#,
        request.id()
    );
    response("200 OK", "content-type: application/json\r\n", &body)
}

/// Reads one request with its body.
pub(crate) fn read(stream: &mut impl Read) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
            if bytes.len() >= end + 4 + length {
                let body = String::from_utf8_lossy(&bytes[end + 4..]).into_owned();
                return Some(Request { head, body });
            }
        }
        match stream.read(&mut chunk) {
            Ok(count) if count > 0 => bytes.extend_from_slice(&chunk[..count]),
            _ => return None,
        }
    }
}

/// Writes until the client has had enough.
pub(crate) fn pour(stream: &mut impl Write, piece: &[u8], pause: Duration) {
    while stream.write_all(piece).and_then(|()| stream.flush()).is_ok() {
        thread::sleep(pause);
    }
}

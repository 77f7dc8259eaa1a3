//! Peers that do what a test says: a shell script for a child process, an HTTP server that answers by hand.

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server of 2025-06-18 with the tools `name` and `crash`; `NAME` and `CASES` are replaced. Cases see the line in `$line`
/// and the id in `$id`.
const SERVER: &str = r#"
say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  case $line in *'"id":'*) id=${line#*'"id":'}; id=${id%%[!0-9]*} ;; *) continue ;; esac
  case $line in
    CASES
    *'"initialize"'*)
      say '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"NAME","version":"1"}}' ;;
    *'"tools/list"'*)
      say '"result":{"tools":[{"name":"NAME","inputSchema":{"type":"object"}},{"name":"NAME-crash","inputSchema":{"type":"object"}}]}' ;;
    *'-crash"'*) echo "out of luck with token=$TOKEN" >&2; exit 3 ;;
    *'"tools/call"'*) say "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"pid $$ \"}]}" ;;
    *) say '"error":{"code":-32601,"message":"Method not found"}' ;;
  esac
done
"#;

/// A server with a tool `name`, and with cases of its own before the usual ones.
pub(crate) fn server(name: &str, cases: &str) -> String {
    SERVER.replace("CASES", cases).replace("NAME", name)
}

/// One HTTP request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn is(&self, method: &str) -> bool {
        self.head.starts_with(method)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            line.split_once(": ").filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
        })
    }

    pub(crate) fn message(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    pub(crate) fn method(&self) -> String {
        self.message()["method"].as_str().unwrap_or_default().to_owned()
    }

    /// The result that answers it.
    pub(crate) fn result(&self, result: &Value) -> String {
        serde_json::json!({ "jsonrpc": "2.0", "id": self.message()["id"], "result": result }).to_string()
    }
}

/// A server on loopback that hands every connection to `serve`. Its origin.
pub(crate) async fn http<F, S>(serve: S) -> String
where
    S: Fn(TcpStream) -> F + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    origin
}

/// Reads one request; `None` at the end of the connection.
pub(crate) async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let request = Request { head: head.to_owned(), body: body.to_owned() };
            let length: usize = request.header("content-length").map_or(0, |n| n.parse().unwrap());
            if body.len() >= length {
                return Some(request);
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// Writes bytes; a peer that is gone needs no answer.
pub(crate) async fn write(stream: &mut TcpStream, text: &str) {
    let _ = stream.write_all(text.as_bytes()).await;
}

/// An HTTP response with a body.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}

pub(crate) fn json_answer(headers: &str, body: &str) -> String {
    answer("200 OK", &format!("content-type: application/json\r\n{headers}"), body)
}

/// The head of an event stream that ends with its connection.
pub(crate) const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

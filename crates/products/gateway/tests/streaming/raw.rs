//! A modern server that writes its responses piece by piece, and a client that reads them so: neither ever holds one whole.

use std::net::SocketAddr;
use std::sync::Arc;

use gateway::Gateway;
use gateway::settings::{Limits, Sessions, Settings, Target, UpstreamSettings};
use net::Children;
use net::client::HttpAddress;
use net::server::http::{self, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

pub(crate) const LOCAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

/// Writes the response to a call on the connection that it gets.
pub(crate) type Respond = Arc<dyn Fn(TcpStream) -> futures_util::future::BoxFuture<'static, ()> + Send + Sync>;

/// A server whose calls are answered by `respond`.
pub(crate) async fn server(respond: Respond) -> SocketAddr {
    let listener = TcpListener::bind(LOCAL).await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&respond)));
        }
    });
    address
}

async fn serve(mut stream: TcpStream, respond: Respond) {
    while let Some(request) = read_request(&mut stream).await {
        if request.contains(r#""method":"tools/call""#) {
            return respond(stream).await;
        }
        let body = r#"{"jsonrpc":"2.0","id":0,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"raw","version":"1"}}}}"#;
        let length = body.len();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
        if stream.write_all(format!("{head}{body}").as_bytes()).await.is_err() {
            return;
        }
    }
}

pub(crate) async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut came = String::new();
    loop {
        if let Some((head, body)) = came.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            if body.len() >= length.unwrap_or_default() {
                return Some(came);
            }
        }
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        came.push_str(&String::from_utf8_lossy(&chunk[..count]));
    }
}

/// A gateway in front of a server.
pub(crate) struct Scene {
    pub(crate) gateway: Gateway,
    pub(crate) listening: Server,
}

impl Scene {
    pub(crate) async fn new(respond: Respond) -> Self {
        let server = server(respond).await;
        let url = Url::parse(&format!("http://{server}/mcp")).expect("a URL");
        let upstream = UpstreamSettings {
            name: "raw".to_owned(),
            target: Target::Http(HttpAddress::new(url)),
            revision: None,
            sessions: Sessions::default(),
            credentials: None,
            assertion: None,
        };
        let settings = Settings { upstreams: vec![upstream], limits: Limits::default(), ..Settings::default() };
        let gateway = Gateway::new(&settings, &Children::new()).expect("a valid address");
        let service = Arc::new(gateway.clone());
        let listening = http::listen(service, LOCAL, http::Options::default()).await.expect("a free port");
        Self { gateway, listening }
    }

    /// A call; the client's end of its connection, from which nothing is read yet.
    pub(crate) async fn call(&self) -> TcpStream {
        let address = self.listening.local_addr();
        let body = r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"t","arguments":{},"_meta":{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        let length = body.len();
        let mut stream = TcpStream::connect(address).await.expect("the gateway listens");
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: \
             t\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.expect("it reads");
        stream
    }
}

/// Reads until `text` has come; returns everything that came so far.
pub(crate) async fn read_until(stream: &mut TcpStream, text: &str) -> String {
    let mut came = String::new();
    while !came.contains(text) {
        let mut chunk = [0; 4096];
        let read = tokio::time::timeout(std::time::Duration::from_secs(10), stream.read(&mut chunk)).await;
        let count = read.unwrap_or_else(|_| panic!("{text:?} does not come, but {came:?}")).expect("it is open");
        assert!(count > 0, "the end, and no {text:?}: {came:?}");
        came.push_str(&String::from_utf8_lossy(&chunk[..count]));
    }
    came
}

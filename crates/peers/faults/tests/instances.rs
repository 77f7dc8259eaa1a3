//! What a fault remembers is of one server: two in one process do not influence each other.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use faults::server::{FaultyServer, find, quirks};
use net::Tap;
use net::server::recorder::ConnectionRecorder;
use reference::{Options, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use wire::trace::Header;
use wire::{Revision, Transport};

/// A conversation with a server that is served over lines.
struct LineClient {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    next: u32,
}

impl LineClient {
    fn with(server: &FaultyServer) -> Self {
        let (near, far) = tokio::io::duplex(1 << 20);
        let server = server.clone();
        tokio::spawn(async move {
            let tap = Tap::new(Header::server(Transport::Stdio, Revision::NEWEST, "instances"));
            let streams = tokio::io::split(far);
            let _ = server.lines(streams, &ConnectionRecorder::next(&tap), std::future::pending()).await;
        });
        let (reader, writer) = tokio::io::split(near);
        Self { lines: BufReader::new(reader).lines(), writer, next: 0 }
    }

    /// Asks one thing and gives the answer.
    async fn ask(&mut self, method: &str, mut params: Value) -> Value {
        self.next += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": Revision::NEWEST.as_str(),
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        });
        let request = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.writer.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        serde_json::from_str(&self.lines.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn echo(&mut self, text: &str) -> String {
        let answer = self.ask("tools/call", json!({ "name": "echo", "arguments": { "message": text } })).await;
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }
}

fn faulty(fault: &'static faults::server::Fault) -> FaultyServer {
    FaultyServer::new(Server::new(Options::default()), vec![fault])
}

#[tokio::test]
async fn servers_with_the_same_fault_do_not_influence_each_other() {
    let fault = find("echo-of-another").unwrap();
    let (mut one, mut other) = (LineClient::with(&faulty(fault)), LineClient::with(&faulty(fault)));
    for text in ["first", "second", "third"] {
        assert!(one.echo(text).await.contains(text));
    }
    // The fourth in this process, but the first that this server is asked.
    assert!(other.echo("unmixed").await.contains("unmixed"));
    assert!(one.echo("fourth").await.contains("third"), "the fault is not there");
}

#[tokio::test]
async fn each_process_of_a_server_remembers_for_itself() {
    let server = faulty(quirks::FIRST_REQUEST_REFUSED_FOR_VERSION);
    for _ in 0..2 {
        let mut talk = LineClient::with(&server);
        assert_eq!(talk.ask("tools/list", json!({})).await["error"]["code"], -32022);
        assert!(talk.ask("tools/list", json!({})).await["result"]["tools"].is_array());
    }
}

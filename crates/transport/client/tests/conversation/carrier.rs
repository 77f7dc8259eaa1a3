//! A connector of another program: everything that crosses goes through it.

use std::sync::{Arc, Mutex, PoisonError};

use client::{BoxFuture, Carrier, Client, Connector, Direct, Identity, Opening, Options};
use net::client::{Connection, Exchange, OpenError, Outgoing, SendError};
use serde_json::json;
use wire::Message;

use crate::fake::Fake;
use crate::{discovered, options, tools};

/// What crossed, as text, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, line: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Connector for Log {
    fn open<'a>(&'a self, opening: Opening<'a>) -> BoxFuture<'a, Result<Arc<dyn Carrier>, OpenError>> {
        Box::pin(async move {
            let inner = Direct.open(opening).await?;
            Ok(Arc::new(Logged { inner, log: self.clone() }) as Arc<dyn Carrier>)
        })
    }
}

struct Logged {
    inner: Arc<dyn Carrier>,
    log: Log,
}

impl Carrier for Logged {
    fn connection(&self) -> &Connection {
        self.inner.connection()
    }

    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<Exchange, SendError>> {
        self.log.add(format!("> {}", String::from_utf8_lossy(outgoing.body().unwrap_or_default())));
        self.inner.send(outgoing)
    }

    fn received(&self, message: Message) -> Message {
        self.log.add(format!("< {}", message.text()));
        self.inner.received(message)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.log.add("closed".to_owned());
        self.inner.close()
    }
}

#[tokio::test]
async fn everything_goes_through_the_connector_that_is_given() {
    let fake = Fake::start(|asked| match asked.method() {
        "server/discover" => asked.result(&discovered()),
        _ => asked.result(&tools(&json!({ "type": "object" }))),
    });
    let log = Log::default();
    let client = Client::connect_with(options(&fake), Arc::new(log.clone())).await.expect("it is there");
    client.tools().await.expect("it lists");
    client.close().await;
    let lines = log.lines();
    let kinds: Vec<&str> = lines.iter().map(|line| line.split('{').next().unwrap_or_default()).collect();
    assert_eq!(kinds, ["> ", "< ", "> ", "< ", "closed"], "{lines:?}");
    assert!(lines[0].contains("server/discover") && lines[2].contains("tools/list"), "{lines:?}");
    let sent: Vec<String> = fake.asked().iter().map(|asked| format!("> {}", asked.body)).collect();
    assert_eq!(sent, [lines[0].clone(), lines[2].clone()]);
}

#[tokio::test]
async fn a_client_says_who_it_is_told_to_be() {
    let fake = Fake::start(|asked| asked.result(&discovered()));
    let named = Identity { name: "mine".to_owned(), version: "7".to_owned() };
    Client::connect(Options { identity: named, ..options(&fake) }).await.expect("it is there");
    Client::connect(options(&fake)).await.expect("it is there");
    let said: Vec<String> = fake
        .asked()
        .iter()
        .map(|asked| asked.body["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]["name"].to_string())
        .collect();
    assert_eq!(said, ["\"mine\"", "\"proofhouse\""]);
}

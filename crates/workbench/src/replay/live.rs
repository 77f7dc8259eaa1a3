//! The server that knows what was not recorded. It is reached when it is first needed; what crosses is added to the
//! recording, and what is asked again is answered from there.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use net::Tap;
use net::client::Address;
use net::service::{Call, RpcError};
use reference::client::{Client, ClientError, Options, Params};
use serde_json::Value;
use serde_json_path::JsonPath;
use tokio::sync::OnceCell;
use wire::redact::{Redactor, Secrets};
use wire::trace::Frame;
use wire::trace::file::write_frame;

use super::index::{Index, Last, Reader};
use super::scan::{Place, Torn};
use crate::judging::redactor;

/// A live server and what came of it.
pub(super) struct Live {
    address: Address,
    client: OnceCell<Client>,
    book: Arc<Mutex<Book>>,
}

/// The end of the recording, and what was added there.
struct Book {
    file: File,
    offset: u64,
    last: Last,
    added: Reader<'static>,
    redactor: Redactor,
    /// Nothing can be added any more.
    full: bool,
}

impl Live {
    /// The server at `address`, whose answers go to the end of the recording at `path`. What is torn there is cut off.
    pub(super) fn new(
        address: Address,
        path: &Path,
        index: &Index,
        torn: Option<Torn>,
        volatile: &[JsonPath],
    ) -> io::Result<Self> {
        let mut file = OpenOptions::new().append(true).open(path)?;
        if let Some(torn) = torn {
            file.set_len(torn.offset)?;
        } else if index.ends_open {
            file.write_all(b"\n")?;
        }
        let offset = file.metadata()?.len();
        let redactor = redactor(&secrets(&address));
        let added = Reader::new(volatile.to_vec());
        let book = Book { file, offset, last: index.last, added, redactor, full: false };
        Ok(Self { address, client: OnceCell::new(), book: Arc::new(Mutex::new(book)) })
    }

    /// Hands `read` what was added.
    pub(super) fn added<T>(&self, read: impl FnOnce(&Index) -> T) -> T {
        read(open(&self.book).added.index())
    }

    /// What the server answers.
    pub(super) async fn ask(&self, call: &Call) -> Result<Value, RpcError> {
        let client = self.client.get_or_try_init(|| self.connected()).await.map_err(|error| refused(&error))?;
        let mut params = call.message.params().and_then(Value::as_object).cloned().unwrap_or_default();
        // The envelope of a conversation that is not this one.
        for name in ["_meta", "inputResponses", "requestState"] {
            params.remove(name);
        }
        let method = call.message.method().unwrap_or_default();
        let answer = client.request(method, &Params::from(params)).await.map_err(|error| refused(&error))?;
        Ok(answer.result().cloned().unwrap_or_default())
    }

    async fn connected(&self) -> Result<Client, ClientError> {
        let mut options = Options::new(self.address.clone());
        let book = self.book.clone();
        options.tap = Some(Arc::new(move |header| {
            let (connection, exchange, at) = open(&book).room();
            let book = book.clone();
            Tap::streaming(header, move |frame| open(&book).append(frame, connection, exchange, at))
        }));
        Client::connect(options).await
    }

    /// Ends the conversation, if there is one.
    pub(super) async fn close(&self) {
        if let Some(client) = self.client.get() {
            client.close().await;
        }
    }
}

impl Book {
    /// What the numbers of one more connection begin with.
    const fn room(&self) -> (u32, u32, u64) {
        (self.last.connection, self.last.exchange, self.last.at)
    }

    fn append(&mut self, frame: &Frame, connection: u32, exchange: u32, at: u64) {
        if self.full {
            return;
        }
        let mut frame = self.redactor.redact_frame(frame);
        frame.at += at;
        frame.done += at;
        if frame.connection != 0 {
            frame.connection += connection;
        }
        if frame.exchange != 0 {
            frame.exchange += exchange;
        }
        // Counted in another conversation's frames.
        frame.cause = None;
        let line = format!("{}\n", write_frame(&frame));
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            tracing::warn!(%error, "the recording cannot be added to");
            self.full = true;
            return;
        }
        let length = u32::try_from(line.len()).unwrap_or(u32::MAX);
        if let Err(error) = self.added.take(Place { offset: self.offset, length, part: 0 }, &frame) {
            tracing::warn!(%error, "what is added to the recording is not known");
            self.full = true;
        }
        self.offset += line.len() as u64;
        let last = self.added.index().last;
        self.last.at = self.last.at.max(last.at);
        self.last.connection = self.last.connection.max(last.connection);
        self.last.exchange = self.last.exchange.max(last.exchange);
    }
}

fn open(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the address hands in that must not stand in the recording.
fn secrets(address: &Address) -> Secrets {
    let mut secrets = Secrets::default();
    match address {
        Address::Stdio(command) => {
            secrets.arguments(command.args.iter().map(String::as_str));
            for (name, value) in std::env::vars_os() {
                secrets.variable(&name.to_string_lossy(), &value.to_string_lossy());
            }
        }
        Address::Http(http) | Address::Sse(http) | Address::WebSocket(http) => {
            secrets.address(http.url.as_str());
            for (name, value) in &http.headers {
                secrets.header(name, value);
            }
        }
    }
    secrets
}

fn refused(error: &ClientError) -> RpcError {
    match error {
        ClientError::Rpc { code, message, data, .. } => {
            RpcError { code: *code, message: message.clone().into(), data: data.as_deref().cloned() }
        }
        error => RpcError::internal(format!("The live server: {}", wire::escape::line(&error.to_string()))),
    }
}

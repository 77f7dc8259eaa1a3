//! The server that knows what was not recorded. It is reached when it is first needed; what crosses is added to the
//! recording, and what is asked again is answered from there.

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use client::{Advice, Client, ClientError, Options, Params};
use net::Tap;
use net::client::{Authorizer, Authorizing, Refusal};
use net::service::RpcError;
use serde_json::Value;
use serde_json_path::JsonPath;
use tokio::sync::OnceCell;
use url::Url;
use wire::Message;
use wire::redact::{Redactor, Secrets};
use wire::trace::file::write_frame;
use wire::trace::{Frame, Headers};

use super::index::{Index, Last, Reader};
use super::scan::{Place, Torn};

/// A server to be asked what was not recorded: where it is, and who has credentials for it.
#[derive(Clone)]
pub struct LiveServer {
    /// How it is talked to. What is said of a tap does not count.
    pub options: Options,
    /// What must not stand in the recording, beside what is secret by its name and what the authorizer hands out.
    pub secrets: Secrets,
    /// Replaces them.
    pub redactor: Redactor,
    /// Advice in the words of the program.
    pub words: fn(&Advice) -> String,
}

impl fmt::Debug for LiveServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LiveServer({} with {:?})", self.options.address.transport(), self.secrets)
    }
}

/// A live server and what came of it.
pub(super) struct Live {
    options: Options,
    client: OnceCell<Client>,
    book: Arc<Mutex<Book>>,
    words: fn(&Advice) -> String,
}

/// The end of the recording, and what was added there.
struct Book {
    file: File,
    offset: u64,
    last: Last,
    added: Reader<'static>,
    redactor: Redactor,
    secrets: Secrets,
    /// The credentials that the redactor knows last.
    credentials: String,
    /// Nothing can be added any more.
    full: bool,
}

impl Live {
    /// A server whose answers go to the end of the recording at `path`. What is torn there is cut off.
    pub(super) fn new(
        server: LiveServer,
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
        let LiveServer { mut options, secrets, redactor, words } = server;
        let redactor = redactor.knowing(&secrets);
        let added = Reader::new(volatile.to_vec());
        let credentials = String::new();
        let book = Book { file, offset, last: index.last, added, redactor, secrets, credentials, full: false };
        let book = Arc::new(Mutex::new(book));
        options.authorizer = options.authorizer.map(|inner| {
            let watched = Watched { inner, book: book.clone() };
            Arc::new(watched) as Arc<dyn Authorizer>
        });
        Ok(Self { options, client: OnceCell::new(), book, words })
    }

    /// Hands `read` what was added.
    pub(super) fn added<T>(&self, read: impl FnOnce(&Index) -> T) -> T {
        read(open(&self.book).added.index())
    }

    /// What the server answers.
    pub(super) async fn ask(&self, message: &Message) -> Result<Value, RpcError> {
        let client =
            self.client.get_or_try_init(|| self.connected()).await.map_err(|error| refused(&error, self.words))?;
        let mut params = message.params().and_then(Value::as_object).cloned().unwrap_or_default();
        // The envelope of a conversation that is not this one.
        for name in ["_meta", "inputResponses", "requestState"] {
            params.remove(name);
        }
        let method = message.method().unwrap_or_default();
        let answer =
            client.request(method, &Params::from(params)).await.map_err(|error| refused(&error, self.words))?;
        Ok(answer.result().cloned().unwrap_or_default())
    }

    async fn connected(&self) -> Result<Client, ClientError> {
        let mut options = self.options.clone();
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

/// Whoever has credentials; what is handed out is known to the book before it can come back.
struct Watched {
    inner: Arc<dyn Authorizer>,
    book: Arc<Mutex<Book>>,
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl Authorizer for Watched {
    fn headers(&self, method: &str, url: &Url) -> Headers {
        let headers = self.inner.headers(method, url);
        open(&self.book).conceal(&headers);
        headers
    }

    fn refused<'a>(&'a self, refusal: &'a Refusal) -> Authorizing<'a> {
        self.inner.refused(refusal)
    }
}

impl Book {
    /// What the numbers of one more connection begin with.
    const fn room(&self) -> (u32, u32, u64) {
        (self.last.connection, self.last.exchange, self.last.at)
    }

    /// Takes in the credentials among the headers of a request. Proofs of a key are made for one request, and worth nothing.
    fn conceal(&mut self, headers: &Headers) {
        for (name, value) in headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
            if self.credentials != *value {
                value.clone_into(&mut self.credentials);
                self.secrets.header(name, value);
                self.redactor = self.redactor.clone().knowing(&self.secrets);
            }
        }
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

fn refused(error: &ClientError, words: fn(&Advice) -> String) -> RpcError {
    match error {
        ClientError::Rpc { code, message, data, .. } => {
            RpcError { code: *code, message: message.clone().into(), data: data.as_deref().cloned() }
        }
        error => RpcError::internal(format!("The live server: {}", wire::escape::line(&error.describe(words)))),
    }
}

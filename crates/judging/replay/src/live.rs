//! The live server that answers unrecorded requests. The first such request connects to it; all frames are added to the
//! recording, and repeated requests are answered from there.

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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

use super::index::{Builder, Index, Tail};
use super::request_key::ENVELOPE;
use super::scan::{Location, TruncatedLine};

/// How long no other attempt to connect is made after one that failed.
const PAUSE: Duration = Duration::from_secs(5);

/// The server for requests that were not recorded.
#[derive(Clone)]
pub struct LiveServer {
    /// How to connect to it. Its tap is ignored.
    pub options: Options,
    /// Values to redact, in addition to secrets by name and the authorizer's credentials.
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

/// A live server, and the end of the recording that it extends.
pub(super) struct Live {
    options: Options,
    client: OnceCell<Client>,
    /// When the last attempt to connect failed, and why.
    failure: Mutex<Option<(Instant, RpcError)>>,
    appender: Arc<Mutex<Appender>>,
    words: fn(&Advice) -> String,
}

/// Appends frames to the recording, and indexes them.
struct Appender {
    file: File,
    offset: u64,
    tail: Tail,
    added: Builder<'static>,
    redactor: Redactor,
    secrets: Secrets,
    /// The last credentials that were added to the redactor.
    credentials: String,
    /// Set after a failed write: nothing more is added.
    failed: bool,
    warn: fn(&str),
}

impl Live {
    /// Appends to the recording at `path`, after removing a truncated last line.
    pub(super) fn new(
        server: LiveServer,
        (path, index, truncated): (&Path, &Index, Option<TruncatedLine>),
        volatile: &[JsonPath],
        warn: fn(&str),
    ) -> io::Result<Self> {
        let mut file = OpenOptions::new().append(true).open(path)?;
        if let Some(truncated) = truncated {
            file.set_len(truncated.offset)?;
        } else if index.lacks_line_feed {
            file.write_all(b"\n")?;
        }
        let offset = file.metadata()?.len();
        let LiveServer { mut options, secrets, redactor, words } = server;
        let redactor = redactor.knowing(&secrets);
        let added = Builder::new(volatile.to_vec());
        let credentials = String::new();
        let appender =
            Appender { file, offset, tail: index.tail, added, redactor, secrets, credentials, failed: false, warn };
        let appender = Arc::new(Mutex::new(appender));
        options.authorizer = options.authorizer.map(|inner| {
            let tracked = TrackedAuthorizer { inner, appender: appender.clone() };
            Arc::new(tracked) as Arc<dyn Authorizer>
        });
        Ok(Self { options, client: OnceCell::new(), failure: Mutex::default(), appender, words })
    }

    /// Calls `read` with the index of the added frames.
    pub(super) fn with_index<T>(&self, read: impl FnOnce(&Index) -> T) -> T {
        read(lock(&self.appender).added.index())
    }

    /// The server's answer.
    pub(super) async fn ask(&self, message: &Message) -> Result<Value, Unanswered> {
        let client = self.client.get_or_try_init(|| self.connect_or_wait()).await?;
        let mut params = message.params().and_then(Value::as_object).cloned().unwrap_or_default();
        // These belong to the client's own session.
        for name in ENVELOPE {
            params.remove(name);
        }
        let method = message.method().unwrap_or_default();
        let answer =
            client.request(method, &Params::from(params)).await.map_err(|error| unanswered(&error, self.words))?;
        Ok(answer.result().cloned().unwrap_or_default())
    }

    /// Connects, unless that failed a moment ago: every attempt is recorded, and may start a process.
    async fn connect_or_wait(&self) -> Result<Client, Unanswered> {
        let failed = self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, why)) = failed.filter(|(at, _)| at.elapsed() < PAUSE) {
            return Err(Unanswered::Unavailable(why));
        }
        self.connect().await.map_err(|error| {
            let unanswered = unanswered(&error, self.words);
            if let Unanswered::Unavailable(why) = &unanswered {
                let failed = (Instant::now(), why.clone());
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failed);
            }
            unanswered
        })
    }

    async fn connect(&self) -> Result<Client, ClientError> {
        let mut options = self.options.clone();
        let appender = self.appender.clone();
        options.tap = Some(Arc::new(move |header| {
            let offsets = lock(&appender).tail;
            let appender = appender.clone();
            Tap::streaming(header, move |frame| lock(&appender).append(frame, offsets))
        }));
        Client::connect(options).await
    }

    /// Closes the connection, if there is one.
    pub(super) async fn close(&self) {
        if let Some(client) = self.client.get() {
            client.close().await;
        }
    }
}

/// An authorizer whose credentials are added to the redactor before they are sent.
struct TrackedAuthorizer {
    inner: Arc<dyn Authorizer>,
    appender: Arc<Mutex<Appender>>,
}

impl fmt::Debug for TrackedAuthorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl Authorizer for TrackedAuthorizer {
    fn headers(&self, method: &str, url: &Url) -> Headers {
        let headers = self.inner.headers(method, url);
        lock(&self.appender).learn_credentials(&headers);
        headers
    }

    fn refused<'a>(&'a self, refusal: &'a Refusal) -> Authorizing<'a> {
        self.inner.refused(refusal)
    }
}

impl Appender {
    /// Adds the credentials in a request's headers to the redactor. `DPoP` proofs are not secret: each is valid for one request.
    fn learn_credentials(&mut self, headers: &Headers) {
        for (name, value) in headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
            if self.credentials != *value {
                value.clone_into(&mut self.credentials);
                self.secrets.header(name, value);
                self.redactor = self.redactor.clone().knowing(&self.secrets);
            }
        }
    }

    /// Appends a frame; `offsets` is the tail when its connection was opened.
    fn append(&mut self, frame: &Frame, offsets: Tail) {
        if self.failed {
            return;
        }
        let mut frame = self.redactor.redact_frame(frame);
        frame.at += offsets.at;
        frame.done += offsets.at;
        if frame.connection != 0 {
            frame.connection += offsets.connection;
        }
        if frame.exchange != 0 {
            frame.exchange += offsets.exchange;
        }
        // It counts the frames of the added connection alone.
        frame.cause = None;
        let line = format!("{}\n", write_frame(&frame));
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            (self.warn)(&format!("cannot append to the recording any more: {error}"));
            self.failed = true;
            return;
        }
        let length = u32::try_from(line.len()).unwrap_or(u32::MAX);
        if let Err(error) = self.added.add(Location { offset: self.offset, length, part: 0 }, &frame) {
            (self.warn)(&format!("cannot index what was added to the recording: {error}"));
            self.failed = true;
        }
        self.offset += line.len() as u64;
        let added = self.added.index().tail;
        self.tail.at = self.tail.at.max(added.at);
        self.tail.connection = self.tail.connection.max(added.connection);
        self.tail.exchange = self.tail.exchange.max(added.exchange);
    }
}

fn lock(appender: &Mutex<Appender>) -> MutexGuard<'_, Appender> {
    appender.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why there is no result.
#[derive(Debug)]
pub(super) enum Unanswered {
    /// The server answered with this error.
    Refused(RpcError),
    /// The server did not answer.
    Unavailable(RpcError),
}

fn unanswered(error: &ClientError, words: fn(&Advice) -> String) -> Unanswered {
    match error {
        ClientError::Rpc { code, message, data, .. } => {
            let data = data.as_deref().cloned();
            Unanswered::Refused(RpcError { code: *code, message: message.clone().into(), data })
        }
        error => {
            let why = format!("The live server: {}", wire::escape::line(&error.describe(words)));
            Unanswered::Unavailable(RpcError::internal(why))
        }
    }
}

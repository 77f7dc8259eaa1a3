//! An API that answers as a test says, and operations to call it with.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use factory::{Base, CallableOperation, Config, Factory};
use openapi::answer::{Answered, Block};
use openapi::model::{Api, Arguments, Body, Kind, Method, Operation, Parameter, Place, Requirement, Scheme, Style};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Got {
    /// Method and target.
    pub(crate) line: String,
    /// The head, names in lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

/// What is answered to a request; the number counts from 0.
type Answer = dyn Fn(usize, &Got) -> Vec<u8> + Send + Sync;

/// An API on this machine.
pub(crate) struct Upstream {
    pub(crate) url: String,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Upstream {
    pub(crate) async fn start(answer: impl Fn(usize, &Got) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let got = Arc::new(Mutex::new(Vec::new()));
        let (all, answer): (_, Arc<Answer>) = (Arc::clone(&got), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&all), Arc::clone(&answer)));
            }
        });
        Self { url, got }
    }

    pub(crate) fn got(&self) -> Vec<Got> {
        self.got.lock().expect("no panic").clone()
    }
}

async fn serve(mut stream: TcpStream, all: Arc<Mutex<Vec<Got>>>, answer: Arc<Answer>) {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.unwrap_or_default() == 0 {
            return;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut got = Got { line: String::new(), head, body: String::new() };
    got.line = got.head.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1").to_owned();
    let length = got.header("content-length").map_or(0, |length| length.parse().expect("a number"));
    while bytes.len() < end + 4 + length {
        if stream.read_buf(&mut bytes).await.unwrap_or_default() == 0 {
            return;
        }
    }
    got.body = String::from_utf8_lossy(&bytes[end + 4..]).into_owned();
    let number = {
        let mut all = all.lock().expect("no panic");
        all.push(got.clone());
        all.len() - 1
    };
    let answer = answer(number, &got);
    let _ = stream.write_all(&answer).await;
    // What begins with this goes on for ever.
    if answer.ends_with(b"FOREVER") {
        let more = vec![b'x'; 1 << 16];
        while stream.write_all(&more).await.is_ok() {}
    }
    if answer.ends_with(b"SILENCE") {
        std::future::pending::<()>().await;
    }
}

/// An answer with headers and a body.
pub(crate) fn http(status: u16, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}").into_bytes()
}

/// A JSON body.
pub(crate) fn ok(body: &str) -> Vec<u8> {
    http(200, "Content-Type: application/json\r\n", body)
}

pub(crate) fn parameter(name: &str, place: Place, schema: Value) -> Parameter {
    Parameter {
        argument: name.to_owned(),
        name: name.to_owned(),
        place,
        required: place == Place::Path,
        description: None,
        style: if place == Place::Path || place == Place::Header { Style::Simple } else { Style::Form },
        explode: true,
        allow_reserved: false,
        media: None,
        schema,
    }
}

pub(crate) fn operation(method: Method, path: &str, parameters: Vec<Parameter>) -> Operation {
    Operation {
        at: "/paths/x".to_owned(),
        method,
        path: path.to_owned(),
        id: None,
        tags: Vec::new(),
        summary: None,
        description: None,
        deprecated: false,
        servers: Vec::new(),
        parameters,
        body: None,
        answer: None,
        security: Vec::new(),
        definitions: BTreeMap::new(),
    }
}

/// With a body that is one argument.
pub(crate) fn with_body(operation: Operation, media: &str) -> Operation {
    let body = Body {
        media: media.to_owned(),
        kind: Kind::of(media),
        required: true,
        description: None,
        arguments: Arguments::Whole("body".to_owned()),
        schema: json!({}),
        encoding: BTreeMap::new(),
    };
    Operation { body: Some(body), ..operation }
}

/// That needs these schemes.
pub(crate) fn secured(operation: Operation, schemes: &[&str]) -> Operation {
    let one = |scheme: &&str| Requirement { scheme: (*scheme).to_owned(), scopes: Vec::new() };
    Operation { security: vec![schemes.iter().map(one).collect()], ..operation }
}

pub(crate) fn api(schemes: &[(&str, Scheme)]) -> Api {
    let schemes = schemes.iter().map(|(name, scheme)| ((*name).to_owned(), scheme.clone())).collect();
    Api { schemes, ..Api::default() }
}

pub(crate) fn config(text: &str, folder: PathBuf) -> Config {
    Config::read(text, folder).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// The API at an address that the user names.
pub(crate) fn factory(url: &str, settings: &str) -> Factory {
    let base = Base::named(url).expect("a URL");
    Factory::new(&Api::default(), base, config(settings, PathBuf::new())).expect("it can be called")
}

pub(crate) fn callable(factory: &Factory, operation: Operation) -> CallableOperation {
    factory.operation("tool", operation, &[], false).unwrap_or_else(|why| panic!("{why}"))
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

/// All texts of an answer.
pub(crate) fn texts(answered: &Answered) -> String {
    let texts = answered.blocks.iter().map(|block| match block {
        Block::Text(text) => text.clone(),
        other => format!("{other:?}"),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The category of a failure, and whether it may be tried again.
pub(crate) fn failure(answered: &Answered) -> (&'static str, bool) {
    let details = answered.failure.as_ref().unwrap_or_else(|| panic!("no failure: {answered:?}"));
    (details.category.as_str(), details.retryable)
}

//! One HTTP request to anybody on the way to a token, and its whole answer. Bounded in time and size; no redirect is
//! followed. Nothing goes out in the clear but to this machine, and to this machine only where the MCP server is on it too:
//! a server far away must not choose what is asked of our own ports.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::Request;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use url::{Host, Position, Url};
use wire::Party;
use wire::trace::{Content, Frame, Headers, header};

use super::error::OAuthError;
use super::manners::{Manners, Perfect};
use net::client::{Dialer, HttpAddress, listed};
use net::tap::{Tap, Written};

/// The longest answer.
const LONGEST: usize = 1 << 20;

/// How requests are made.
#[derive(Clone, Debug)]
pub(crate) struct Web {
    /// Certificates to trust beside the system's.
    pub(crate) ca: Option<PathBuf>,
    /// How long connecting, and how long an answer may take.
    pub(crate) limit: Duration,
    /// Where what crosses is written down.
    pub(crate) tap: Option<Tap>,
    /// What is done otherwise than it ought to be.
    pub(crate) manners: Arc<dyn Manners>,
    /// Whether this machine may be asked, and without TLS.
    pub(crate) local: bool,
}

/// A request.
pub(crate) struct Asked<'a> {
    pub(crate) method: &'static str,
    pub(crate) url: &'a Url,
    pub(crate) party: Party,
    pub(crate) headers: Headers,
    pub(crate) body: Option<String>,
    /// Whether a success is enough by its head: an event stream never ends.
    pub(crate) head_alone: bool,
}

impl<'a> Asked<'a> {
    /// A GET for JSON.
    pub(crate) fn get(url: &'a Url, party: Party) -> Self {
        let headers = vec![("accept".to_owned(), "application/json".to_owned())];
        Self { method: "GET", url, party, headers, body: None, head_alone: false }
    }

    /// A POST of `body` to an authorization server.
    pub(crate) fn post(url: &'a Url, kind: &str, body: String) -> Self {
        let headers = vec![
            ("accept".to_owned(), "application/json".to_owned()),
            ("content-type".to_owned(), kind.to_owned()),
            ("content-length".to_owned(), body.len().to_string()),
        ];
        Self { method: "POST", url, party: Party::AuthorizationServer, headers, body: Some(body), head_alone: false }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) headers: Headers,
    pub(crate) body: Vec<u8>,
}

impl Answered {
    /// The body, where it is a JSON object.
    pub(crate) fn object(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok().filter(Value::is_object)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

/// Whether a URL leads to this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// The JSON object at `url`: keys, or what a client says about itself. `local`: whether it may be on this machine.
pub async fn fetch(url: &Url, local: bool, limit: Duration) -> Result<Value, OAuthError> {
    let web = Web { ca: None, limit, tap: None, manners: Arc::new(Perfect), local };
    let answered = web.send(Asked::get(url, Party::Other)).await?;
    let status = answered.status;
    let nothing = || OAuthError::at(format!("no JSON object there: HTTP {status}"), url, "another address");
    answered.object().filter(|_| status == 200).ok_or_else(nothing)
}

/// Drops the connection with the answer.
struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Web {
    /// Refuses an address that may not be asked.
    pub(crate) fn admit(&self, url: &Url) -> Result<(), OAuthError> {
        match (url.scheme(), is_loopback(url)) {
            ("http" | "https", true) if !self.local => Err(OAuthError::at(
                "a server elsewhere sends us to an address of this machine",
                url,
                "mend the server's metadata",
            )),
            ("https", _) | ("http", true) => Ok(()),
            _ => {
                Err(OAuthError::at("this address is not protected by https", url, "an authorization server with https"))
            }
        }
    }

    /// Asks and waits for the whole answer.
    pub(crate) async fn send(&self, asked: Asked<'_>) -> Result<Answered, OAuthError> {
        self.admit(asked.url)?;
        let url = asked.url.clone();
        match timeout(self.limit, self.exchange(asked)).await {
            Ok(answered) => answered,
            Err(_) => Err(OAuthError::at(
                format!("no answer within {:.0} s", self.limit.as_secs_f64()),
                &url,
                "see whether the server is up",
            )),
        }
    }

    async fn exchange(&self, asked: Asked<'_>) -> Result<Answered, OAuthError> {
        let broken = |why: String| OAuthError::at(why, asked.url, "see whether the server is up and speaks HTTP");
        let home = HttpAddress { ca: self.ca.clone(), ..HttpAddress::new(asked.url.clone()) };
        let unreached = |error: net::OpenError| broken(error.to_string().lines().next().unwrap_or_default().to_owned());
        let io = Dialer::new(&home, self.limit).map_err(unreached)?.dial().await.map_err(unreached)?;
        let handshake = http1::Builder::new().handshake(TokioIo::new(io)).await;
        let (mut sender, connection) = handshake.map_err(|_| broken("it speaks no HTTP".to_owned()))?;
        let _driver = Driver(tokio::spawn(async move { _ = connection.await }).abort_handle());
        let request = request(&asked).map_err(|()| broken("this cannot be asked over HTTP".to_owned()))?;
        let pen = Pen::new(self.tap.as_ref(), &asked);
        let cause = pen.asked(&asked, &request);
        let response = sender.send_request(request).await.map_err(|_| broken("the answer broke off".to_owned()))?;
        let (head, body) = response.into_parts();
        let (status, headers) = (head.status.as_u16(), listed(&head.headers));
        if asked.head_alone && status != 401 && status != 403 {
            let answered = Answered { status, headers, body: Vec::new() };
            pen.answered(&answered, cause);
            return Ok(answered);
        }
        let collected = Limited::new(body, LONGEST).collect().await;
        let body = collected.map_err(|_| broken("the answer broke off, or is longer than 1 MiB".to_owned()))?;
        let answered = Answered { status, headers, body: body.to_bytes().to_vec() };
        pen.answered(&answered, cause);
        Ok(answered)
    }
}

fn request(asked: &Asked<'_>) -> Result<Request<Full<Bytes>>, ()> {
    let url = asked.url;
    let mut request = Request::builder()
        .method(asked.method)
        .uri(&url[Position::BeforePath..Position::AfterQuery])
        .header("host", &url[Position::BeforeHost..Position::AfterPort])
        .header("user-agent", concat!("proofhouse/", env!("CARGO_PKG_VERSION")));
    for (name, value) in &asked.headers {
        request = request.header(name, value);
    }
    let body = Bytes::from(asked.body.clone().unwrap_or_default());
    request.body(Full::new(body)).map_err(|_| ())
}

/// Writes one exchange down, where somebody wants it.
struct Pen<'t> {
    tap: Option<(&'t Tap, u32, u32)>,
    party: Party,
}

impl<'t> Pen<'t> {
    fn new(tap: Option<&'t Tap>, asked: &Asked<'_>) -> Self {
        Self { tap: tap.map(|tap| (tap, tap.next_connection(), tap.next_exchange())), party: asked.party }
    }

    fn write(&self, from: Party, content: Content, cause: Written) -> Written {
        let Some((tap, connection, exchange)) = self.tap else { return Written::NONE };
        let to = if from == Party::Client { self.party } else { Party::Client };
        tap.write(Frame { to, ..tap.frame(from, connection, exchange, content) }, cause)
    }

    fn asked(&self, asked: &Asked<'_>, request: &Request<Full<Bytes>>) -> Written {
        let (method, target) = (asked.method.to_owned(), request.uri().to_string());
        let head = Content::Request { method, target, headers: listed(request.headers()) };
        let head = self.write(Party::Client, head, Written::NONE);
        let Some(body) = &asked.body else { return head };
        self.write(Party::Client, Content::Body { bytes: body.clone().into_bytes(), complete: true }, head)
    }

    fn answered(&self, answered: &Answered, cause: Written) {
        let head = Content::Response { status: answered.status, headers: answered.headers.clone() };
        self.write(self.party, head, cause);
        self.write(self.party, Content::Body { bytes: answered.body.clone(), complete: true }, cause);
    }
}

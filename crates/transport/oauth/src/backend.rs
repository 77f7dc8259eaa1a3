//! Sends the HTTP requests of the authorization: one request, one whole bounded response, no redirect followed. Which addresses
//! are allowed is decided in [`web`](super::web).

use std::fmt::Debug;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::Request;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use net::client::{Dialer, HttpAddress, OpenError, header_list};
use net::egress::{Egress, Reach};
use net::tap::{Tap, Written};
use serde_json::Value;
use tokio::task::AbortHandle;
use url::{Position, Url};
use wire::Party;
use wire::trace::{Content, Frame, Headers, header};

use super::options::Options;

/// The longest response body.
pub(crate) const MAX_BODY: usize = 1 << 20;

/// One HTTP request.
#[derive(Clone)]
pub struct WebRequest {
    /// GET or POST.
    pub method: &'static str,
    /// Where it goes.
    pub url: Url,
    /// Who answers there, for the trace.
    pub party: Party,
    /// Headers; `host`, `user-agent` and `content-length` are the backend's.
    pub headers: Headers,
    /// The body of a POST.
    pub body: Option<String>,
    /// Whether to read only the head of a response, unless it refuses the request: an event stream never ends.
    pub head_only: bool,
    /// How far the name in the address may lead: decided about the numbers that are connected to.
    pub reach: Reach,
}

impl WebRequest {
    /// A GET for JSON.
    pub(crate) fn get(url: &Url, party: Party) -> Self {
        let headers = vec![("accept".to_owned(), "application/json".to_owned())];
        Self { method: "GET", url: url.clone(), party, headers, body: None, head_only: false, reach: Reach::Public }
    }

    /// A POST of `body` to an authorization server.
    pub(crate) fn post(url: &Url, content_type: &str, body: String) -> Self {
        let party = Party::AuthorizationServer;
        let get = Self::get(url, party).with("content-type", content_type);
        Self { method: "POST", body: Some(body), ..get }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

/// A whole response.
#[derive(Clone)]
pub struct WebResponse {
    /// The status code.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Headers,
    /// The body, at most 1 MiB.
    pub body: Vec<u8>,
}

impl WebResponse {
    /// The body, where it is a JSON object.
    pub(crate) fn object(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok().filter(Value::is_object)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

/// A response on its way; `Err` says in words why there is none.
pub type Responding<'a> = Pin<Box<dyn Future<Output = Result<WebResponse, String>> + Send + 'a>>;

/// Sends HTTP requests. A program with a connection pool of its own can bring it along.
pub trait Backend: Debug + Send + Sync {
    /// Sends one request and gives the whole response. Redirects are not followed, and no connection goes farther than
    /// [`WebRequest::reach`].
    fn send(&self, request: WebRequest) -> Responding<'_>;
}

/// A connection for each request, over `net`.
#[derive(Clone, Debug)]
pub struct NetBackend {
    /// Certificates to trust besides the system's.
    pub(crate) ca: Option<PathBuf>,
    /// How long connecting may take.
    pub(crate) connect: Duration,
    /// Where the traffic is recorded.
    pub(crate) tap: Option<Tap>,
    /// Where connections may lead, in addition to what each request says.
    pub(crate) egress: Option<Egress>,
}

impl NetBackend {
    /// The backend that these options describe.
    pub fn new(options: &Options) -> Self {
        Self { ca: options.ca.clone(), connect: options.timeout, tap: options.tap.clone(), egress: None }
    }

    /// Without certificates and recording of its own: for a service.
    pub(crate) const fn plain(connect: Duration, egress: Option<Egress>) -> Self {
        Self { ca: None, connect, tap: None, egress }
    }

    async fn exchange(&self, sent: WebRequest) -> Result<WebResponse, String> {
        let home =
            HttpAddress { ca: self.ca.clone(), egress: self.egress.clone(), ..HttpAddress::new(sent.url.clone()) };
        let unreached = |error: OpenError| error.to_string().lines().next().unwrap_or_default().to_owned();
        let (reach, secure) = (sent.reach, sent.url.scheme() == "https");
        // Without TLS, nothing leaves this machine.
        let permits = move |ip| reach.permits(ip) && (secure || Reach::of(ip) == Reach::Machine);
        let dialer = Dialer::new(&home, self.connect).map_err(unreached)?.only(permits);
        let io = dialer.dial().await.map_err(unreached)?;
        let handshake = http1::Builder::new().handshake(TokioIo::new(io)).await;
        let (mut sender, connection) = handshake.map_err(|_| "it does not speak HTTP")?;
        let _driver = Driver(tokio::spawn(async move { _ = connection.await }).abort_handle());
        let request = request(&sent).map_err(|_| "HTTP cannot carry this request")?;
        let recorder = Recorder::new(self.tap.as_ref(), sent.party);
        let cause = recorder.request(&sent, &request);
        let response = sender.send_request(request).await.map_err(|_| "the answer broke off")?;
        let (head, body) = response.into_parts();
        let (status, headers) = (head.status.as_u16(), header_list(&head.headers));
        let body = if sent.head_only && status != 401 && status != 403 {
            Vec::new()
        } else {
            let collected = Limited::new(body, MAX_BODY).collect().await;
            collected.map_err(|_| "the answer broke off, or is longer than 1 MiB")?.to_bytes().to_vec()
        };
        let response = WebResponse { status, headers, body };
        recorder.response(&response, cause);
        Ok(response)
    }
}

impl Backend for NetBackend {
    fn send(&self, request: WebRequest) -> Responding<'_> {
        Box::pin(self.exchange(request))
    }
}

/// Drops the connection with the response.
struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn request(sent: &WebRequest) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
    let url = &sent.url;
    let mut request = Request::builder()
        .method(sent.method)
        .uri(&url[Position::BeforePath..Position::AfterQuery])
        .header("host", &url[Position::BeforeHost..Position::AfterPort])
        .header("user-agent", concat!("proofhouse/", env!("CARGO_PKG_VERSION")));
    for (name, value) in &sent.headers {
        request = request.header(name, value);
    }
    if let Some(body) = &sent.body {
        request = request.header("content-length", body.len());
    }
    request.body(Full::new(Bytes::from(sent.body.clone().unwrap_or_default())))
}

/// Records one exchange, where a tap is given.
struct Recorder<'t> {
    tap: Option<(&'t Tap, u32, u32)>,
    party: Party,
}

impl<'t> Recorder<'t> {
    fn new(tap: Option<&'t Tap>, party: Party) -> Self {
        Self { tap: tap.map(|tap| (tap, tap.next_connection(), tap.next_exchange())), party }
    }

    fn write(&self, from: Party, content: Content, cause: Written) -> Written {
        let Some((tap, connection, exchange)) = self.tap else { return Written::NONE };
        let to = if from == Party::Client { self.party } else { Party::Client };
        tap.write(Frame { to, ..tap.frame(from, connection, exchange, content) }, cause)
    }

    fn request(&self, sent: &WebRequest, request: &Request<Full<Bytes>>) -> Written {
        let (method, target) = (sent.method.to_owned(), request.uri().to_string());
        let head = Content::Request { method, target, headers: header_list(request.headers()) };
        let head = self.write(Party::Client, head, Written::NONE);
        let Some(body) = &sent.body else { return head };
        self.write(Party::Client, Content::Body { bytes: body.clone().into_bytes(), complete: true }, head)
    }

    fn response(&self, response: &WebResponse, cause: Written) {
        let head = Content::Response { status: response.status, headers: response.headers.clone() };
        self.write(self.party, head, cause);
        self.write(self.party, Content::Body { bytes: response.body.clone(), complete: true }, cause);
    }
}

//! The user's endpoint over HTTP: one request, its answer in one piece or as a stream. The key goes to this origin alone, and
//! redirects are not followed. Bounded in time and size.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use net::client::HttpAddress;
use net::server::http::{Bytes, HeaderMap, HeaderValue, Method};
use net::upstream::{Failure, HttpUpstream, Lost, Response};
use serde_json::Value;
use url::{Host, Position, Url};

use crate::answer::Answered;
use crate::asker::Told;
use crate::assemble::Stream;
use crate::dialect::Dialect;
use crate::retrying::{may_pass, pause};

/// How long a connection and its TLS handshake may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an answer may be, in bytes.
const MOST_ANSWER: usize = 16 << 20;
/// How much of a refusal is read and shown, in bytes.
const MOST_REFUSAL: usize = 64 << 10;
const SHOWN: usize = 300;

/// Where the endpoint is, and how to ask it.
#[derive(Clone)]
pub struct Options {
    /// Its URL, with or without the end of the path that the API has.
    pub url: Url,
    /// The API that it speaks.
    pub dialect: Dialect,
    /// The key, if it needs one.
    pub key: Option<String>,
    /// A PEM file of certificates to trust in addition to the system's.
    pub ca: Option<PathBuf>,
    /// Whether prompts and key may go to another machine without TLS.
    pub allows_plain_http: bool,
    /// How long one answer may take.
    pub timeout: Duration,
    /// How often a request is sent again where that may help.
    pub retries: u32,
}

/// An endpoint of a model.
pub struct Endpoint {
    upstream: HttpUpstream,
    url: Url,
    dialect: Dialect,
    timeout: Duration,
    retries: u32,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&self.url.as_str()).finish()
    }
}

/// What a person can do about an endpoint that does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Give another URL.
    Url,
    /// Keep the password out of the URL.
    HideKey,
    /// Use TLS, or allow its absence.
    Tls,
    /// Check the URL, and whether the endpoint is up.
    Reach,
    /// Give the right key.
    Key,
    /// Name the address that it redirects to.
    Redirect,
    /// Check the URL, the API and the model.
    Names,
    /// Check the model and the parameters.
    Parameters,
    /// See whether it speaks the API.
    Api,
    /// Wait longer.
    WaitLonger,
    /// Go on later.
    Later,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointError {
    /// What happened, for a person.
    pub what: String,
    /// What to try.
    pub advice: Advice,
    /// Whether every other request would fail, too.
    pub is_final: bool,
}

impl EndpointError {
    fn new(what: impl Into<String>, advice: Advice) -> Self {
        Self { what: what.into(), advice, is_final: false }
    }

    fn last(what: impl Into<String>, advice: Advice) -> Self {
        Self { is_final: true, ..Self::new(what, advice) }
    }
}

/// A try that may be repeated.
enum Failed {
    /// As the endpoint asks for, or after a while.
    Passing(EndpointError, Option<String>),
    Final(EndpointError),
}

impl Endpoint {
    /// Prepares to ask; sends nothing yet.
    pub fn new(options: Options) -> Result<Self, EndpointError> {
        let Options { mut url, dialect, key, ca, allows_plain_http, timeout, retries } = options;
        check(&url, allows_plain_http)?;
        let path = url.path().trim_end_matches('/').to_owned();
        if !path.ends_with(dialect.path()) {
            url.set_path(&format!("{path}{}", dialect.path()));
        }
        let mut headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        match (dialect, key) {
            (Dialect::Messages, key) => {
                headers.push(("anthropic-version".to_owned(), "2023-06-01".to_owned()));
                headers.extend(key.map(|key| ("x-api-key".to_owned(), key)));
            }
            (_, Some(key)) => headers.push(("Authorization".to_owned(), format!("Bearer {key}"))),
            (_, None) => {}
        }
        // Errors show this address: a query may hold a key.
        let mut plain = url.clone();
        plain.set_query(None);
        plain.set_fragment(None);
        let address = HttpAddress { headers, ca, ..HttpAddress::new(plain) };
        let upstream = HttpUpstream::new(&address, CONNECT)
            .map_err(|error| EndpointError::last(error.to_string(), Advice::Key))?;
        Ok(Self { upstream, url, dialect, timeout, retries })
    }

    /// Its address, without a query.
    pub fn address(&self) -> &str {
        &self.url[..Position::AfterPath]
    }

    /// Asks, and asks again where a refusal may pass. `told` hears why.
    pub(crate) async fn ask(&self, body: &Value, is_streamed: bool, told: Told<'_>) -> Result<Answered, EndpointError> {
        let body = Bytes::from(body.to_string());
        let mut tries = 1;
        loop {
            let came = tokio::time::timeout(self.timeout, self.once(body.clone(), is_streamed)).await;
            let (error, asked) = match came {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(Failed::Final(error))) => return Err(error),
                Ok(Err(Failed::Passing(error, asked))) => (error, asked),
                Err(_) => {
                    let seconds = self.timeout.as_secs_f64();
                    return Err(EndpointError::new(format!("no answer within {seconds} s"), Advice::WaitLonger));
                }
            };
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            let wait = pause(asked.as_deref(), tries, now).filter(|_| tries <= self.retries);
            let Some(wait) = wait else { return Err(error) };
            told(&error.what, wait);
            tokio::time::sleep(wait).await;
            tries += 1;
        }
    }

    async fn once(&self, body: Bytes, is_streamed: bool) -> Result<Answered, Failed> {
        let mut headers = HeaderMap::new();
        let accept = if is_streamed { "text/event-stream" } else { "application/json" };
        headers.insert("accept", HeaderValue::from_static(accept));
        let target = &self.url[Position::BeforePath..Position::AfterQuery];
        let response = self.upstream.send_to(target, Method::POST, headers, body).await;
        let mut response = response.map_err(|failure| {
            let why = match failure {
                Failure::NotSent(why) | Failure::Unknown(why) => why,
                Failure::Forbidden(refusal) => refusal.to_string(),
            };
            // Further lines are advice about servers.
            let why = wire::escape::snippet(why.lines().next().unwrap_or_default(), SHOWN);
            let what = format!("the endpoint cannot be reached: {why}");
            Failed::Passing(EndpointError::last(what, Advice::Reach), None)
        })?;
        let status = response.status.as_u16();
        if status != 200 {
            return Err(refused(&mut response, status).await);
        }
        if response.header("content-encoding").is_some_and(|coding| !coding.eq_ignore_ascii_case("identity")) {
            return Err(unreadable("the answer is compressed, though that was not asked for"));
        }
        if is_streamed && response.is_event_stream() {
            self.streamed(&mut response).await
        } else {
            let bytes = response.whole(MOST_ANSWER).await.map_err(lost)?;
            Answered::parse(self.dialect, &bytes).map_err(|why| unreadable(&why))
        }
    }

    async fn streamed(&self, response: &mut Response) -> Result<Answered, Failed> {
        let mut stream = Stream::new(self.dialect);
        let mut length = 0;
        loop {
            let piece = response.next_piece(MOST_ANSWER).await.map_err(lost)?;
            if piece.is_empty() {
                return stream.finish().map_err(|why| unreadable(&why));
            }
            length += piece.len();
            if length > MOST_ANSWER {
                return Err(lost(Lost::TooLarge));
            }
            stream.push(&piece).map_err(|why| unreadable(&why))?;
        }
    }
}

/// Refuses addresses that would show the key or the prompts to others.
fn check(url: &Url, allows_plain_http: bool) -> Result<(), EndpointError> {
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(EndpointError::last("the endpoint is not an http(s):// URL", Advice::Url));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(EndpointError::last("the endpoint's URL holds a password", Advice::HideKey));
    }
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    };
    if url.scheme() == "http" && !is_loopback && !allows_plain_http {
        let what = "the endpoint has no TLS, so others could read the prompts and the key";
        return Err(EndpointError::last(what, Advice::Tls));
    }
    Ok(())
}

/// A status other than 200.
async fn refused(response: &mut Response, status: u16) -> Failed {
    let after = response.header("retry-after").map(str::to_owned);
    let body = response.whole(MOST_REFUSAL).await.unwrap_or_default();
    let value: Value = serde_json::from_slice(&body).unwrap_or_default();
    let said =
        ["/error/message", "/message", "/error", "/detail"].iter().find_map(|place| value.pointer(place)?.as_str());
    let said = said.map(|said| format!(": {}", wire::escape::snippet(said, SHOWN))).unwrap_or_default();
    let what = format!("the endpoint answers with HTTP {status}{said}");
    match status {
        300..=399 => Failed::Final(EndpointError::last(
            format!("the endpoint redirects (HTTP {status}), which is not followed"),
            Advice::Redirect,
        )),
        401 | 403 => Failed::Final(EndpointError::last(what, Advice::Key)),
        404 => Failed::Final(EndpointError::last(what, Advice::Names)),
        _ if may_pass(status) => Failed::Passing(EndpointError::new(what, Advice::Later), after),
        _ => Failed::Final(EndpointError::new(what, Advice::Parameters)),
    }
}

fn unreadable(why: &str) -> Failed {
    Failed::Final(EndpointError::new(why, Advice::Api))
}

fn lost(lost: Lost) -> Failed {
    unreadable(match lost {
        Lost::Broken => "the answer broke off",
        Lost::TooLarge => "the answer has more than 16 MiB",
    })
}

//! One request and its whole answer: over kept connections, to permitted addresses, within bounds. Must not know operations.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use net::client::{HttpAddress, header_list};
use net::egress::{Egress, EgressRefusal, EgressRules, HostPattern};
use net::server::http::{Bytes, HeaderMap, HeaderName, HeaderValue, Method};
use net::upstream::{Failure, HttpUpstream, Lost, Response};
use openapi::model::Kind;
use url::{Position, Url};

use crate::config::Network;
use crate::error::SetupError;
use crate::{Base, CONNECT, shown};

/// How many redirects one request follows.
const REDIRECTS: usize = 5;
/// How many origins have connections.
const ORIGINS: usize = 64;
/// How much of an answer that refuses is read: what it says is searched for within this.
const REFUSAL: usize = 256 << 10;

/// Sends requests.
pub(crate) struct Sender {
    egress: Egress,
    rules: EgressRules,
    ca: Option<PathBuf>,
    hosts: Vec<HostPattern>,
    origins: Mutex<HashMap<String, Arc<HttpUpstream>>>,
}

/// A request, whole.
#[derive(Clone)]
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// How much of an answer is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    /// How many bytes it may have.
    pub(crate) bytes: usize,
    /// Whether the beginning of a longer text is of use.
    pub(crate) may_cut: bool,
}

/// An answer, as far as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Incoming {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Whether the body is only the beginning of a longer one.
    pub(crate) is_cut: bool,
}

impl Incoming {
    /// The same without a body.
    pub(crate) fn clone_head(&self) -> Self {
        Self { status: self.status, headers: self.headers.clone(), body: Vec::new(), is_cut: false }
    }
}

/// Why there is no answer. Texts hold no path or query: these may hold credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// The API did not get the request.
    NotSent(String),
    /// The API may have got it.
    Unknown(String),
    /// The rules do not allow the connection, or the redirect.
    Forbidden(String),
    /// The answer is longer than the bound.
    TooLong(usize),
    /// The answer cannot be read.
    Unreadable(String),
}

impl From<Failure> for Unanswered {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotSent(why) => Self::NotSent(why),
            Failure::Forbidden(refusal) => Self::Forbidden(refusal.to_string()),
            Failure::Unknown(why) => Self::Unknown(why),
        }
    }
}

impl Sender {
    /// Sends to the base and the configured hosts. What a description names leads to public addresses only.
    pub(crate) fn new(base: &Base, network: &Network) -> Result<Self, SetupError> {
        let hosts = host_patterns(&network.hosts, "network.hosts")?;
        let own = base.url.host_str().and_then(HostPattern::parse);
        let own = own.ok_or_else(|| SetupError::new(format!("{} has no host", base.as_str()), "another address"))?;
        let rules = EgressRules {
            place: "network".to_owned(),
            schemes: Some(vec!["http".to_owned(), "https".to_owned()]),
            hosts: Some(std::iter::once(own).chain(hosts.iter().cloned()).collect()),
            ports: None,
            allows_private: network.allows_private,
            named: Vec::new(),
        };
        let named = if base.is_named { rules.naming([&base.url]) } else { rules.clone() };
        Ok(Self { egress: Egress::new(named), rules, ca: network.ca.clone(), hosts, origins: Mutex::default() })
    }

    /// Whether the host of a URL is one of these.
    pub(crate) fn is_among(&self, hosts: &[HostPattern], url: &Url) -> bool {
        names(hosts, url, &self.rules)
    }

    /// Where connections to another address may lead, which the user named or did not.
    pub(crate) fn egress_to(&self, url: &Url, is_named: bool) -> Egress {
        let host = url.host_str().and_then(HostPattern::parse);
        let rules = EgressRules { hosts: Some(host.into_iter().collect()), ..self.rules.clone() };
        Egress::new(if is_named { rules.naming([url]) } else { rules })
    }

    /// Why requests to an address would not be sent as things are now, and whether `network.private` would change that.
    pub(crate) async fn refusal(&self, url: &Url) -> Option<(EgressRefusal, bool)> {
        let refusal = self.egress.refusal(url).await?;
        let private = Egress::new(EgressRules { allows_private: true, ..self.rules.clone() });
        Some((*refusal, private.refusal(url).await.is_none()))
    }

    /// Whether the configuration permits a host besides the API's own.
    pub(crate) fn lists(&self, url: &Url) -> bool {
        names(&self.hosts, url, &self.rules)
    }

    /// Sends a request and reads its answer within a bound. Redirects of a GET or HEAD are followed: below `home` as
    /// they are, to a permitted host without any header.
    pub(crate) async fn exchange(
        &self,
        mut request: Outgoing,
        home: &Url,
        bound: Bound,
    ) -> Result<Incoming, Unanswered> {
        for _ in 0..=REDIRECTS {
            let answer = self.once(&request, bound).await?;
            let may_follow = matches!(request.method, Method::GET | Method::HEAD);
            let target = wire::trace::header(&answer.headers, "location");
            let is_redirect = matches!(answer.status, 301 | 302 | 303 | 307 | 308);
            let Some(target) = target.filter(|_| is_redirect && may_follow) else { return Ok(answer) };
            let next = request.url.join(target);
            let next =
                next.map_err(|_| Unanswered::Unreadable("it redirects to something that is not a URL".to_owned()))?;
            if !is_below(&next, home) {
                self.check_redirect(&request.url, &next)?;
                request.headers = HeaderMap::new();
            }
            request.url = next;
        }
        Err(Unanswered::Unreadable(format!("it redirects more than {REDIRECTS} times")))
    }

    fn check_redirect(&self, from: &Url, to: &Url) -> Result<(), Unanswered> {
        let place = to.host_str().unwrap_or_default();
        if from.scheme() == "https" && to.scheme() != "https" {
            return Err(Unanswered::Forbidden(format!("it redirects to {}, which has no TLS", shown(place))));
        }
        if self.lists(to) {
            return Ok(());
        }
        let what = if from.origin() == to.origin() { "out of the path of the API, on" } else { "to" };
        let why = format!("it redirects {what} {}, which is not in `network.hosts`", shown(place));
        Err(Unanswered::Forbidden(why))
    }

    async fn once(&self, request: &Outgoing, bound: Bound) -> Result<Incoming, Unanswered> {
        let upstream = self.upstream(&request.url)?;
        let target = &request.url[Position::BeforePath..Position::AfterQuery];
        let (method, headers) = (request.method.clone(), request.headers.clone());
        let mut response = upstream.send_to(target, method, headers, request.body.clone()).await?;
        let (status, headers) = (response.status.as_u16(), header_list(&response.headers));
        let (body, is_cut) = body(&mut response, bound).await?;
        let coding = wire::trace::header(&headers, "content-encoding").map(str::to_ascii_lowercase);
        if let Some(coding) = coding.filter(|coding| coding != "identity" && !body.is_empty()) {
            let why = format!("it is compressed ({}), though that was not asked for", shown(&coding));
            return Err(Unanswered::Unreadable(why));
        }
        Ok(Incoming { status, headers, body, is_cut })
    }

    /// The connections to the origin of a URL.
    fn upstream(&self, url: &Url) -> Result<Arc<HttpUpstream>, Unanswered> {
        let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        // Mostly this is the origin already.
        if let Some(known) = origins.get(&url[..Position::BeforePath]) {
            return Ok(Arc::clone(known));
        }
        let origin = url.origin().ascii_serialization();
        if let Some(known) = origins.get(&origin) {
            return Ok(Arc::clone(known));
        }
        // Errors show this address: the origin alone.
        let plain = Url::parse(&origin).map_err(|_| Unanswered::NotSent("its address has no origin".to_owned()))?;
        let address = HttpAddress { ca: self.ca.clone(), egress: Some(self.egress.clone()), ..HttpAddress::new(plain) };
        let made = HttpUpstream::new(&address, CONNECT).map_err(|error| Unanswered::NotSent(error.to_string()))?;
        if origins.len() == ORIGINS {
            origins.clear();
        }
        let made = Arc::new(made);
        origins.insert(origin, Arc::clone(&made));
        Ok(made)
    }
}

/// The body within a bound, and whether there is more of it. More is not read: the connection is closed.
async fn body(response: &mut Response, bound: Bound) -> Result<(Vec<u8>, bool), Unanswered> {
    let is_success = response.status.is_success();
    let limit = if is_success { bound.bytes } else { bound.bytes.min(REFUSAL) };
    let may_cut = !is_success || (bound.may_cut && is_text(response));
    if !may_cut && response.length().is_some_and(|length| length > limit as u64) {
        return Err(Unanswered::TooLong(limit));
    }
    let mut body = Vec::new();
    match response.read(&mut body, usize::MAX, limit).await {
        Ok(_) => Ok((body, false)),
        Err(Lost::TooLarge) if may_cut => Ok((body, true)),
        Err(Lost::TooLarge) => Err(Unanswered::TooLong(limit)),
        Err(Lost::Broken) => Err(Unanswered::Unknown("the answer broke off".to_owned())),
    }
}

/// Whether the body says that it is a text.
fn is_text(response: &Response) -> bool {
    let media = response.header("content-type").map(wire::http::media_type).filter(|media| !media.is_empty());
    media.is_some_and(|media| !matches!(Kind::of(&media), Kind::Bytes | Kind::Multipart))
}

/// Whether a URL is an API's own: below its base, and nothing in the path leads up for any server.
pub(crate) fn is_below(url: &Url, base: &Url) -> bool {
    let below = url.path().strip_prefix(base.path().trim_end_matches('/'));
    are_of_one_origin(url, base)
        && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        && !openapi::request::climbs(url.path())
}

/// Whether two addresses of servers have one origin. Unlike [`Url::origin`], it copies nothing.
fn are_of_one_origin(url: &Url, other: &Url) -> bool {
    let has_host = url.host().is_some();
    has_host
        && url.scheme() == other.scheme()
        && url.host() == other.host()
        && url.port_or_known_default() == other.port_or_known_default()
}

/// Whether the host of a URL is one of these.
fn names(hosts: &[HostPattern], url: &Url, rules: &EgressRules) -> bool {
    let rules = EgressRules { hosts: Some(hosts.to_vec()), ..rules.clone() };
    rules.check_url(url).is_ok()
}

/// Hosts as the configuration has them at `place`.
pub(crate) fn host_patterns(hosts: &[String], place: &str) -> Result<Vec<HostPattern>, SetupError> {
    let bad =
        |host: &String| SetupError::new(format!("{place}: {} is not a host", shown(host)), "such as files.example.com");
    hosts.iter().map(|host| HostPattern::parse(host).ok_or_else(|| bad(host))).collect()
}

/// A header, which is not shown in logs.
pub(crate) fn header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
    let mut value = HeaderValue::from_bytes(value.as_bytes()).ok()?;
    value.set_sensitive(true);
    Some((name, value))
}

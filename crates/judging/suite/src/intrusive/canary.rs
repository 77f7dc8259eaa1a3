//! Listeners on loopback that note which of our own addresses a server fetches.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use net::server::http::{
    Body, HeaderName, HeaderValue, HttpFuture, Layer, Next, Options, Request, Response, Server, StatusCode, listen,
};
use net::service::{Answer, Call, Reply, RpcError, Service};

/// The path on the site from which it redirects to the canary.
const REDIRECT: &str = "/redirect/";

/// Which tokens were sent out, and which of them came back.
#[derive(Debug, Default)]
struct Tokens(Mutex<HashMap<String, bool>>);

impl Tokens {
    fn note(&self, path: &str) {
        let mut tokens = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hit) = tokens.get_mut(path.trim_start_matches('/')) {
            *hit = true;
        }
    }
}

/// The canary, and the site that redirects to it.
#[derive(Debug)]
pub(super) struct Canary {
    tokens: Arc<Tokens>,
    port: u16,
    has_v6: bool,
    site: Option<SocketAddr>,
    _servers: Vec<Server>,
}

impl Canary {
    /// Listens on free ports, and for the site if one is named.
    pub(super) async fn start(site: Option<SocketAddr>) -> io::Result<Self> {
        let tokens = Arc::new(Tokens::default());
        let first = serve(SocketAddr::from(([127, 0, 0, 1], 0)), Listener::Canary(Arc::clone(&tokens))).await?;
        let port = first.local_addr().port();
        let mut servers = vec![first];
        // Not every machine has it.
        let second = serve((Ipv6Addr::LOCALHOST, port).into(), Listener::Canary(Arc::clone(&tokens))).await;
        let has_v6 = second.is_ok();
        servers.extend(second);
        if let Some(address) = site {
            servers.push(serve(address, Listener::Site(port)).await?);
        }
        Ok(Self { tokens, port, has_v6, site, _servers: servers })
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    pub(super) const fn has_v6(&self) -> bool {
        self.has_v6
    }

    /// The origin of the site.
    pub(super) fn site(&self) -> Option<String> {
        self.site.map(|address| format!("http://{address}"))
    }

    /// From now on, a request for this token counts.
    pub(super) fn expect(&self, token: &str) {
        self.tokens.0.lock().unwrap_or_else(PoisonError::into_inner).insert(token.to_owned(), false);
    }

    /// Whether the token was requested.
    pub(super) fn was_hit(&self, token: &str) -> bool {
        self.tokens.0.lock().unwrap_or_else(PoisonError::into_inner).get(token) == Some(&true)
    }
}

async fn serve(address: SocketAddr, listener: Listener) -> io::Result<Server> {
    let options = Options { layer: Some(Arc::new(listener)), ..Options::default() };
    listen(Arc::new(Nothing), address, options).await
}

#[derive(Debug)]
enum Listener {
    Canary(Arc<Tokens>),
    /// Redirects to the canary at this port.
    Site(u16),
}

impl Layer for Listener {
    fn respond<'a>(&'a self, request: Request, _: Next<'a>) -> HttpFuture<'a, Response> {
        let path = request.uri().path();
        let answer = match self {
            Self::Canary(tokens) => {
                tokens.note(path);
                Response::new(Body::Whole(Some("canary".into())))
            }
            Self::Site(port) => match path.strip_prefix(REDIRECT) {
                Some(token) => redirect(*port, token),
                None => Response::new(Body::Whole(Some("site".into()))),
            },
        };
        Box::pin(async { answer })
    }
}

fn redirect(port: u16, token: &str) -> Response {
    let mut response = Response::new(Body::Whole(None));
    if let Ok(location) = HeaderValue::from_str(&format!("http://127.0.0.1:{port}/{token}")) {
        *response.status_mut() = StatusCode::FOUND;
        response.headers_mut().insert(HeaderName::from_static("location"), location);
    }
    response
}

/// The listeners answer every request before it comes to a service.
struct Nothing;

impl Service for Nothing {
    fn call(&self, call: Call) -> Reply {
        Reply::Now(Answer::error(Some(call.id()), &RpcError::invalid_request("this is a canary")))
    }
}

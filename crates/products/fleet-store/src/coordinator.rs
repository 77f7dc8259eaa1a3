//! The coordinator: gives jobs to workers over HTTP, so that a worker needs no access to the database. Must not know what a job
//! does.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use net::server::http::{
    self, Body, Bytes, HeaderMap, HeaderValue, HttpFuture, Layer, Limits, Method, Next, Request, Response, Server,
    StatusCode,
};
use net::server::tls::ServerTls;
use net::service::{Answer, Call, Reply, RpcError, Service};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::remote::{Fail, Finish, LeaseFor, Leased, Renew};
use crate::{ARTEFACT_BYTES, ContentHash, Store, StoreError, Token, now};

/// Where the routes are.
pub(crate) const ROOT: &str = "/v1/";
/// The most connections at once.
const CONNECTIONS: usize = 1024;
/// The most requests with long bodies, and the most other ones, that are in memory at once.
const BODIES: usize = 16;
const SMALL_BODIES: usize = 256;
/// The most bytes of a result with its findings.
const FINISH_BYTES: usize = 4 << 20;
/// The most bytes of any other JSON.
const JSON_BYTES: usize = 64 << 10;

/// What serves workers until it is closed or dropped.
#[derive(Debug)]
pub struct Coordinator {
    server: Server,
}

impl Coordinator {
    /// Listens on `address`. Any other than this machine's needs TLS: the token must not be read on its way.
    pub async fn listen(
        store: Store,
        address: SocketAddr,
        token: Token,
        tls: Option<Arc<ServerTls>>,
    ) -> Result<Self, StoreError> {
        if !address.ip().is_loopback() && tls.is_none() {
            let remedy = "listen on 127.0.0.1, or give a certificate and its key";
            return Err(StoreError::invalid(format!("{address} is reached from other machines, without TLS"), remedy));
        }
        let routes = Routes { is_alone: true, ..Routes::new(store, token) };
        let limits = Limits { body: ARTEFACT_BYTES, connections: CONNECTIONS, ..Limits::default() };
        let options = http::Options { layer: Some(Arc::new(routes)), limits, tls, ..http::Options::default() };
        let server = http::listen(Arc::new(NoService), address, options).await;
        Ok(Self { server: server.map_err(|error| StoreError::io(address, &error))? })
    }

    /// The routes below `/v1/`, for a listener that serves other things, too. It must have TLS if other machines reach it; bodies
    /// are as long as it allows.
    pub fn layer(store: Store, token: Token) -> Arc<dyn Layer> {
        Arc::new(Routes::new(store, token))
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// Stops listening once the requests under way are answered.
    pub async fn close(self) {
        self.server.shutdown().await;
    }
}

struct Routes {
    store: Store,
    token: Token,
    bodies: Semaphore,
    /// For what is short: uploads that come slowly must not hold up a renewal or a result.
    small: Semaphore,
    /// Nothing else is served.
    is_alone: bool,
}

impl std::fmt::Debug for Routes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Routes")
    }
}

impl Layer for Routes {
    fn respond<'a>(&'a self, request: Request, next: Next<'a>) -> HttpFuture<'a, Response> {
        Box::pin(async move {
            if !self.is_alone && !request.uri().path().starts_with(ROOT) {
                return next.run(request).await;
            }
            match self.answer(request, next).await {
                Ok(response) => response,
                Err(refusal) => refusal.response(),
            }
        })
    }
}

impl Routes {
    fn new(store: Store, token: Token) -> Self {
        let [bodies, small] = [BODIES, SMALL_BODIES].map(Semaphore::new);
        Self { store, token, bodies, small, is_alone: false }
    }

    async fn answer(&self, request: Request, next: Next<'_>) -> Result<Response, Refusal> {
        if next.distrust(&request).is_some() {
            return Err(Refusal::plain(StatusCode::FORBIDDEN, "`Host` or `Origin` is foreign", "send no `Origin`"));
        }
        if !self.token.admits(request.headers()) {
            let remedy = "start the worker with the coordinator's token";
            return Err(Refusal::plain(StatusCode::UNAUTHORIZED, "the token is missing or wrong", remedy));
        }
        let path = request.uri().path().to_owned();
        let Some(route) = path.strip_prefix(ROOT) else { return Err(Refusal::nothing()) };
        match (request.method(), route.strip_prefix("artefacts/")) {
            (&Method::GET, Some(hash)) => self.artefact(hash).await,
            (&Method::POST, None) => {
                let kind = kind(request.uri().query());
                let room = if is_small(request.headers()) { &self.small } else { &self.bodies };
                let _room = room.acquire().await;
                let body = next.read(request.into_body()).await.map_err(|refusal| {
                    Refusal::plain(refusal.status(), "the body is too long, or did not come", "send at most 16 MiB")
                })?;
                check_size(route, body.len())?;
                Ok(reply(StatusCode::OK, &self.act(route, kind, body).await?))
            }
            _ => Err(Refusal::nothing()),
        }
    }

    async fn act(&self, route: &str, kind: Option<String>, body: Bytes) -> Result<Value, Refusal> {
        let store = &self.store;
        Ok(match route {
            "lease" => {
                let LeaseFor { worker, time_ms } = read(&body)?;
                let job = store.lease(&worker, Duration::from_millis(time_ms), now()).await?;
                let open = match &job {
                    Some(_) => None,
                    None => Some(store.counts(None).await?),
                };
                json!(Leased { job, open })
            }
            "renew" => {
                let Renew { lease, time_ms } = read(&body)?;
                json!(store.renew(&lease, Duration::from_millis(time_ms), now()).await?)
            }
            "finish" => {
                let Finish { lease, report } = read(&body)?;
                json!(store.finish(&lease, &report, now()).await?)
            }
            "fail" => {
                let Fail { lease, error, retry } = read(&body)?;
                json!(store.fail(&lease, &error, retry, now()).await?)
            }
            "artefacts" => {
                let kind = kind.ok_or_else(|| StoreError::invalid("the artefact has no kind", "add ?kind=…"))?;
                json!(store.put_artefact(&kind, body.to_vec(), now()).await?)
            }
            _ => return Err(Refusal::nothing()),
        })
    }

    async fn artefact(&self, hash: &str) -> Result<Response, Refusal> {
        let hash: ContentHash = hash.parse()?;
        let _room = self.bodies.acquire().await;
        let bytes = self.store.artefact(&hash).await?;
        let bytes = bytes.ok_or_else(|| StoreError::missing(format!("artefact {hash}")))?;
        Ok(typed(StatusCode::OK, "application/octet-stream", bytes))
    }
}

/// Whether a body is known to be short before any of it has come.
fn is_small(headers: &HeaderMap) -> bool {
    let length = headers.get("content-length").and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    length.is_some_and(|length| length <= JSON_BYTES)
}

/// Refuses a long body before it is parsed: JSON takes several times its length in memory.
fn check_size(route: &str, size: usize) -> Result<(), StoreError> {
    let most = match route {
        "artefacts" => ARTEFACT_BYTES,
        "finish" => FINISH_BYTES,
        _ => JSON_BYTES,
    };
    if size > most {
        return Err(StoreError::invalid(format!("the body has {size} bytes"), format!("send at most {most}")));
    }
    Ok(())
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| {
        StoreError::invalid(format!("the body is not what this route takes: {error}"), "use a worker of this version")
            .into()
    })
}

fn kind(query: Option<&str>) -> Option<String> {
    let mut pairs = url::form_urlencoded::parse(query?.as_bytes());
    pairs.find(|(name, _)| name == "kind").map(|(_, kind)| kind.into_owned())
}

/// Why a request is not answered.
struct Refusal {
    status: StatusCode,
    kind: &'static str,
    what: String,
    remedy: String,
}

impl Refusal {
    fn plain(status: StatusCode, what: &str, remedy: &str) -> Self {
        Self { status, kind: "refused", what: what.to_owned(), remedy: remedy.to_owned() }
    }

    fn nothing() -> Self {
        Self::plain(StatusCode::NOT_FOUND, "there is nothing at this address", "use a worker of this version")
    }

    fn response(&self) -> Response {
        let error = json!({ "error": { "kind": self.kind, "what": self.what, "remedy": self.remedy } });
        reply(self.status, &error)
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let whole = error.to_string();
        let (status, kind, what, remedy) = match error {
            StoreError::Invalid { what, remedy } => (StatusCode::BAD_REQUEST, "invalid", what, remedy),
            StoreError::Missing { what } => (StatusCode::NOT_FOUND, "missing", what, String::new()),
            StoreError::Unreachable { .. } => {
                (StatusCode::SERVICE_UNAVAILABLE, "unreachable", "the store does not answer".to_owned(), String::new())
            }
            // Paths of the coordinator's machine are for its own log.
            StoreError::Newer { .. } | StoreError::Refused { .. } | StoreError::Io { .. } => {
                tracing::warn!("a worker is refused: {whole}");
                let what = "the coordinator cannot use its store".to_owned();
                (StatusCode::INTERNAL_SERVER_ERROR, "refused", what, "look at the coordinator's log".to_owned())
            }
        };
        Self { status, kind, what, remedy }
    }
}

fn reply(status: StatusCode, value: &Value) -> Response {
    typed(status, "application/json", value.to_string())
}

fn typed(status: StatusCode, media_type: &'static str, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::Whole(Some(body.into())));
    *response.status_mut() = status;
    for (name, value) in
        [("content-type", media_type), ("cache-control", "no-store"), ("x-content-type-options", "nosniff")]
    {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Nothing speaks MCP here: the layer answers every request before it comes this far.
struct NoService;

impl Service for NoService {
    fn call(&self, call: Call) -> Reply {
        Answer::error(Some(call.id()), &RpcError::invalid_request("this is the coordinator of proof fleet")).into()
    }
}

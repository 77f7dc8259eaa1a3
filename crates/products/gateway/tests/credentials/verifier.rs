//! A server that verifies the gateway's assertions, as docs/gateway-assertions.md says, and by code that shares nothing with the
//! gateway's: base64, JSON and a signature.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use net::server::http::{Body, Bytes, HeaderMap, HttpFuture, Layer, Next, Request, Response, StatusCode};
use ring::digest::{SHA256, digest};
use ring::signature::{ECDSA_P256_SHA256_FIXED, ED25519, UnparsedPublicKey};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How far clocks may be apart, in seconds.
const APART: u64 = 5;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Got {
    pub(crate) method: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// What it proves, or why it proves nothing.
    pub(crate) verified: Result<Value, &'static str>,
}

#[derive(Debug, Default)]
struct State {
    keys: Value,
    audience: String,
    used: HashSet<String>,
    got: Vec<Got>,
    /// How many requests with this text in their body are answered with 503.
    failing: (&'static str, usize),
    /// Requests with this text are neither looked at nor answered with more than 503: a thief has them.
    stolen: Option<&'static str>,
}

/// Lets requests with a good assertion in.
#[derive(Debug)]
pub(crate) struct Verifier {
    issuer: String,
    header: &'static str,
    state: Mutex<State>,
}

impl Verifier {
    pub(crate) fn new(issuer: &str, header: &'static str) -> Self {
        Self { issuer: issuer.to_owned(), header, state: Mutex::default() }
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn known_as(&self, audience: String) {
        self.with(|state| state.audience = audience);
    }

    /// Reads the keys that the gateway publishes.
    pub(crate) async fn read_keys(&self, gateway: SocketAddr) -> Value {
        let keys = get(gateway, "/.well-known/proof-assertions/jwks.json").await;
        let read: Value = serde_json::from_str(keys.split("\r\n\r\n").nth(1).unwrap_or_default()).expect("keys");
        self.with(|state| state.keys = read.clone());
        read
    }

    pub(crate) fn take(&self) -> Vec<Got> {
        self.with(|state| std::mem::take(&mut state.got))
    }

    pub(crate) fn fail(&self, text: &'static str, times: usize) {
        self.with(|state| state.failing = (text, times));
    }

    pub(crate) fn steal(&self, text: Option<&'static str>) {
        self.with(|state| state.stolen = text);
    }

    /// What a request proves at the second `now`. Its assertion is used up.
    pub(crate) fn verify(
        &self,
        method: &str,
        headers: &HeaderMap,
        body: &[u8],
        now: u64,
    ) -> Result<Value, &'static str> {
        let mut values = headers.get_all(self.header).iter();
        let value = values.next().filter(|_| values.next().is_none()).ok_or("not one header")?;
        let text = value.to_str().map_err(|_| "no text")?;
        let text = if self.header == "authorization" { text.strip_prefix("Bearer ").ok_or("no bearer")? } else { text };
        let claims = self.with(|state| signed(text, &state.keys))?;
        let number = |name: &str| claims[name].as_u64().ok_or("a time is missing");
        let (issued, ends) = (number("iat")?, number("exp")?);
        if claims["iss"] != self.issuer {
            return Err("issuer");
        }
        if claims["aud"] != self.with(|state| state.audience.clone()) {
            return Err("audience");
        }
        if now + APART < issued || now >= ends + APART || ends.saturating_sub(issued) > 60 {
            return Err("time");
        }
        if claims["htm"] != method || claims["body_sha256"] != hash(body) {
            return Err("another request");
        }
        let session = headers.get("mcp-session-id").map(|session| hash(session.as_bytes()));
        if claims.get("session_sha256").and_then(Value::as_str) != session.as_deref() {
            return Err("another session");
        }
        let id = claims["jti"].as_str().filter(|id| id.len() >= 16).ok_or("no id")?;
        let is_new = self.with(|state| state.used.insert(id.to_owned()));
        if is_new { Ok(claims) } else { Err("used before") }
    }
}

fn hash(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, bytes))
}

/// The claims of a token that one of the keys signed.
fn signed(token: &str, keys: &Value) -> Result<Value, &'static str> {
    let [head, claims, signature] = token.split('.').collect::<Vec<_>>()[..] else { return Err("no token") };
    let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| "no base64");
    let json = |part: &str| serde_json::from_slice::<Value>(&decode(part)?).map_err(|_| "no JSON");
    let header = json(head)?;
    if header["typ"] != "gateway-assertion+jwt" || header.get("crit").is_some() {
        return Err("another type");
    }
    let mut keys = keys["keys"].as_array().into_iter().flatten();
    let key = keys.find(|key| key["kid"] == header["kid"] && key["alg"] == header["alg"]).ok_or("unknown key")?;
    let part = |name: &str| decode(key[name].as_str().unwrap_or_default());
    let message = format!("{head}.{claims}");
    let signature = decode(signature)?;
    let good = match (key["alg"].as_str(), key["crv"].as_str()) {
        (Some("ES256"), Some("P-256")) => {
            let point = [&[4][..], &part("x")?, &part("y")?].concat();
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message.as_bytes(), &signature)
        }
        (Some("EdDSA"), Some("Ed25519")) => {
            UnparsedPublicKey::new(&ED25519, part("x")?).verify(message.as_bytes(), &signature)
        }
        _ => return Err("another algorithm"),
    };
    good.map_err(|_| "signature")?;
    json(claims)
}

/// A whole response.
pub(crate) async fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let head = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("it reads");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("it answers");
    response
}

fn answer(status: StatusCode, text: &'static str) -> Response {
    let mut response = Response::new(Body::Whole(Some(Bytes::from(text))));
    *response.status_mut() = status;
    response
}

/// [`Verifier`] before the endpoint of a server.
#[derive(Debug)]
pub(crate) struct Door(pub(crate) std::sync::Arc<Verifier>);

impl Layer for Door {
    fn respond<'a>(&'a self, request: Request, next: Next<'a>) -> HttpFuture<'a, Response> {
        Box::pin(async move {
            let (head, mut body) = request.into_parts();
            body.read_ahead(1 << 20, Duration::from_secs(5)).await;
            let sent = body.whole().cloned().unwrap_or_default();
            let holds = |text: &str| sent.windows(text.len()).any(|part| part == text.as_bytes());
            let (method, headers) = (head.method.to_string(), head.headers.clone());
            if self.0.with(|state| state.stolen).is_some_and(holds) {
                let verified = Err("stolen");
                self.0.with(|state| state.got.push(Got { method, headers, body: sent.clone(), verified }));
                return answer(StatusCode::SERVICE_UNAVAILABLE, "stolen");
            }
            let verified = self.0.verify(&method, &headers, &sent, oauth::now());
            let got = Got { method, headers, body: sent.clone(), verified: verified.clone() };
            self.0.with(|state| state.got.push(got));
            if let Err(why) = verified {
                return answer(StatusCode::UNAUTHORIZED, why);
            }
            let fails = self.0.with(|state| {
                let fails = state.failing.1 > 0 && holds(state.failing.0);
                state.failing.1 -= usize::from(fails);
                fails
            });
            if fails {
                return answer(StatusCode::SERVICE_UNAVAILABLE, "not now");
            }
            next.run(Request::from_parts(head, sent.into())).await
        })
    }
}

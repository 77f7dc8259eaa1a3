//! An authorization server over real HTTP: metadata, token endpoint, introspection. What it answers is set by each test, and it
//! keeps what it was sent.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use oauth::jose::Jws;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use url::form_urlencoded;

/// What the token endpoint does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    /// Issues tokens that live so long, in seconds.
    Issues(u64),
    /// Declines by this code, and quotes what it was sent.
    Declines(&'static str),
    /// Gives the user's own token back.
    Echoes,
    /// Issues what is no access token.
    OtherKind,
    /// Sends all to another place.
    Redirects,
    /// Fails.
    Fails,
}

pub(crate) struct Posted {
    pub(crate) authorization: Option<String>,
    pub(crate) form: HashMap<String, String>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) mood: Option<Mood>,
    pub(crate) tokens: Vec<Posted>,
    pub(crate) introspections: Vec<Posted>,
    /// Claims of opaque tokens; what is missing is not active.
    pub(crate) opaque: HashMap<String, Value>,
    pub(crate) introspection_status: Option<u16>,
    /// How long an answer takes.
    pub(crate) delay: Duration,
    /// The users whose exchanges are declined.
    pub(crate) barred: Vec<String>,
}

#[derive(Clone)]
pub(crate) struct Issuer {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Issuer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let issuer = Self { address: listener.local_addr().expect("an address"), state: Arc::default() };
        let served = issuer.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let served = served.clone();
                tokio::spawn(async move { served.serve(stream).await });
            }
        });
        issuer
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn serve(&self, mut stream: TcpStream) {
        let Some((head, body)) = read(&mut stream).await else { return };
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let header = |name: &str| {
            let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with(&format!("{name}:")));
            line.and_then(|line| line.split_once(": ")).map(|(_, value)| value.to_owned())
        };
        let form = form_urlencoded::parse(body.as_bytes()).into_owned().collect();
        let posted = Posted { authorization: header("authorization"), form };
        sleep(self.with(|state| state.delay)).await;
        let (status, more, answer) = match path.as_str() {
            "/.well-known/oauth-authorization-server" => (200, String::new(), self.metadata()),
            "/token" => self.token(posted),
            "/introspect" => self.introspect(posted),
            _ => (404, String::new(), json!({})),
        };
        let text = answer.to_string();
        let whole = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{more}connection: close\r\ncontent-length: {}\r\n\r\n{text}",
            text.len()
        );
        let _ = stream.write_all(whole.as_bytes()).await;
    }

    fn metadata(&self) -> Value {
        json!({ "issuer": self.url(""), "token_endpoint": self.url("/token"),
            "token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt"] })
    }

    fn token(&self, posted: Posted) -> (u16, String, Value) {
        self.with(|state| {
            let subject = posted.form.get("subject_token").cloned();
            let user = subject.as_deref().map_or_else(|| "gateway".to_owned(), user_of);
            state.tokens.push(posted);
            let number = state.tokens.len();
            let issued = |token: String, life: u64| {
                json!({ "access_token": token, "token_type": "Bearer", "expires_in": life,
                    "issued_token_type": "urn:ietf:params:oauth:token-type:access_token" })
            };
            let mood = state.mood.clone().unwrap_or(Mood::Issues(3600));
            if state.barred.contains(&user) {
                return (400, String::new(), json!({ "error": "invalid_target" }));
            }
            match mood {
                Mood::Issues(life) => (200, String::new(), issued(format!("up.{user}.{number}"), life)),
                Mood::Declines(code) => {
                    (400, String::new(), json!({ "error": code, "error_description": format!("no {subject:?}") }))
                }
                Mood::Echoes => (200, String::new(), issued(subject.unwrap_or_default(), 3600)),
                Mood::OtherKind => {
                    let mut answer = issued("id".to_owned(), 3600);
                    answer["issued_token_type"] = json!("urn:ietf:params:oauth:token-type:id_token");
                    (200, String::new(), answer)
                }
                Mood::Redirects => (307, format!("location: {}\r\n", self.url("/elsewhere")), json!({})),
                Mood::Fails => (500, String::new(), json!({})),
            }
        })
    }

    fn introspect(&self, posted: Posted) -> (u16, String, Value) {
        self.with(|state| {
            let claims = posted.form.get("token").and_then(|token| state.opaque.get(token)).cloned();
            state.introspections.push(posted);
            let status = state.introspection_status.unwrap_or(200);
            (status, String::new(), claims.unwrap_or_else(|| json!({ "active": false, "sub": "nobody" })))
        })
    }
}

/// The user that a token names.
pub(crate) fn user_of(token: &str) -> String {
    let claims = token.split('.').nth(1).and_then(oauth::jose::decode);
    let claims: Value = claims.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    assert!(Jws::read(token).is_ok(), "only clients' tokens are exchanged");
    claims["sub"].as_str().unwrap_or_default().to_owned()
}

async fn read(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let line = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= line.map_or(0, |length| length.parse().unwrap_or(0)) {
                return Some((head.to_owned(), body.to_owned()));
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

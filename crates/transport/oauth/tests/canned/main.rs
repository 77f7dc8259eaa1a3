//! The client end of authorization against servers that break the rules. Each server is a table of canned responses on
//! loopback, and records its requests.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod grants;
mod guide;
mod refusals;
mod trust;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use oauth::{Authorizer, OAuthError, Options};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use url::{Url, form_urlencoded};
use wire::Revision;
use wire::trace::Headers;

/// One received request.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) target: String,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl ReceivedRequest {
    /// A parameter of its query or form.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        let mut pairs = form_urlencoded::parse(query.as_bytes()).chain(form_urlencoded::parse(self.body.as_bytes()));
        pairs.find(|(other, _)| other == name).map(|(_, value)| value.into_owned())
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// Status, header lines and body.
pub(crate) type CannedResponse = (u16, String, String);

pub(crate) fn json_response(value: Value) -> CannedResponse {
    (200, "Content-Type: application/json\r\n".to_owned(), value.to_string())
}

type Page = Box<dyn Fn(&ReceivedRequest, &str) -> CannedResponse + Send + Sync>;

/// A server of canned pages, by path.
pub(crate) struct FakeServer {
    pages: HashMap<&'static str, Page>,
}

impl FakeServer {
    /// A correct server that is both the resource and the issuer.
    pub(crate) fn correct() -> Self {
        let mut fake = Self { pages: HashMap::new() };
        fake.page("/.well-known/oauth-protected-resource/mcp", |_, base| {
            json_response(json!({ "resource": format!("{base}/mcp"), "authorization_servers": [base] }))
        });
        fake.page("/.well-known/oauth-authorization-server", |_, base| json_response(metadata(base)));
        fake.page("/register", |_, _| json_response(json!({ "client_id": "registered" })));
        fake.page("/authorize", |request, base| {
            let (back, state) = (request.parameter("redirect_uri").unwrap(), request.parameter("state").unwrap());
            (302, format!("Location: {back}?code=c0de&state={state}&iss={base}\r\n"), String::new())
        });
        fake.page("/token", |_, _| json_response(json!({ "access_token": "t0ken", "token_type": "Bearer" })));
        fake
    }

    pub(crate) fn page(
        &mut self,
        path: &'static str,
        page: impl Fn(&ReceivedRequest, &str) -> CannedResponse + Send + Sync + 'static,
    ) {
        self.pages.insert(path, Box::new(page));
    }

    pub(crate) fn without(&mut self, path: &str) {
        self.pages.remove(path);
    }

    pub(crate) async fn start(self) -> RunningServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (fake, log) = (Arc::new(self), Arc::new(Mutex::new(Vec::new())));
        let running = RunningServer { base: base.clone(), log: log.clone() };
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(answer(socket, fake.clone(), base.clone(), log.clone()));
            }
        });
        running
    }
}

/// The metadata of a good issuer.
pub(crate) fn metadata(base: &str) -> Value {
    json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": format!("{base}/token"),
        "registration_endpoint": format!("{base}/register"),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
        "authorization_response_iss_parameter_supported": true,
    })
}

async fn answer(mut socket: TcpStream, fake: Arc<FakeServer>, base: String, log: Arc<Mutex<Vec<ReceivedRequest>>>) {
    let mut bytes = Vec::new();
    let (head, length) = loop {
        if socket.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            break (head, end + 4 + length.unwrap_or(0));
        }
    };
    while bytes.len() < length && socket.read_buf(&mut bytes).await.unwrap_or(0) > 0 {}
    let target = head.split(' ').nth(1).unwrap().to_owned();
    let body = String::from_utf8_lossy(&bytes[head.len() + 4..]).into_owned();
    let request = ReceivedRequest { target, head, body };
    log.lock().unwrap().push(request.clone());
    let page = fake.pages.get(request.target.split('?').next().unwrap());
    let (status, headers, body) = page.map_or((404, String::new(), String::new()), |page| page(&request, &base));
    let head = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = socket.write_all(format!("{head}{body}").as_bytes()).await;
    let _ = socket.shutdown().await;
}

/// A fake server that listens.
pub(crate) struct RunningServer {
    pub(crate) base: String,
    log: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl RunningServer {
    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.log.lock().unwrap().clone()
    }

    /// The requests for a path.
    pub(crate) fn requests_to(&self, path: &str) -> Vec<ReceivedRequest> {
        self.requests().into_iter().filter(|request| request.target.split('?').next() == Some(path)).collect()
    }

    pub(crate) fn options() -> Options {
        Options { timeout: Duration::from_secs(5), ..Options::new(Some(Revision::R2026_07_28)) }
    }

    pub(crate) fn authorizer(&self, options: Options) -> Authorizer {
        Authorizer::new(Url::parse(&format!("{}/mcp", self.base)).unwrap(), options).unwrap()
    }

    /// The headers of the next request after a refusal with `challenge`.
    pub(crate) async fn refused(&self, options: Options, challenge: &str) -> Result<Headers, OAuthError> {
        let mut operation = self.authorizer(options).operation("POST");
        assert!(operation.headers().await?.is_empty());
        assert!(operation.refused(401, &challenged(challenge)).await?);
        operation.headers().await
    }
}

/// The headers of a refusal.
pub(crate) fn challenged(challenge: &str) -> Headers {
    vec![("www-authenticate".to_owned(), challenge.to_owned())]
}

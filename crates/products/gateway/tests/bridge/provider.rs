//! A provider of OpenID Connect over real HTTP that knows one client and registers none. Its user agrees to everything. It keeps
//! what it was sent, and can be made to lie.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use oauth::jose::{Signer, sha256};
use oauth::now;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use url::{Url, form_urlencoded};

type Form = HashMap<String, String>;

/// What the provider's access tokens begin with: none of them may be seen elsewhere.
pub(crate) const UPSTREAM_TOKEN: &str = "provider-token-";

pub(crate) struct State {
    /// Who sits in front of the browser.
    pub(crate) account: String,
    /// Changes the claims of identity tokens.
    pub(crate) lies: fn(&mut Value),
    /// All authorization requests.
    pub(crate) asked: Vec<Form>,
    /// All token requests.
    pub(crate) tokens: Vec<Form>,
    codes: HashMap<String, (Form, String)>,
}

#[derive(Clone)]
pub(crate) struct Provider {
    address: SocketAddr,
    signer: Arc<Signer>,
    state: Arc<Mutex<State>>,
}

impl Provider {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let (asked, tokens) = (Vec::new(), Vec::new());
        let state = State { account: "ann".to_owned(), lies: |_| (), asked, tokens, codes: HashMap::new() };
        let address = listener.local_addr().expect("an address");
        let provider = Self { address, signer: Arc::new(Signer::fresh()), state: Arc::new(Mutex::new(state)) };
        let served = provider.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let served = served.clone();
                tokio::spawn(async move { served.serve(stream).await });
            }
        });
        provider
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn serve(&self, mut stream: TcpStream) {
        let Some((head, body)) = read(&mut stream).await else { return };
        let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let form = |text: &str| form_urlencoded::parse(text.as_bytes()).into_owned().collect::<Form>();
        let (status, more, answer) = match path {
            "/.well-known/openid-configuration" => (200, String::new(), self.metadata()),
            "/keys" => (200, String::new(), json!({ "keys": [self.signer.public()] })),
            "/authorize" => self.authorize(form(query)),
            "/token" => self.token(form(&body)),
            _ => (404, String::new(), json!({})),
        };
        let text = answer.to_string();
        let length = text.len();
        let whole = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{more}connection: close\r\ncontent-length: {length}\r\n\r\n{text}"
        );
        let _ = stream.write_all(whole.as_bytes()).await;
    }

    /// Nothing about registration, nor about documents of clients.
    fn metadata(&self) -> Value {
        json!({ "issuer": self.url(""), "authorization_endpoint": self.url("/authorize"),
            "token_endpoint": self.url("/token"), "jwks_uri": self.url("/keys"),
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
            "authorization_response_iss_parameter_supported": true })
    }

    fn authorize(&self, form: Form) -> (u16, String, Value) {
        assert_eq!((form["code_challenge_method"].as_str(), form["response_type"].as_str()), ("S256", "code"));
        assert_eq!(form["client_id"], "gateway", "the provider knows no other client");
        let mut url = Url::parse(&form["redirect_uri"]).expect("a redirect address");
        let code = oauth::random();
        url.query_pairs_mut()
            .append_pair("code", &code)
            .append_pair("state", &form["state"])
            .append_pair("iss", &self.url(""));
        self.with(|state| {
            state.asked.push(form.clone());
            let account = state.account.clone();
            state.codes.insert(code, (form, account));
        });
        (302, format!("location: {url}\r\n"), json!({}))
    }

    fn token(&self, form: Form) -> (u16, String, Value) {
        self.with(|state| {
            state.tokens.push(form.clone());
            let known = form["client_id"] == "gateway" && form["client_secret"] == "s3cret";
            let fits = |(asked, _): &(Form, String)| {
                asked["redirect_uri"] == form["redirect_uri"]
                    && asked["code_challenge"] == sha256(&form["code_verifier"])
            };
            let Some((asked, account)) = state.codes.remove(&form["code"]).filter(fits).filter(|_| known) else {
                return (400, String::new(), json!({ "error": "invalid_grant" }));
            };
            let mut claims = json!({ "iss": self.url(""), "aud": "gateway", "sub": account, "iat": now(),
                "exp": now() + 60, "nonce": asked["nonce"], "team": "data", "email": "ann@example.com" });
            (state.lies)(&mut claims);
            let identity = self.signer.sign(json!({ "typ": "JWT" }), &claims);
            let access = format!("{UPSTREAM_TOKEN}{}", oauth::random());
            let refresh = format!("{UPSTREAM_TOKEN}{}", oauth::random());
            let answer = json!({ "access_token": access, "token_type": "Bearer", "expires_in": 60,
                "refresh_token": refresh, "id_token": identity });
            (200, String::new(), answer)
        })
    }
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

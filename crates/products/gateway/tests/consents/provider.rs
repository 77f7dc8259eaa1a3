//! An authorization server over real HTTP whose users agree to everything: metadata, registration, authorization, tokens with
//! rotating refresh tokens. It keeps what it was sent, and can be made to misbehave.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use oauth::jose::sha256;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use url::{Url, form_urlencoded};

type Form = HashMap<String, String>;

struct Code {
    form: Form,
    account: String,
}

pub(crate) struct State {
    /// Who sits in front of the browser.
    pub(crate) account: String,
    /// How long access tokens live, in seconds.
    pub(crate) life: u64,
    /// How long the provider takes for a token.
    pub(crate) delay: Duration,
    /// It never answers to a refresh token; whether that is used up.
    pub(crate) hang: Option<bool>,
    /// The PKCE methods that it lists.
    pub(crate) methods: Option<Value>,
    /// Clients may register; otherwise they have metadata documents.
    pub(crate) registers: bool,
    /// All token requests.
    pub(crate) tokens: Vec<Form>,
    pub(crate) registrations: usize,
    /// Refresh tokens that it accepts, and whose they are.
    pub(crate) refresh: HashMap<String, String>,
    codes: HashMap<String, Code>,
    issued: usize,
}

/// Makes an access token from an account and a number.
type Mint = Arc<dyn Fn(&str, usize) -> String + Send + Sync>;

#[derive(Clone)]
pub(crate) struct Provider {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    mint: Arc<Mutex<Mint>>,
}

impl Provider {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let state = State {
            account: "ann-at-crm".to_owned(),
            life: 3600,
            delay: Duration::ZERO,
            hang: None,
            methods: Some(json!(["S256"])),
            registers: true,
            tokens: Vec::new(),
            registrations: 0,
            refresh: HashMap::new(),
            codes: HashMap::new(),
            issued: 0,
        };
        let mint: Mint = Arc::new(|account, number| format!("up.{account}.{number}"));
        let (state, mint) = (Arc::new(Mutex::new(state)), Arc::new(Mutex::new(mint)));
        let provider = Self { address: listener.local_addr().expect("an address"), state, mint };
        let served = provider.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let served = served.clone();
                tokio::spawn(async move { served.serve(stream).await });
            }
        });
        provider
    }

    pub(crate) fn mints(&self, mint: impl Fn(&str, usize) -> String + Send + Sync + 'static) {
        *self.mint.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(mint);
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many tokens were asked for by this grant.
    pub(crate) fn asked(&self, grant: &str) -> usize {
        self.with(|state| state.tokens.iter().filter(|form| form["grant_type"] == grant).count())
    }

    async fn serve(&self, mut stream: TcpStream) {
        let Some((head, body)) = read(&mut stream).await else { return };
        let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let form = |text: &str| form_urlencoded::parse(text.as_bytes()).into_owned().collect::<Form>();
        let (status, more, answer) = match path {
            "/.well-known/oauth-authorization-server" => (200, String::new(), self.metadata()),
            "/authorize" => self.authorize(form(query)),
            "/token" => self.token_in_time(form(&body)).await,
            "/register" => self.register(&body),
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
        let mut document = json!({ "issuer": self.url(""), "authorization_endpoint": self.url("/authorize"),
            "token_endpoint": self.url("/token"), "registration_endpoint": self.url("/register"),
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
            "authorization_response_iss_parameter_supported": true });
        self.with(|state| {
            if let Some(methods) = &state.methods {
                document["code_challenge_methods_supported"] = methods.clone();
            }
            if !state.registers {
                document.as_object_mut().expect("an object").remove("registration_endpoint");
                document["client_id_metadata_document_supported"] = json!(true);
            }
        });
        document
    }

    fn register(&self, body: &str) -> (u16, String, Value) {
        self.with(|state| state.registrations += 1);
        let mut client: Value = serde_json::from_str(body).expect("a registration");
        client["client_id"] = json!("registered");
        client["client_secret"] = json!("s3cret");
        (201, String::new(), client)
    }

    fn authorize(&self, form: Form) -> (u16, String, Value) {
        let mut url = Url::parse(&form["redirect_uri"]).expect("a redirect address");
        assert_eq!((form["code_challenge_method"].as_str(), form["response_type"].as_str()), ("S256", "code"));
        let code = oauth::random();
        url.query_pairs_mut()
            .append_pair("code", &code)
            .append_pair("state", &form["state"])
            .append_pair("iss", &self.url(""));
        self.with(|state| {
            let account = state.account.clone();
            state.codes.insert(code, Code { form, account });
        });
        (302, format!("location: {url}\r\n"), json!({}))
    }

    async fn token_in_time(&self, form: Form) -> (u16, String, Value) {
        let (delay, hang) = self.with(|state| (state.delay, state.hang));
        tokio::time::sleep(delay).await;
        let hang = hang.filter(|_| form["grant_type"] == "refresh_token");
        match hang {
            None => self.token(form),
            Some(is_used_up) => {
                if is_used_up {
                    self.token(form);
                } else {
                    self.with(|state| state.tokens.push(form));
                }
                std::future::pending().await
            }
        }
    }

    fn token(&self, form: Form) -> (u16, String, Value) {
        let mint = Arc::clone(&self.mint.lock().unwrap_or_else(PoisonError::into_inner));
        self.with(|state| {
            state.tokens.push(form.clone());
            let refused = (400, String::new(), json!({ "error": "invalid_grant" }));
            let account = if form["grant_type"] == "refresh_token" {
                // A refresh token counts once.
                state.refresh.remove(&form["refresh_token"])
            } else {
                let fits = |code: &Code| {
                    code.form["redirect_uri"] == form["redirect_uri"]
                        && code.form["client_id"] == form["client_id"]
                        && code.form["code_challenge"] == sha256(&form["code_verifier"])
                };
                state.codes.remove(&form["code"]).filter(fits).map(|code| code.account)
            };
            let Some(account) = account else { return refused };
            state.issued += 1;
            let (refresh, access) = (oauth::random(), mint(&account, state.issued));
            state.refresh.insert(refresh.clone(), account);
            let answer = json!({ "access_token": access, "token_type": "Bearer", "expires_in": state.life,
                "refresh_token": refresh });
            (200, String::new(), answer)
        })
    }
}

pub(crate) async fn read(stream: &mut TcpStream) -> Option<(String, String)> {
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

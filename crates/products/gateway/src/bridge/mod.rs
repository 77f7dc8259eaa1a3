//! The gateway as an authorization server of its clients, in front of a provider that knows the gateway alone. The danger is the
//! confused deputy: a client that nobody allowed gets what the provider gives the gateway. So each client is asked about each
//! time, in the browser that comes back. What must be known in between is sealed and given away. Must not know MCP messages.

mod authorize;
mod clients;
mod form;
mod ledger;
mod logins;
mod paths;
mod reply;
mod sealing;
mod tokens;

use std::io;
use std::sync::Arc;

use net::server::http::{GuardRequest, GuardResponse, Method, StatusCode};
use oauth::jose::{JwkSet, Signer};
use oauth::resource::TokenFlaw;
use oauth::{LoginClient, SavedLogin};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use url::Url;

use self::clients::Clients;
use self::ledger::Ledger;
use self::logins::Logins;
use self::sealing::Sealing;
use crate::settings::{AuthSettings, BridgeSettings, StoreSettings};
use crate::shared::SharedStore;

/// The claim of an access token that names its session.
const SESSION: &str = "sid";

/// The authorization server for clients.
pub(crate) struct Bridge {
    settings: BridgeSettings,
    /// Its name, which is the address of the gateway.
    issuer: String,
    /// The scopes that every token has.
    required: Vec<String>,
    sealing: Sealing,
    signer: Signer,
    keys: JwkSet,
    login: LoginClient,
    clients: Clients,
    logins: Logins,
    ledger: Ledger,
}

/// What a user is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Question {
    client: String,
    name: String,
    refreshes: bool,
    redirect: String,
    state: Option<String>,
    /// PKCE's.
    challenge: String,
    resource: String,
    scopes: Vec<String>,
    /// Until when it may be answered, in seconds since 1970.
    until: u64,
}

/// What a browser was sent to the provider for, after its user had allowed it.
#[derive(Serialize, Deserialize)]
struct Allowed {
    question: Question,
    login: SavedLogin,
}

/// What a session is for: who, by which client, where and for what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Access {
    /// A digest of the client's id.
    client: String,
    /// The provider that names the subject: another one may mean another user by the same name.
    #[serde(default)]
    provider: String,
    subject: String,
    resource: String,
    scopes: Vec<String>,
    /// Claims of the identity token that are passed on.
    claims: Map<String, Value>,
    /// The session.
    session: String,
}

impl Bridge {
    /// Prepares everything; nothing is asked of the provider yet.
    pub(crate) fn open(
        settings: &BridgeSettings,
        auth: Option<&AuthSettings>,
        store: (Option<&StoreSettings>, Option<&Arc<SharedStore>>),
    ) -> io::Result<Arc<Self>> {
        let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what.to_owned());
        let auth = auth.ok_or_else(|| invalid("there is no `auth`"))?;
        let issuer = auth.public_url.as_deref().ok_or_else(|| invalid("`auth` has no `public_url`"))?;
        let issuer = issuer.trim_end_matches('/').to_owned();
        let url = Url::parse(&issuer).map_err(|_| invalid("`public_url` is not a URL"))?;
        let sealing = Sealing::new(&settings.keys).ok_or_else(|| invalid("a key is not 32 bytes in base64"))?;
        let signers: Vec<_> = sealing.seeds().map(Signer::edwards_of_seed).collect();
        let key = |signer: &Signer| {
            let mut key = signer.public()?;
            key.kid = key.thumbprint();
            Some(key)
        };
        let keys = JwkSet { keys: signers.iter().filter_map(key).collect() };
        let signer = signers.into_iter().next().ok_or_else(|| invalid("there is no key"))?;
        let login = LoginClient::new(settings.provider.clone()).map_err(|error| invalid(error.what()))?;
        let clients = Clients::new(settings, &url);
        let ledger = Ledger::open(store.0, store.1)?;
        let (settings, required, logins) = (settings.clone(), auth.scopes.clone(), Logins::default());
        Ok(Arc::new(Self { settings, issuer, required, sealing, signer, keys, login, clients, logins, ledger }))
    }

    /// The keys that verify its access tokens.
    pub(crate) fn keys(&self) -> JwkSet {
        self.keys.clone()
    }

    /// Whether it answers at a path.
    pub(crate) fn owns(path: &str) -> bool {
        paths::ALL.contains(&path)
    }

    /// Whether browsers alone post there: the form of a page.
    pub(crate) fn is_form(path: &str) -> bool {
        path == paths::AUTHORIZE
    }

    /// Refuses what another page posts.
    pub(crate) fn foreign(path: &str) -> GuardResponse {
        if Self::is_form(path) {
            return reply::problem(StatusCode::FORBIDDEN, "Another page sent it. Start again in your program.");
        }
        reply::error(StatusCode::FORBIDDEN, "access_denied", "pages of other origins cannot use this endpoint")
    }

    /// Answers at one of its paths. Tokens are for one of `resources`.
    pub(crate) async fn serve(&self, request: &GuardRequest, resources: &[String]) -> GuardResponse {
        match (request.uri.path(), &request.method) {
            (paths::METADATA, &Method::GET) => reply::json(StatusCode::OK, &self.metadata()),
            (paths::KEYS, &Method::GET) => reply::json(StatusCode::OK, &json!({ "keys": self.keys.keys })),
            (paths::REGISTER, &Method::POST) => self.register(request),
            (paths::AUTHORIZE, &Method::GET) => self.ask(request, resources).await,
            (paths::AUTHORIZE, &Method::POST) => self.answered(request).await,
            (paths::CALLBACK, &Method::GET) => self.came_back(request).await,
            (paths::TOKEN, &Method::POST) => self.token(request).await,
            (paths::AUTHORIZE, _) => reply::not_allowed("GET, POST"),
            (paths::REGISTER | paths::TOKEN, _) => reply::not_allowed("POST"),
            _ => reply::not_allowed("GET"),
        }
    }

    /// Whether the session of an access token goes on; `Ok(None)` where that cannot be known at this moment.
    pub(crate) async fn check(&self, claims: &Value) -> Result<Option<()>, TokenFlaw> {
        let session = claims.get(SESSION).and_then(Value::as_str).ok_or(TokenFlaw::Form)?;
        match self.ledger.is_alive(session).await {
            Some(true) => Ok(Some(())),
            Some(false) => Err(TokenFlaw::Revoked),
            None => Ok(None),
        }
    }

    /// Forgets sessions whose time is over.
    pub(crate) fn sweep(&self) {
        self.ledger.sweep();
    }

    /// Writes what waits.
    pub(crate) fn close(&self) {
        self.ledger.close();
    }

    fn metadata(&self) -> Value {
        let at = |path: &str| format!("{}{path}", self.issuer);
        let mut document = json!({
            "issuer": self.issuer,
            "authorization_endpoint": at(paths::AUTHORIZE),
            "token_endpoint": at(paths::TOKEN),
            "jwks_uri": at(paths::KEYS),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
            "client_id_metadata_document_supported": self.settings.documents,
        });
        if self.settings.registration {
            document["registration_endpoint"] = json!(at(paths::REGISTER));
        }
        let scopes: Vec<_> = self.offered().collect();
        if !scopes.is_empty() {
            document["scopes_supported"] = json!(scopes);
        }
        document
    }

    /// The scopes that tokens may have.
    fn offered(&self) -> impl Iterator<Item = &String> {
        let more = self.settings.scopes.iter().filter(|scope| !self.required.contains(scope));
        self.required.iter().chain(more)
    }

    fn register(&self, request: &GuardRequest) -> GuardResponse {
        if !self.settings.registration {
            return reply::error(StatusCode::FORBIDDEN, "access_denied", "clients do not register here");
        }
        match self.clients.register(&self.sealing, &request.body) {
            Ok(registered) => reply::json(StatusCode::CREATED, &registered),
            Err((error, why)) => reply::error(StatusCode::BAD_REQUEST, error, why),
        }
    }
}

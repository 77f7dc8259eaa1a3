//! Calls REST APIs by their OpenAPI description ([`openapi`]): sends the request that a tool call becomes, authorizes it,
//! repeats it where that does no harm, follows pages, and shapes the answer.
//!
//! It knows no MCP message. Credentials come from the environment or from files, and are in no argument, error or answer.

mod auth;
mod caller;
mod calling;
mod compose;
mod concealing;
mod config;
mod credentials;
mod error;
mod fetching;
mod keeping;
mod operation;
mod refused;
mod retrying;
mod sending;
mod ui;

use std::sync::Arc;
use std::time::Duration;

use openapi::Api;
use tokio::sync::Semaphore;
use url::Url;

use auth::Authorization;
use concealing::Concealer;
use keeping::{Keeper, Place};
use retrying::Budget;
use sending::Sender;

pub use caller::Caller;
pub use compose::{ComposeRule, Composed, Part};
pub use config::{Config, Limits, Network, PagingRule, Retries, ShapeRule, SlowRule};
pub use error::SetupError;
pub use fetching::fetch;
pub use operation::{CallableOperation, Extra};
pub use ui::{UI_MEDIA, UiRule};

/// How long a connection and its TLS handshake may take.
const CONNECT: Duration = Duration::from_secs(10);

/// An API that can be called. Clones share connections, tokens and what is kept.
#[derive(Clone)]
pub struct Factory(Arc<Inner>);

struct Inner {
    base: Base,
    config: Config,
    sender: Sender,
    authorization: Authorization,
    concealer: Arc<Concealer>,
    keeper: Keeper,
    place: Place,
    budget: Budget,
    running: Arc<Semaphore>,
    /// Places of slow calls, which keep no other waiting.
    running_slow: Arc<Semaphore>,
}

impl std::fmt::Debug for Factory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Factory").field(&self.0.base.url.as_str()).finish()
    }
}

/// Where the API is.
#[derive(Clone, Debug)]
pub struct Base {
    url: Url,
    /// Whether the user named it: an address of this machine or of a private network then leads there.
    is_named: bool,
}

impl Base {
    /// The address that the user names: in the configuration, or as an option, which wins.
    pub fn named(url: &str) -> Result<Self, SetupError> {
        Ok(Self { url: checked(url)?, is_named: true })
    }

    /// The first server of the description, which stands at `described_at`. It leads to public addresses only.
    pub fn described(api: &Api, described_at: Option<&Url>) -> Result<Self, SetupError> {
        let advice = "name the address of the API: --base-url URL, or `base_url` in the configuration";
        let Some(server) = api.servers.first() else {
            return Err(SetupError::new("the description names no server", advice));
        };
        let url = match (Url::parse(server), described_at) {
            (Ok(url), _) => url,
            (Err(_), Some(at)) => at.join(server).map_err(|_| SetupError::new("its server is not a URL", advice))?,
            (Err(_), None) => {
                let what = format!("the server {} of the description is not a whole URL", shown(server));
                return Err(SetupError::new(what, advice));
            }
        };
        Ok(Self { url: checked(url.as_str())?, is_named: false })
    }

    /// Its URL.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }
}

/// A URL that requests can begin with.
fn checked(url: &str) -> Result<Url, SetupError> {
    let bad = |why: &str| SetupError::new(format!("{} {why}", shown(url)), "a URL such as https://api.example.com/v1");
    let url = Url::parse(url.trim()).map_err(|_| bad("is not a URL"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(bad("is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        // Not shown: it holds a password.
        return Err(SetupError::new("the address of the API holds a user name", "put credentials under `auth`"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(bad("has a query or a fragment"));
    }
    Ok(url)
}

/// What a stranger wrote, on one line and not too long.
fn shown(text: &str) -> String {
    format!("`{}`", wire::escape::snippet(text, 200))
}

impl Factory {
    /// Prepares to call `api` at `base`. Reads credentials; sends nothing yet.
    pub fn new(api: &Api, base: Base, config: Config) -> Result<Self, SetupError> {
        let concealer = Arc::new(Concealer::default());
        let sender = Sender::new(&base, &config.network)?;
        let authorization = Authorization::new(&config.auth, api, &base, (&sender, Arc::clone(&concealer)))?;
        let [running, running_slow] = [(); 2].map(|()| Arc::new(Semaphore::new(config.limits.calls)));
        let place = Place::of(config.name.as_deref().unwrap_or(&api.title));
        let (keeper, budget) = (Keeper::default(), Budget::default());
        let inner =
            Inner { base, config, sender, authorization, concealer, keeper, place, budget, running, running_slow };
        Ok(Self(Arc::new(inner)))
    }

    /// Refuses entries of the configuration that fit none of these tools, each with its arguments.
    pub fn check_tools(&self, tools: &[(&str, Vec<&str>)]) -> Result<(), SetupError> {
        self.0.config.check_tools(tools)
    }

    /// Whether calls of a tool of this name may run as tasks.
    pub fn is_slow(&self, tool: &str) -> bool {
        self.0.config.is_slow(tool)
    }

    /// What is kept under an id for this caller: a media type, and a text or Base64.
    pub fn kept(&self, caller: &Caller, id: &str) -> Option<openapi::answer::Kept> {
        self.0.keeper.find(caller, id)
    }

    /// The server's name as the first part of an address, which no other server behind the same gateway should have.
    pub fn place(&self) -> &str {
        &self.0.place.0
    }

    /// The addresses of texts that are kept, as a template.
    pub fn text_template(&self) -> String {
        self.0.place.text("{id}")
    }

    /// The same of bytes.
    pub fn file_template(&self) -> String {
        self.0.place.file("{id}")
    }

    /// The address of the API.
    pub fn base(&self) -> &str {
        self.0.base.as_str()
    }
}

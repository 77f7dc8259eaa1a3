//! How a conversation with an upstream begins: its era, its revision, what it says of itself.

use std::sync::Arc;
use std::time::Duration;

use net::client::negotiation::{Negotiation, first_request, newest, server_info};
use serde_json::{Value, json};
use tokio::time::timeout;
use wire::{Era, Kind, Message, Revision, meta};

use super::core::{Carrier, Core, Event};
use super::flight::{Flight, Sending};
use super::http;
use super::trouble::Trouble;

/// How long a server over a pipe or a WebSocket may leave `server/discover` unanswered before it gets `initialize`, too: some legacy servers
/// ignore what they do not know.
const SILENCE: Duration = Duration::from_secs(3);

/// How much of what a server says is quoted where it refuses to begin, in characters.
const QUOTED: usize = 300;

/// What an upstream says of itself.
#[derive(Debug, PartialEq)]
pub(crate) struct Profile {
    /// The revision spoken.
    pub(crate) revision: Revision,
    /// Its name and version.
    pub(crate) server: Value,
    /// What it declares.
    pub(crate) capabilities: Value,
    /// How to use it.
    pub(crate) instructions: Option<String>,
}

impl Profile {
    fn of(revision: Revision, result: &Value) -> Self {
        Self {
            revision,
            server: server_info(revision, result).cloned().unwrap_or_else(|| json!({ "name": "", "version": "" })),
            capabilities: result.get("capabilities").cloned().unwrap_or_else(|| json!({})),
            instructions: result.get("instructions").and_then(Value::as_str).map(str::to_owned),
        }
    }

    /// What may be said of a server that is withheld as a whole: which lists there are, and no text of it.
    pub(crate) fn without_texts(&self, server: Value) -> Self {
        let flags = |declared: &Value| -> Value {
            let flag =
                |name: &str| declared.get(name).is_some_and(|flag| *flag == true).then(|| (name.to_owned(), true));
            ["listChanged", "subscribe"].into_iter().filter_map(flag).collect()
        };
        let shown = |name: &str| Some((name.to_owned(), flags(self.capabilities.get(name)?)));
        let capabilities = ["tools", "prompts", "resources", "completions"].into_iter().filter_map(shown).collect();
        Self { revision: self.revision, server, capabilities, instructions: None }
    }

    /// Whether it declares the capability at this path.
    pub(crate) fn declares(&self, path: &[&str]) -> bool {
        let found = path.iter().try_fold(&self.capabilities, |at, name| at.get(name));
        found.is_some_and(|found| *found != Value::Bool(false) && !found.is_null())
    }

    /// Whether its calls may become tasks of the extension.
    pub(crate) fn makes_tasks(&self) -> bool {
        self.revision.era() == Era::Modern && self.declares(&["extensions", meta::TASKS_EXTENSION])
    }

    /// Whether calls of its tools may become tasks of 2025-11-25.
    pub(crate) fn makes_older_tasks(&self) -> bool {
        self.revision == Revision::R2025_11_25 && self.declares(&["tasks", "requests", "tools", "call"])
    }
}

/// Who opens the conversation.
pub(crate) struct Opener<'a> {
    /// `clientInfo`.
    pub(crate) client: &'a Value,
    /// `capabilities`.
    pub(crate) capabilities: &'a Value,
    /// The revision to speak; `None` to find it out.
    pub(crate) revision: Option<Revision>,
    /// How long an answer may take.
    pub(crate) patience: Duration,
}

impl Opener<'_> {
    /// Opens the conversation on `core`.
    pub(crate) async fn open(&self, core: &Arc<Core>) -> Result<Profile, Trouble> {
        // HTTP+SSE is older than the modern era.
        let old = matches!(core.carrier, Carrier::Sse(_));
        let first = self.revision.unwrap_or(if old { Revision::NEWEST_LEGACY } else { Revision::NEWEST });
        let profile = match first.era() {
            Era::Modern => self.discover(core, first).await?,
            Era::Legacy => self.initialize(core, first).await?,
        };
        let _ = core.revision.set(profile.revision);
        if profile.revision.era() == Era::Legacy {
            core.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await?;
            if matches!(core.carrier, Carrier::Http(_)) {
                http::open_listening(core).await;
            }
        }
        Ok(profile)
    }

    async fn discover(&self, core: &Arc<Core>, revision: Revision) -> Result<Profile, Trouble> {
        let asked = self.ask(core, revision);
        let over_pipe = !matches!(core.carrier, Carrier::Http(_));
        let answer = if over_pipe && self.revision.is_none() {
            match timeout(SILENCE, asked).await {
                Ok(answer) => answer,
                Err(_) => return self.initialize(core, Revision::NEWEST_LEGACY).await,
            }
        } else {
            asked.await
        };
        // Once more at a version that the refusal lists (2026-07-28, basic/versioning).
        let answer = match self.listed_by(&answer) {
            Some(listed) => self.ask(core, listed).await,
            None => answer,
        };
        let legacy = match &answer {
            // Also what older servers answer to a request without a session.
            Err(Trouble::Status { status: 400..=499, .. }) => true,
            Ok(answer) => match Negotiation::read(answer, Era::Modern) {
                Negotiation::Introduced(versions) => {
                    return match (newest(&versions, Era::Modern), answer.result()) {
                        (Some(revision), Some(result)) => Ok(Profile::of(revision, result)),
                        _ => self.initialize(core, Revision::NEWEST_LEGACY).await,
                    };
                }
                Negotiation::VersionRefused(versions) => newest(&versions, Era::Modern).is_none(),
                Negotiation::ModernError => false,
                Negotiation::OtherError => true,
            },
            Err(_) => false,
        };
        match answer {
            _ if legacy && self.revision.is_none() => self.initialize(core, Revision::NEWEST_LEGACY).await,
            Err(trouble) => Err(trouble),
            Ok(answer) => Err(refused(&answer)),
        }
    }

    /// The version that a server offers in place of the one that it refuses.
    fn listed_by(&self, answer: &Result<Message, Trouble>) -> Option<Revision> {
        let Negotiation::VersionRefused(versions) = Negotiation::read(answer.as_ref().ok()?, Era::Modern) else {
            return None;
        };
        newest(&versions, Era::Modern).filter(|listed| self.revision.is_none_or(|wanted| wanted == *listed))
    }

    async fn initialize(&self, core: &Arc<Core>, revision: Revision) -> Result<Profile, Trouble> {
        let answer = self.ask(core, revision).await?;
        match Negotiation::read(&answer, Era::Legacy) {
            Negotiation::Introduced(versions) => {
                if let (Some(revision), Some(result)) = (newest(&versions, Era::Legacy), answer.result()) {
                    return Ok(Profile::of(revision, result));
                }
                let named = wire::escape::snippet(&versions.join(", "), QUOTED);
                Err(Trouble::NotSent(format!("it speaks no revision that is known here, but {named}")))
            }
            _ => Err(refused(&answer)),
        }
    }

    async fn ask(&self, core: &Arc<Core>, revision: Revision) -> Result<Message, Trouble> {
        let (method, params) = first_request(revision, self.client, self.capabilities);
        let text = json!({ "jsonrpc": "2.0", "id": 0, "method": method, "params": params }).to_string();
        let answered = async {
            let mut flight = Flight::start(core, method, &text, Sending::default(), 16 << 20).await?;
            loop {
                if let Event::Response(message) = flight.next(16 << 20).await? {
                    return Ok(message);
                }
            }
        };
        timeout(self.patience, answered).await.unwrap_or(Err(Trouble::Timeout(self.patience)))
    }
}

fn refused(answer: &Message) -> Trouble {
    let message = answer.error().and_then(|error| error.get("message")?.as_str()).unwrap_or("an unexpected answer");
    debug_assert!(answer.kind() == Kind::Error || answer.kind() == Kind::Result);
    Trouble::NotSent(format!("it refused to begin: {}", wire::escape::snippet(message, QUOTED)))
}

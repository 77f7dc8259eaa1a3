//! Log messages to the client: the level a session sets (legacy) or a request asks for (modern) (server/utilities/logging).

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use net::service::{Call, RpcError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wire::Era;

use crate::answer::Handled;
use crate::order::UsedIds;
use crate::params;
use crate::subscriptions::Watched;

/// Syslog severities, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// What only a developer wants to see.
    Debug,
    /// What happens as it should.
    Info,
    /// What is normal and worth knowing.
    Notice,
    /// What may become a mistake.
    Warning,
    /// What failed.
    Error,
    /// What failed and takes other things with it.
    Critical,
    /// What someone must see to at once.
    Alert,
    /// What makes everything unusable.
    Emergency,
}

impl Level {
    /// Every level, least first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];
}

/// What the server keeps for a legacy session.
#[derive(Default)]
pub(crate) struct SessionState {
    level: Mutex<Option<Level>>,
    pub(crate) watched: Watched,
    /// The ids of its requests, where the server is strict.
    pub(crate) used_ids: UsedIds,
    /// The model it selected, by its place in the catalogue.
    pub(crate) model: AtomicUsize,
    /// Whether its user was sent to a page, and came back (2025-11-25).
    pub(crate) visit: Mutex<Visit>,
}

/// How it stands with a page that has to be visited first.
#[derive(Default)]
pub(crate) enum Visit {
    /// Nobody was told of it.
    #[default]
    Pending,
    /// The elicitation of this id told of it.
    Announced(String),
    /// It is over.
    Over,
}

#[derive(Deserialize)]
struct Params {
    level: Level,
}

/// `logging/setLevel`
pub(crate) fn set_level(call: &Call) -> Handled {
    params::meta(call)?;
    let Params { level } = params::read(call)?;
    let session = call.context.session.as_ref().ok_or_else(|| RpcError::internal("A session is needed"))?;
    *session.state::<SessionState>().level.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(level);
    Ok(json!({}))
}

/// The least level this request's messages may have; `None` where the client wants none.
fn threshold(call: &Call) -> Option<Level> {
    match call.context.era() {
        Era::Modern => {
            let level = params::meta(call).ok()?.log_level?;
            serde_json::from_value(Value::String(level)).ok()
        }
        Era::Legacy => {
            let state = call.context.session.as_ref()?.state::<SessionState>();
            let level = *state.level.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            Some(level.unwrap_or(Level::Info))
        }
    }
}

/// The parameters of a message that belongs to `call`, where the client wants it.
pub(crate) fn message(call: &Call, level: Level, data: &Value) -> Option<Value> {
    let wanted = threshold(call).is_some_and(|least| level >= least);
    wanted.then(|| json!({ "level": level, "logger": "reference", "data": data }))
}

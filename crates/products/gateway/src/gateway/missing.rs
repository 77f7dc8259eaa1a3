//! What is missing from an answer that several servers give together: a server that is down or slow spoils nothing, and the
//! answer names it.

use std::time::Duration;

use net::service::RpcError;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::Inner;
use crate::failure;
use crate::upstream::{Trouble, Upstream};

/// The member of `_meta` that names what is missing.
const MISSING: &str = "dev.proofhouse/missing";
/// How long a server is waited for that was too slow a moment ago.
const SLOW: Duration = Duration::from_secs(1);

/// A server whose part is missing.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    server: String,
    reason: String,
    /// For who cannot do without it.
    trouble: Trouble,
    late: bool,
}

impl Missing {
    /// Whether it is this server.
    pub(crate) fn is(&self, server: &str) -> bool {
        self.server == server
    }

    /// Whether it only was too slow.
    pub(super) const fn is_late(&self) -> bool {
        self.late
    }

    /// Whether it is the part of this server.
    pub(super) fn is_of(&self, server: &str) -> bool {
        self.server == server
    }

    /// Whether its user has to consent first.
    pub(super) fn needs_consent(&self) -> bool {
        needs_consent(&self.trouble)
    }

    /// The error where there is nothing else to show.
    pub(super) fn error(&self) -> RpcError {
        self.trouble.error(&self.server)
    }
}

impl Inner {
    /// One server's part of an answer, for `what`. Several servers have the time of a list; one alone has `alone`.
    pub(super) async fn part<T>(
        &self,
        upstream: &Upstream,
        what: &str,
        alone: Duration,
        asked: impl Future<Output = Result<T, Trouble>>,
    ) -> Result<T, Missing> {
        let patience = match self.upstreams.len() {
            1 => alone,
            _ if upstream.is_slow() => self.limits.list.min(SLOW),
            _ => self.limits.list,
        };
        let answered = timeout(patience, asked).await;
        let late = answered.is_err();
        upstream.note_slow(late);
        let trouble = match answered {
            Ok(Ok(part)) => {
                upstream.note_part();
                return Ok(part);
            }
            Ok(Err(trouble)) => trouble,
            Err(_) => Trouble::Timeout(patience),
        };
        // What one user may not have says nothing of the server.
        if !upstream.is_per_user() || !matches!(trouble, Trouble::Refused(_)) {
            upstream.note_missed();
        }
        let reason = trouble.reason();
        if needs_consent(&trouble) {
            // The reason has the address, which is the user's alone.
            tracing::debug!(upstream = upstream.name, answer = what, "left out: its user has to consent");
        } else {
            tracing::warn!(upstream = upstream.name, answer = what, "left out: {reason}");
        }
        // Nothing was to be run.
        let trouble = match trouble {
            Trouble::Unknown(_) | Trouble::Timeout(_) => Trouble::NotSent(reason.clone()),
            trouble => trouble,
        };
        Err(Missing { server: upstream.name.clone(), reason, trouble, late })
    }
}

/// Whether it is for want of a consent, or because nobody knows of one.
fn needs_consent(trouble: &Trouble) -> bool {
    let Trouble::Refused(RpcError { data: Some(data), .. }) = trouble else { return false };
    [failure::CONSENT_NEEDED.name, failure::STORE_AWAY.name].iter().any(|name| data["failure"] == *name)
}

/// The error for a name that nobody listed. While a list is missing, nothing says that the name does not exist.
pub(super) fn unknown(kind: &str, name: &str, missing: &[Missing]) -> RpcError {
    let name = wire::escape::line(name);
    if missing.is_empty() {
        return failure::ITEM_UNKNOWN.error(format!("Unknown {kind}: {name}"));
    }
    if let Some(one) = missing.iter().find(|one| one.needs_consent()) {
        return one.error();
    }
    let servers: Vec<_> = missing.iter().map(|one| format!("`{}`", one.server)).collect();
    let what = format!("No server has listed the {kind} `{name}`, but there is no list from {}", servers.join(", "));
    failure::LIST_MISSING.error(what)
}

/// Says in a result what is missing.
pub(super) fn note(body: &mut Value, missing: &[Missing]) {
    if missing.is_empty() {
        return;
    }
    let named: Vec<_> = missing.iter().map(|one| json!({ "server": one.server, "reason": one.reason })).collect();
    match body.get_mut("_meta").and_then(Value::as_object_mut) {
        Some(meta) => {
            meta.insert(MISSING.to_owned(), Value::from(named));
        }
        None => body["_meta"] = json!({ MISSING: named }),
    }
}

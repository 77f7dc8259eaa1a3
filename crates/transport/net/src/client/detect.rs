//! Which transport and which revisions a peer serves, by the specification's compatibility sections (2026-07-28
//! basic/versioning#backward-compatibility-with-initialization-based-versions, basic/transports/stdio and streamable-http,
//! and 2025-11-25 basic/transports#backwards-compatibility). Every revision is offered on a connection of its own, since
//! one answer tells only what the peer likes best. What else the answers say is not judged here.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::Value;
use tokio::sync::Semaphore;
use url::Url;
use wire::trace::{Header, Trace};
use wire::{Era, Revision, Transport};

use super::attempt::{Attempt, Outcome, Pace, attempt};
use super::{Address, ConnectOptions, HttpAddress, Limits, OpenError};
use crate::tap::Tap;

/// How many processes may run at a time.
const PROCESSES: usize = 4;
/// How many redirects within one origin are followed.
const REDIRECTS: usize = 3;
/// What a child gets to end here; `check` looks at its manners later, with all the time they are due.
const SHUTDOWN: Duration = Duration::from_millis(300);
/// What one attempt may take in: a greeting is short, and several are made side by side. A single message may still be as
/// long as the limits allow.
const BYTES: usize = 4 << 20;
/// The codes by which a modern server refuses a request (2026-07-28 basic/index#error-codes): header mismatch, missing
/// client capability, unsupported protocol version.
const MODERN_ERRORS: [i64; 3] = [-32020, -32021, UNSUPPORTED_VERSION];
const UNSUPPORTED_VERSION: i64 = -32022;

/// What a peer serves.
#[derive(Clone, Debug)]
pub struct Detected {
    /// Where it is: the address given, redirects followed, the old transport's where that is what answers.
    pub address: Address,
    /// What carries it.
    pub transport: Transport,
    /// The revisions it serves, oldest first; never empty.
    pub revisions: Vec<Revision>,
    /// How it introduced itself in each of them, in the same order.
    pub introductions: Vec<Introduction>,
    /// Versions it names that we do not know.
    pub unknown: Vec<String>,
    /// Everything that crossed.
    pub evidence: Vec<Trace>,
}

/// What a peer says about itself in one revision.
#[derive(Clone, Debug, PartialEq)]
pub struct Introduction {
    /// The revision.
    pub revision: Revision,
    /// The result of `initialize` or `server/discover`; null where a modern error told the era.
    pub result: Value,
}

impl Introduction {
    /// `name` of the server's description of itself.
    pub fn name(&self) -> Option<&str> {
        self.info()?.get("name")?.as_str()
    }

    /// `version` of the server's description of itself.
    pub fn version(&self) -> Option<&str> {
        self.info()?.get("version")?.as_str()
    }

    /// What it declares.
    pub fn capabilities(&self) -> &Value {
        self.result.get("capabilities").unwrap_or(&Value::Null)
    }

    /// What it says to models.
    pub fn instructions(&self) -> Option<&str> {
        self.result.get("instructions")?.as_str()
    }

    fn info(&self) -> Option<&Value> {
        match self.revision.era() {
            Era::Legacy => self.result.get("serverInfo"),
            Era::Modern => self.result.get("_meta")?.get("io.modelcontextprotocol/serverInfo"),
        }
    }
}

/// Finds out what `address` serves. An [`Address::Http`] may turn out to be of the old transport. Each attempt writes into
/// a tap of its own, made by `new_tap`.
pub async fn detect(
    address: &Address,
    options: &ConnectOptions,
    new_tap: impl Fn(Header) -> Tap,
) -> Result<Detected, OpenError> {
    // Every answer here is the first one.
    let limits = &options.limits;
    let first = if address.transport() == Transport::Stdio { limits.start } else { Duration::ZERO };
    let limits = Limits {
        request: limits.request.max(first),
        shutdown: limits.shutdown.min(SHUTDOWN),
        trace_bytes: limits.trace_bytes.min(BYTES),
        ..limits.clone()
    };
    let options = ConnectOptions { limits, ..options.clone() };
    let mut found = Findings { new_tap: &new_tap, options, evidence: Vec::new(), unknown: Vec::new() };
    let mut address = address.clone();
    let mut attempts = found.round(&address).await;
    for hop in 0.. {
        let Some(to) = attempts.iter().find_map(Attempt::redirect) else { break };
        address = follow(&address, &to, hop)?;
        attempts = found.round(&address).await;
    }
    let mut introductions = found.served(&attempts);
    if introductions.is_empty()
        && let Address::Http(http) = &address
        && attempts.iter().any(Attempt::suggests_old_transport)
    {
        let old = Address::Sse(http.clone());
        let older = found.round(&old).await;
        introductions = found.served(&older);
        if !introductions.is_empty() {
            address = old;
        }
    }
    if introductions.is_empty() {
        return Err(found.failure(&address, attempts));
    }
    introductions.sort_by_key(|introduction| introduction.revision);
    let revisions = introductions.iter().map(|introduction| introduction.revision).collect();
    let Findings { unknown, evidence, .. } = found;
    Ok(Detected { transport: address.transport(), address, revisions, introductions, unknown, evidence })
}

/// The address a redirect leads to, the `hop`th from 0. Another origin is the user's to decide on.
pub fn follow(address: &Address, to: &str, hop: usize) -> Result<Address, OpenError> {
    let (Address::Http(http) | Address::Sse(http) | Address::WebSocket(http)) = address else {
        return Ok(address.clone());
    };
    let (at, to) = (http.url.to_string(), to.to_owned());
    let url: Url = match http.url.join(&to) {
        Ok(url) if hop < REDIRECTS => url,
        _ => return Err(OpenError::RedirectLoop { at, to }),
    };
    if url.origin() != http.url.origin() {
        return Err(OpenError::Redirected { at, to: url.to_string() });
    }
    Ok(Address::Http(HttpAddress { url, ..http.clone() }))
}

struct Findings<'f, F> {
    new_tap: &'f F,
    options: ConnectOptions,
    evidence: Vec<Trace>,
    unknown: Vec<String>,
}

impl<F: Fn(Header) -> Tap> Findings<'_, F> {
    /// Offers every revision that the transport carries, side by side, the newest first.
    async fn round(&mut self, address: &Address) -> Vec<Attempt> {
        let transport = address.transport();
        let offers: Vec<Revision> = Revision::ALL.into_iter().rev().filter(|r| transport.carries(*r)).collect();
        let mut attempts = self.offer(address, &offers).await;
        // A server that can run only once at a time ends at once where another of its kind runs: it is tried alone.
        if attempts.iter().any(|attempt| matches!(attempt.outcome, Outcome::Result(_))) {
            for attempt in attempts.iter_mut().filter(|attempt| attempt.exited()) {
                if let Some(alone) = self.offer(address, &[attempt.revision]).await.pop() {
                    *attempt = alone;
                }
            }
        }
        attempts
    }

    async fn offer(&mut self, address: &Address, offers: &[Revision]) -> Vec<Attempt> {
        let (pace, processes) = (Pace::default(), Semaphore::new(PROCESSES));
        let begun = Instant::now();
        let tries = offers.iter().map(|&revision| {
            let tap = (self.new_tap)(Header::server(address.transport(), revision, "detect"));
            let (options, pace, processes) = (&self.options, &pace, &processes);
            let limits = &options.limits;
            async move {
                // Never closed, so it cannot fail; and without a permit nothing worse happens than one process more.
                let _permit = processes.acquire().await;
                if pace.borrow().is_none() && begun.elapsed() >= limits.request {
                    return Attempt::in_vain(address, revision, limits.request);
                }
                attempt(address, revision, tap, options, pace).await
            }
        });
        let mut attempts = join_all(tries).await;
        self.evidence.extend(attempts.iter_mut().filter_map(|attempt| attempt.trace.take()));
        attempts
    }

    fn served(&mut self, attempts: &[Attempt]) -> Vec<Introduction> {
        attempts.iter().filter_map(|attempt| self.introduction(attempt)).collect()
    }

    fn introduction(&mut self, attempt: &Attempt) -> Option<Introduction> {
        let revision = attempt.revision;
        let (result, named) = match (&attempt.outcome, revision.era()) {
            (Outcome::Result(result), Era::Legacy) => (result.clone(), versions(&result["protocolVersion"])),
            (Outcome::Result(result), Era::Modern) => (result.clone(), versions(&result["supportedVersions"])),
            (Outcome::Error(error), Era::Modern) => match error["code"].as_i64() {
                Some(UNSUPPORTED_VERSION) => (Value::Null, versions(&error["data"]["supported"])),
                Some(code) if MODERN_ERRORS.contains(&code) => (Value::Null, vec![revision.to_string()]),
                _ => return None,
            },
            _ => return None,
        };
        let unknown = named.iter().filter(|version| version.parse::<Revision>().is_err());
        self.unknown.extend(unknown.cloned());
        self.unknown.sort();
        self.unknown.dedup();
        named.iter().any(|version| version == revision.as_str()).then_some(Introduction { revision, result })
    }

    /// The failure that tells most.
    fn failure(&self, address: &Address, attempts: Vec<Attempt>) -> OpenError {
        let at = address.to_string();
        if !self.unknown.is_empty() {
            return OpenError::NoCommonRevision { at, offered: self.unknown.clone() };
        }
        let declined = attempts.iter().find_map(|attempt| match &attempt.outcome {
            Outcome::Error(error) => Some(error["message"].as_str().unwrap_or_default().to_owned()),
            Outcome::Result(result) => Some(format!("an unexpected result: {result}")),
            Outcome::Nothing(_) => None,
        });
        if let Some(came) = declined {
            return OpenError::Declined { at, came };
        }
        let mut refused: Vec<Revision> =
            attempts.iter().filter(|attempt| attempt.is_unauthorized()).map(|a| a.revision).collect();
        refused.sort();
        let errors = attempts.into_iter().filter_map(|attempt| match attempt.outcome {
            Outcome::Nothing(error) => Some(error),
            _ => None,
        });
        let told = errors.max_by_key(OpenError::specificity);
        match told {
            Some(OpenError::Unauthorized { at, snippet, .. }) => {
                OpenError::Unauthorized { at, snippet, revisions: refused }
            }
            Some(error) => error,
            None => OpenError::Timeout { at, waited_for: "answer", after: self.options.limits.request },
        }
    }
}

/// One version or a list of them.
fn versions(value: &Value) -> Vec<String> {
    match value {
        Value::String(version) => vec![version.clone()],
        Value::Array(versions) => versions.iter().filter_map(|v| v.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}

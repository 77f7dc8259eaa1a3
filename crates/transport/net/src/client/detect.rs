//! Which transport and which revisions a peer serves, by the specification's compatibility sections (2026-07-28
//! basic/versioning#backward-compatibility-with-initialization-based-versions, 2025-11-25
//! basic/transports#backwards-compatibility). Each revision is offered on a connection of its own: one answer shows only the
//! revision that the peer prefers. How an answer is read is [`super::negotiation`]'s. Nothing is judged here.

mod newest;

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use url::Url;
use wire::trace::{Header, Trace};
use wire::{Era, Revision, Transport};

use super::attempt::{Attempt, Offer, Outcome, Pace, SHUTDOWN, attempt};
use super::negotiation::{Negotiation, declined, server_info};
use super::{Address, ConnectOptions, HttpAddress, Limits, OpenError};
use crate::tap::Tap;
pub use newest::{Newest, detect_newest, detect_older};

/// How many processes may run at a time.
const PROCESSES: usize = 4;
/// How many redirects within one origin are followed.
const REDIRECTS: usize = 3;
/// How much one attempt may record: the first answer is short, and several attempts run at once. A single message may still
/// be as long as the limits allow.
const BYTES: usize = 4 << 20;

/// How a peer greets in a revision that it does not agree to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherGreeting {
    /// It names the versions that it speaks instead.
    Refused,
    /// A result that names no version which a client could use.
    WithoutVersion,
    /// An error that says nothing of versions, with its code where it has one.
    Error(Option<i64>),
}

/// What a peer serves.
#[derive(Clone, Debug)]
pub struct Detected {
    /// Where it is: the address given, redirects followed, the old transport's where that is what answers.
    pub address: Address,
    /// What carries it.
    pub transport: Transport,
    /// The revisions it serves, oldest first; empty only from [`detect_any`].
    pub revisions: Vec<Revision>,
    /// How it introduced itself in each of them, in the same order.
    pub introductions: Vec<Introduction>,
    /// How it greets in the revisions that it answers and does not agree to, oldest first.
    pub others: Vec<(Revision, OtherGreeting)>,
    /// Versions it names that are not known here.
    pub unknown: Vec<String>,
    /// The traces of all attempts.
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

    /// Its capabilities.
    pub fn capabilities(&self) -> &Value {
        self.result.get("capabilities").unwrap_or(&Value::Null)
    }

    /// Its instructions for models.
    pub fn instructions(&self) -> Option<&str> {
        self.result.get("instructions")?.as_str()
    }

    fn info(&self) -> Option<&Value> {
        server_info(self.revision, &self.result)
    }
}

/// Finds out what `address` serves. An [`Address::Http`] may turn out to be of the old transport. Each attempt writes into
/// a tap of its own, made by `new_tap`.
pub async fn detect(
    address: &Address,
    options: &ConnectOptions,
    new_tap: impl Fn(Header) -> Tap,
) -> Result<Detected, OpenError> {
    let (detected, failure) = detect_any(address, options, new_tap).await?;
    failure.map_or(Ok(detected), Err)
}

/// The same for who can use a peer that answers in MCP's manner and agrees to no revision: also why it cannot be used.
pub async fn detect_any(
    address: &Address,
    options: &ConnectOptions,
    new_tap: impl Fn(Header) -> Tap,
) -> Result<(Detected, Option<OpenError>), OpenError> {
    let mut detection = Detection::new(address, options, &new_tap);
    let mut address = address.clone();
    let mut attempts = detection.round(&address).await;
    for hop in 0.. {
        let Some(to) = attempts.iter().find_map(Attempt::redirect) else { break };
        address = follow(&address, &to, hop)?;
        attempts = detection.round(&address).await;
    }
    let mut introductions = detection.served(&attempts);
    if introductions.is_empty()
        && let Address::Http(http) = &address
        && attempts.iter().any(Attempt::suggests_old_transport)
    {
        let old = Address::Sse(http.clone());
        let older = detection.round(&old).await;
        introductions = detection.served(&older);
        if !introductions.is_empty() {
            address = old;
        }
    }
    detection.conclude(address, attempts, introductions)
}

/// How a peer greets in a revision that it answers and does not agree to.
fn other_greeting(attempt: &Attempt) -> Option<(Revision, OtherGreeting)> {
    let Outcome::Answer(answer) = &attempt.outcome else { return None };
    let revision = attempt.revision;
    let greeting = match Negotiation::read(answer, revision.era()) {
        Negotiation::ModernError => return None,
        Negotiation::Introduced(named) | Negotiation::VersionRefused(named)
            if named.iter().any(|version| version == revision.as_str()) =>
        {
            return None;
        }
        Negotiation::Introduced(named) if !named.iter().any(|version| is_usable(version, revision.era())) => {
            OtherGreeting::WithoutVersion
        }
        Negotiation::VersionRefused(named) if named.is_empty() => OtherGreeting::Error(answer.error_code()),
        Negotiation::Introduced(_) | Negotiation::VersionRefused(_) => OtherGreeting::Refused,
        Negotiation::OtherError => OtherGreeting::Error(answer.error_code()),
    };
    Some((revision, greeting))
}

/// Whether a client can use a version that a greeting of `era` names: one of the era, or one that a newer client may know.
fn is_usable(version: &str, era: Era) -> bool {
    let is_date = version.len() == 10
        && version
            .bytes()
            .enumerate()
            .all(|(at, byte)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() });
    version.parse::<Revision>().map_or(is_date, |revision| revision.era() == era)
}

/// The address that a redirect leads to; `hop` counts redirects from 0. Redirects to another origin are not followed.
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

struct Detection<'f, F> {
    new_tap: &'f F,
    options: ConnectOptions,
    evidence: Vec<Trace>,
    unknown: Vec<String>,
}

impl<'f, F: Fn(Header) -> Tap> Detection<'f, F> {
    fn new(address: &Address, options: &ConnectOptions, new_tap: &'f F) -> Self {
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
        Self { new_tap, options, evidence: Vec::new(), unknown: Vec::new() }
    }

    /// What these attempts, and what was served in them or before, come to.
    fn conclude(
        self,
        address: Address,
        attempts: Vec<Attempt>,
        mut introductions: Vec<Introduction>,
    ) -> Result<(Detected, Option<OpenError>), OpenError> {
        let mut others: Vec<_> = attempts.iter().filter_map(other_greeting).collect();
        others.sort_by_key(|(revision, _)| *revision);
        let mut failure = None;
        if introductions.is_empty() {
            let error = self.failure(&address, attempts);
            if others.is_empty() {
                return Err(error);
            }
            failure = Some(error);
        }
        introductions.sort_by_key(|introduction| introduction.revision);
        let revisions = introductions.iter().map(|introduction| introduction.revision).collect();
        let Self { unknown, evidence, .. } = self;
        let transport = address.transport();
        Ok((Detected { address, transport, revisions, introductions, others, unknown, evidence }, failure))
    }

    /// Offers every revision that the transport carries, concurrently, the newest first.
    async fn round(&mut self, address: &Address) -> Vec<Attempt> {
        let transport = address.transport();
        let offers: Vec<Revision> = Revision::ALL.into_iter().rev().filter(|r| transport.carries(*r)).collect();
        let attempts = self.offer(address, &offers).await;
        self.retried(address, attempts).await
    }

    /// The attempts, with those repeated alone that others may have disturbed.
    async fn retried(&mut self, address: &Address, mut attempts: Vec<Attempt>) -> Vec<Attempt> {
        // A server that cannot run twice at a time exits while another instance runs: retry it alone.
        if attempts.iter().any(|attempt| attempt.has_result()) {
            for attempt in attempts.iter_mut().filter(|attempt| attempt.exited()) {
                if let Some(alone) = self.offer(address, &[attempt.revision]).await.pop() {
                    *attempt = alone;
                }
            }
        }
        self.ask_again_alone(address, &mut attempts).await;
        // On a busy machine one process may be slower than its siblings: retry alone what they name and it did not answer.
        let named: Vec<Revision> = attempts.iter().flat_map(Attempt::named).collect();
        let unanswered = |attempt: &&mut Attempt| attempt.timed_out() && named.contains(&attempt.revision);
        for attempt in attempts.iter_mut().filter(unanswered) {
            if let Some(alone) = self.offer(address, &[attempt.revision]).await.pop() {
                *attempt = alone;
            }
        }
        attempts
    }

    /// Where errors are all that came, and some offers got no answer in time, those may have been too slow beside the others:
    /// an error to one era's greeting says nothing of the other era.
    async fn ask_again_alone(&mut self, address: &Address, attempts: &mut [Attempt]) {
        if attempts.iter().any(Attempt::has_result) || !attempts.iter().any(Attempt::is_answered) {
            return;
        }
        for attempt in attempts.iter_mut().filter(|attempt| attempt.timed_out()) {
            let Some(alone) = self.offer(address, &[attempt.revision]).await.pop() else { continue };
            let (is_silent, agrees) = (!alone.is_answered(), alone.has_result());
            *attempt = alone;
            // Either is the same for the others; those that a result names are asked again later.
            if is_silent || agrees {
                return;
            }
        }
    }

    async fn offer(&mut self, address: &Address, offers: &[Revision]) -> Vec<Attempt> {
        let attempts = self.offered(address, offers, &Pace::default(), Instant::now()).await;
        self.with_evidence(attempts)
    }

    /// Offers these side by side. All time counts from `begun`.
    async fn offered(&self, address: &Address, offers: &[Revision], pace: &Pace, begun: Instant) -> Vec<Attempt> {
        let processes = Semaphore::new(PROCESSES);
        let late = begun.elapsed();
        let tries = offers.iter().map(|&revision| {
            let tap = self.tap(address, revision);
            let (options, processes) = (&self.options, &processes);
            let limit = options.limits.request;
            let patience = limit.saturating_sub(late);
            async move {
                // The semaphore is never closed; without a permit one process more would run, no worse.
                let _permit = processes.acquire().await;
                if pace.borrow().is_none() && begun.elapsed() >= limit {
                    return Attempt::skipped(address, revision, limit);
                }
                let offer = Offer { revision, capabilities: json!({}), patience, keep: false };
                attempt(address, &offer, tap, options, pace).await.0
            }
        });
        join_all(tries).await
    }

    fn tap(&self, address: &Address, revision: Revision) -> Tap {
        (self.new_tap)(Header::server(address.transport(), revision, "detect"))
    }

    fn with_evidence(&mut self, mut attempts: Vec<Attempt>) -> Vec<Attempt> {
        self.evidence.extend(attempts.iter_mut().filter_map(|attempt| attempt.trace.take()));
        attempts
    }

    fn served(&mut self, attempts: &[Attempt]) -> Vec<Introduction> {
        attempts.iter().filter_map(|attempt| self.introduction(attempt)).collect()
    }

    fn introduction(&mut self, attempt: &Attempt) -> Option<Introduction> {
        let revision = attempt.revision;
        let Outcome::Answer(answer) = &attempt.outcome else { return None };
        let (result, named) = match Negotiation::read(answer, revision.era()) {
            Negotiation::Introduced(versions) => (answer.result().cloned().unwrap_or_default(), versions),
            Negotiation::VersionRefused(versions) if revision.era() == Era::Modern => (Value::Null, versions),
            Negotiation::ModernError => (Value::Null, vec![revision.to_string()]),
            Negotiation::VersionRefused(_) | Negotiation::OtherError => return None,
        };
        let unknown = named.iter().filter(|version| version.parse::<Revision>().is_err());
        self.unknown.extend(unknown.cloned());
        self.unknown.sort();
        self.unknown.dedup();
        named.iter().any(|version| version == revision.as_str()).then_some(Introduction { revision, result })
    }

    /// The most specific failure.
    fn failure(&self, address: &Address, attempts: Vec<Attempt>) -> OpenError {
        let at = address.to_string();
        if !self.unknown.is_empty() {
            return OpenError::NoCommonRevision { at, offered: self.unknown.clone() };
        }
        let answered = attempts.iter().find_map(|attempt| match &attempt.outcome {
            Outcome::Answer(answer) => Some((attempt.revision.era(), answer)),
            Outcome::NoAnswer(_) => None,
        });
        // An error to `server/discover` declines nothing of an era that did not answer in time.
        let is_late = |attempt: &Attempt| attempt.revision.era() == Era::Legacy && attempt.timed_out();
        let answers_legacy = attempts.iter().any(|a| a.revision.era() == Era::Legacy && a.is_answered());
        if let Some((era, answer)) = answered
            && (era == Era::Legacy || answers_legacy || !attempts.iter().any(is_late))
        {
            return declined(at, answer);
        }
        let mut refused: Vec<Revision> =
            attempts.iter().filter(|attempt| attempt.is_unauthorized()).map(|a| a.revision).collect();
        refused.sort();
        let errors = attempts.into_iter().filter_map(|attempt| match attempt.outcome {
            Outcome::NoAnswer(error) => Some(error),
            Outcome::Answer(_) => None,
        });
        let error = errors.max_by_key(|error| (error.specificity(), error.waited()));
        match error {
            Some(OpenError::Unauthorized { at, snippet, .. }) => {
                OpenError::Unauthorized { at, snippet, revisions: refused }
            }
            Some(error) => error,
            None => OpenError::Timeout { at, waited_for: "answer", after: self.options.limits.request },
        }
    }
}

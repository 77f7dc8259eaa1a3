//! The newest revision of each era, offered to a command: two processes in place of one for each revision. Most servers agree
//! to the newest of the legacy era; to those that do not, the older ones are offered, too.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;
use wire::trace::Header;
use wire::{Era, RequestId, Revision};

use super::super::attempt::{Attempt, Greeted, Offer, Pace, SHUTDOWN, attempt, first_message};
use super::super::negotiation::Negotiation;
use super::super::{Address, ConnectOptions, Connection, OpenError};
use super::{Detected, Detection};
use crate::tap::Tap;

/// How long the older revisions wait for the answer to the newest.
const ALONE: Duration = Duration::from_secs(8);

/// How long the answer to a further greeting may take.
const FURTHER: Duration = Duration::from_secs(2);

/// What a command serves of the newest of each era.
pub struct Newest {
    /// What it serves, of what was offered.
    pub detected: Detected,
    /// Why it cannot be used, where it answers and agrees to nothing.
    pub failure: Option<OpenError>,
    /// The connections on which it agreed. They are still open.
    pub greeted: Vec<Greeted>,
    /// The older revisions that were not offered, the newest first: the server agreed to a newer one of their era.
    pub untried: Vec<Revision>,
}

/// Finds out whether the command at `address` serves the newest revision of each era; if not that of the legacy era, which
/// older ones. Our side says that it can do `capabilities`.
pub async fn detect_newest(
    address: &Address,
    options: &ConnectOptions,
    new_tap: impl Fn(Header) -> Tap,
    capabilities: impl Fn(Revision) -> Value,
) -> Result<Newest, OpenError> {
    let mut detection = Detection::new(address, options, &new_tap);
    let (attempts, greeted, untried) = detection.offer_newest(address, options, capabilities).await;
    let named: Vec<Revision> = attempts.iter().flat_map(Attempt::named).collect();
    let is_disturbed = |attempt: &Attempt| attempt.exited() || attempt.timed_out() && named.contains(&attempt.revision);
    let mut kept = Vec::new();
    if attempts.iter().any(is_disturbed) {
        // It may not run twice at a time.
        for greeted in greeted {
            greeted.close().await;
        }
    } else {
        kept = greeted;
    }
    let attempts = detection.retried(address, attempts).await;
    let introductions = detection.served(&attempts);
    let (detected, failure) = detection.conclude(address.clone(), attempts, introductions)?;
    Ok(Newest { detected, failure, greeted: kept, untried })
}

/// Which of `offers` a command serves that agreed to a newer revision of the legacy era. They are offered one after the other
/// to one process; those to which it does not agree there, each to one of its own.
pub async fn detect_older(
    address: &Address,
    options: &ConnectOptions,
    new_tap: impl Fn(Header) -> Tap,
    offers: &[Revision],
) -> Vec<Revision> {
    let mut detection = Detection::new(address, options, &new_tap);
    let mut served = detection.greet_in_turn(address, offers).await;
    let open: Vec<_> = offers.iter().copied().filter(|offer| !served.contains(offer)).collect();
    if !open.is_empty() {
        let attempts = detection.offer(address, &open).await;
        served.extend(detection.served(&attempts).into_iter().map(|introduction| introduction.revision));
    }
    served.sort();
    served
}

impl<F: Fn(Header) -> Tap> Detection<'_, F> {
    async fn offer_newest(
        &mut self,
        address: &Address,
        options: &ConnectOptions,
        capabilities: impl Fn(Revision) -> Value,
    ) -> (Vec<Attempt>, Vec<Greeted>, Vec<Revision>) {
        let is_older = |revision: &Revision| revision.era() == Era::Legacy && *revision != Revision::NEWEST_LEGACY;
        let older: Vec<_> = Revision::ALL.into_iter().rev().filter(is_older).collect();
        let (pace, begun, patience) = (Pace::default(), Instant::now(), self.options.limits.request);
        let (agrees, agreed) = watch::channel(None);
        let offer = |revision| Offer { revision, capabilities: capabilities(revision), patience, keep: true };
        let (modern, legacy) = (offer(Revision::NEWEST), offer(Revision::NEWEST_LEGACY));
        let newest = async {
            let made = attempt(address, &legacy, self.tap(address, legacy.revision), options, &pace).await;
            agrees.send_replace(Some(made.1.is_some()));
            made
        };
        let rest = async {
            if is_agreed(agreed, ALONE.min(patience / 2)).await {
                return None;
            }
            Some(self.offered(address, &older, &pace, begun).await)
        };
        let modern = attempt(address, &modern, self.tap(address, modern.revision), options, &pace);
        let (modern, legacy, rest) = tokio::join!(modern, newest, rest);
        let untried = if rest.is_none() { older } else { Vec::new() };
        let greeted = [modern.1, legacy.1].into_iter().flatten().collect();
        let attempts = [modern.0, legacy.0].into_iter().chain(rest.into_iter().flatten()).collect();
        (self.with_evidence(attempts), greeted, untried)
    }

    /// The revisions to which one process agrees, greeted in each.
    async fn greet_in_turn(&self, address: &Address, offers: &[Revision]) -> Vec<Revision> {
        let mut served = Vec::new();
        let Some(&first) = offers.first() else { return served };
        let Ok(connection) = Connection::open(address, first, &self.tap(address, first), &self.options).await else {
            return served;
        };
        let mut patience = self.options.limits.request;
        for (id, &revision) in (1..).zip(offers) {
            if connection.send(&first_message(id, revision, &json!({}))).await.is_err() {
                break;
            }
            let Some(answer) = connection.response(&RequestId::from(id), patience).await else { break };
            if matches!(Negotiation::read(&answer, Era::Legacy),
                Negotiation::Introduced(named) if named.iter().any(|version| version == revision.as_str()))
            {
                served.push(revision);
            }
            patience = FURTHER;
        }
        connection.close_within(SHUTDOWN).await;
        served
    }
}

/// Whether the server is known to agree within `patience`.
async fn is_agreed(mut agreed: watch::Receiver<Option<bool>>, patience: Duration) -> bool {
    let known = timeout(patience, agreed.wait_for(Option::is_some)).await;
    matches!(known, Ok(Ok(agreed)) if *agreed == Some(true))
}

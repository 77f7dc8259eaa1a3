//! Plays every case twice, each time in a new session and in the file's order, as `proof test` does; the second time in
//! another environment. Must not judge.

use std::time::{Duration, Instant};

use client::{Client, ClientError};
use net::client::Address;
use wire::Revision;

use super::Options;
use super::machine::elsewhere;
use super::plan::Planned;
use crate::requests::{Reply, send};

/// The minimum time between the two rounds, so that values that change every second differ.
const ROUND_INTERVAL: Duration = Duration::from_millis(1100);
/// How often a round reconnects to the server.
const MAX_RECONNECTS: usize = 60;
/// The timeout of the ping that checks whether the server still runs.
const PING_TIMEOUT: Duration = Duration::from_secs(3);

/// What happened to a case.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Observation {
    Reply(Reply),
    /// No answer within the time limit.
    TimedOut,
    /// The server stopped after it, with the symptom.
    Disconnected(String),
    /// Not played, with the reason.
    NotPlayed(String),
}

/// Plays all cases twice.
pub(super) async fn twice(
    options: &Options,
    revision: Revision,
    cases: &[Planned],
) -> Result<[Vec<Observation>; 2], ClientError> {
    let begun = Instant::now();
    let selected: Vec<bool> = cases.iter().map(|case| case.skip.is_none()).collect();
    let here = options.client.address.clone();
    let first = play(options, here, revision, cases, &selected).await?;
    tokio::time::sleep(ROUND_INTERVAL.saturating_sub(begun.elapsed())).await;
    // Cases that the file will skip are skipped now, so that the others see the same server state.
    let selected: Vec<bool> =
        first.iter().map(|seen| matches!(seen, Observation::Reply(reply) if !is_nothing(reply))).collect();
    let second = play(options, elsewhere(&options.client.address), revision, cases, &selected).await?;
    Ok([first, second])
}

const fn is_nothing(reply: &Reply) -> bool {
    matches!(reply, Reply::NoAnswer(_))
}

async fn play(
    options: &Options,
    address: Address,
    revision: Revision,
    cases: &[Planned],
    selected: &[bool],
) -> Result<Vec<Observation>, ClientError> {
    let mut reached = options.client.clone();
    reached.revision = Some(revision);
    reached.address = address;
    let mut client = None;
    let mut times = 0;
    let mut all = Vec::new();
    for (case, selected) in cases.iter().zip(selected) {
        if !selected {
            all.push(Observation::NotPlayed(String::new()));
            continue;
        }
        if client.is_none() {
            if times > MAX_RECONNECTS {
                all.push(Observation::NotPlayed("the server stopped too often".to_owned()));
                continue;
            }
            times += 1;
            client = Some(Client::connect(reached.clone()).await?);
        }
        let Some(there) = &client else { continue };
        let observation = play_case(there, case, options).await;
        if matches!(observation, Observation::TimedOut | Observation::Disconnected(_))
            && let Some(there) = client.take()
        {
            there.close().await;
        }
        all.push(observation);
    }
    if let Some(client) = client {
        client.close().await;
    }
    Ok(all)
}

async fn play_case(client: &Client, case: &Planned, options: &Options) -> Observation {
    let Ok(reply) = tokio::time::timeout(options.slowest, send(client, case.request.clone())).await else {
        client.cancel_all("timeout").await;
        return Observation::TimedOut;
    };
    let reply = Reply::of(reply, options.words);
    if let Reply::NoAnswer(why) = &reply {
        let there = tokio::time::timeout(PING_TIMEOUT, client.ping()).await;
        let gone = match there {
            Ok(Ok(_)) => false,
            Ok(Err(error)) => !error.is_answer(),
            Err(_) => true,
        };
        if gone {
            return Observation::Disconnected(why.clone());
        }
    }
    Observation::Reply(reply)
}

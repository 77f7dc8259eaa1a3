//! Plays every case, twice: each time in a conversation of its own and in the file's order, as `proof test` will. Judges
//! nothing.

use std::time::{Duration, Instant};

use client::{Client, ClientError};
use wire::Revision;

use super::Options;
use super::plan::Planned;
use crate::asking::{Came, ask};

/// How long the two times are apart at least: what changes by the second shows.
const APART: Duration = Duration::from_millis(1100);
/// How often the server is reached anew in one play.
const ANEW: usize = 60;
/// How long a server that did not answer properly may take to show that it is still there.
const SIGN: Duration = Duration::from_secs(3);

/// What came of a case.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Seen {
    Came(Came),
    /// No answer in the time that there was.
    Slow,
    /// The server was gone after it: what was seen of that.
    Broke(String),
    /// It was not played: why.
    Not(String),
}

/// Plays all twice.
pub(super) async fn twice(
    options: &Options,
    revision: Revision,
    cases: &[Planned],
) -> Result<[Vec<Seen>; 2], ClientError> {
    let begun = Instant::now();
    let again: Vec<bool> = cases.iter().map(|case| case.skip.is_none()).collect();
    let first = play(options, revision, cases, &again).await?;
    tokio::time::sleep(APART.saturating_sub(begun.elapsed())).await;
    // What will be skipped in the file is skipped now, so that the rest sees the server as it will be.
    let again: Vec<bool> = first.iter().map(|seen| matches!(seen, Seen::Came(came) if !is_nothing(came))).collect();
    let second = play(options, revision, cases, &again).await?;
    Ok([first, second])
}

const fn is_nothing(came: &Came) -> bool {
    matches!(came, Came::Nothing(_))
}

async fn play(
    options: &Options,
    revision: Revision,
    cases: &[Planned],
    wanted: &[bool],
) -> Result<Vec<Seen>, ClientError> {
    let mut reached = options.client.clone();
    reached.revision = Some(revision);
    let mut client = None;
    let mut times = 0;
    let mut all = Vec::new();
    for (case, wanted) in cases.iter().zip(wanted) {
        if !wanted {
            all.push(Seen::Not(String::new()));
            continue;
        }
        if client.is_none() {
            if times > ANEW {
                all.push(Seen::Not("the server broke off too often".to_owned()));
                continue;
            }
            times += 1;
            client = Some(Client::connect(reached.clone()).await?);
        }
        let Some(there) = &client else { continue };
        let seen = played(there, case, options).await;
        if matches!(seen, Seen::Slow | Seen::Broke(_))
            && let Some(there) = client.take()
        {
            there.close().await;
        }
        all.push(seen);
    }
    if let Some(client) = client {
        client.close().await;
    }
    Ok(all)
}

async fn played(client: &Client, case: &Planned, options: &Options) -> Seen {
    let Ok(came) = tokio::time::timeout(options.slowest, ask(client, case.ask.clone())).await else {
        client.cancel_all("it took too long").await;
        return Seen::Slow;
    };
    let came = Came::of(came, options.words);
    if let Came::Nothing(why) = &came {
        let there = tokio::time::timeout(SIGN, client.ping()).await;
        let gone = match there {
            Ok(Ok(_)) => false,
            Ok(Err(error)) => !error.is_answer(),
            Err(_) => true,
        };
        if gone {
            return Seen::Broke(why.clone());
        }
    }
    Seen::Came(came)
}

//! The handshake at each era, and the first list: the same for URLs and commands.

use std::time::Duration;

use client::{Client, ClientError};
use net::Tap;
use net::client::{Address, Detected, OpenError, OtherGreeting, detect_any, detect_newest};
use serde_json::{Value, json};
use wire::{Era, Revision};

use crate::Options;
use crate::http::{connect_options, failed};
use crate::step::StepName;
use crate::walk::{Finding, Walk};

/// The lists that a server may have: capability, method, member.
const LISTS: [(&str, &str, &str); 3] = [
    ("tools", "tools/list", "tools"),
    ("resources", "resources/list", "resources"),
    ("prompts", "prompts/list", "prompts"),
];

/// Shakes hands and reads one list.
pub(crate) async fn walk(walk: &mut Walk) {
    let (options, limit) = (walk.options.clone(), walk.step_limit());
    // Each attempt has this time; all together have the step's.
    let Some(detected) = walk.take(StepName::Handshake, greeted(&options, limit * 9 / 10)).await else { return };
    let limit = walk.step_limit();
    walk.take(StepName::List, listed(&options, detected, limit)).await;
}

async fn greeted(options: &Options, limit: Duration) -> (Finding, Option<Detected>) {
    match detected(options, limit).await {
        Err(error) => (failed(options, &error), None),
        Ok((detected, Some(error))) => (failed(options, &error).after(lines(&detected)), None),
        Ok((detected, None)) => {
            let mut lines = lines(&detected).into_iter();
            let finding = Finding::ok(lines.next().unwrap_or_default());
            (lines.fold(finding, Finding::and), Some(detected))
        }
    }
}

/// What the server speaks. Of a command, the newest revision of each era is offered, to spare processes.
async fn detected(options: &Options, limit: Duration) -> Result<(Detected, Option<OpenError>), OpenError> {
    let connect = connect_options(options, limit);
    if !matches!(options.address, Address::Stdio(_)) {
        return detect_any(&options.address, &connect, Tap::new).await;
    }
    let newest = detect_newest(&options.address, &connect, Tap::new, |_| json!({})).await?;
    for greeted in newest.greeted {
        greeted.close().await;
    }
    Ok((newest.detected, newest.failure))
}

/// A line for each era.
fn lines(detected: &Detected) -> Vec<String> {
    [Era::Legacy, Era::Modern].into_iter().map(|era| line(detected, era)).collect()
}

fn line(detected: &Detected, era: Era) -> String {
    let request = if era == Era::Legacy { "initialize" } else { "server/discover" };
    let spoken: Vec<_> = detected.introductions.iter().filter(|one| one.revision.era() == era).collect();
    if let Some(newest) = spoken.last() {
        let name = newest.name().unwrap_or("a server without a name");
        let version = newest.version().map(|version| format!(" {version}")).unwrap_or_default();
        let revisions: Vec<_> = spoken.iter().map(|one| one.revision.as_str()).collect();
        return format!("{request}: {name}{version}, revision {}", revisions.join(", "));
    }
    let other = detected.others.iter().rev().find(|(revision, _)| revision.era() == era);
    match other {
        Some((_, OtherGreeting::Error(Some(code)))) => format!("{request}: not spoken (error {code})"),
        Some((_, OtherGreeting::Error(None))) => format!("{request}: not spoken (an error without a code)"),
        Some((_, OtherGreeting::WithoutVersion)) => format!("{request}: an answer without a version"),
        Some((_, OtherGreeting::Refused)) => format!("{request}: refused; other versions are offered"),
        None => format!("{request}: no answer"),
    }
}

/// Reads the first list that the server has, at the newest revision that it speaks.
async fn listed(options: &Options, detected: Detected, limit: Duration) -> (Finding, Option<()>) {
    let Some(revision) = detected.revisions.last().copied() else { return (Finding::skipped("no revision"), None) };
    let mut client_options = client::Options::new(detected.address, &options.children);
    client_options.revision = Some(revision);
    client_options.authorizer = options.authorizer.clone();
    client_options.limits = connect_options(options, limit).limits;
    client_options.limits.shutdown = Duration::from_millis(300);
    let client = match Client::connect(client_options).await {
        Ok(client) => client,
        Err(error) => return (unanswered(options, &error, revision), None),
    };
    let finding = read(options, &client, revision).await;
    client.close().await;
    (finding, Some(()))
}

async fn read(options: &Options, client: &Client, revision: Revision) -> Finding {
    let greeting = client.greeting();
    let Some((_, method, member)) = LISTS.into_iter().find(|(capability, ..)| greeting.may_have(capability)) else {
        return Finding::skipped("the server declares no tools, resources or prompts");
    };
    match client.list(method, member).await {
        Ok(listed) => {
            let names: Vec<_> =
                listed.items.iter().filter_map(|item| item.get("name").and_then(Value::as_str)).collect();
            let some = names.iter().take(6).copied().collect::<Vec<_>>().join(", ");
            let more = if names.len() > 6 { ", …" } else { "" };
            let some = if some.is_empty() { String::new() } else { format!(": {some}{more}") };
            Finding::ok(format!("{method} at {revision}: {}{some}", listed.items.len()))
        }
        Err(error) => unanswered(options, &error, revision),
    }
}

fn unanswered(options: &Options, error: &ClientError, revision: Revision) -> Finding {
    let words = options.words.asking;
    let fix = error.advice().map_or_else(|| "look into the server's log".to_owned(), |advice| words(&advice));
    let what = error.to_string().lines().next().unwrap_or_default().to_owned();
    Finding::failed(format!("at {revision}: {what}"), fix)
}

//! `proof client watch`: prints changes line by line until a limit or Ctrl-C, and reconnects after a lost connection.

use std::time::Duration;

use client::{Client, ClientError, Listening, Topics};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until};
use wire::escape::snippet;

use super::observer::Notifications;
use super::{NotPrinted, Printed, show};
use crate::args::client::{ClientArgs, WatchArgs};
use crate::exit::{Exit, tell};

/// How long to watch without `--for`.
const FOREVER: Duration = Duration::from_hours(24 * 365);
/// How many failed attempts to reconnect end the watch.
const RETRIES: u32 = 8;
/// The pause before the first attempt to reconnect, doubled each time.
const PAUSE: Duration = Duration::from_millis(250);

/// Watches until a limit is reached.
pub(super) async fn watch(
    args: &ClientArgs,
    client: &Client,
    what: &WatchArgs,
    mut notifications: Notifications,
) -> Result<Printed, NotPrinted> {
    let greeting = client.greeting();
    let topics = Topics {
        tools: greeting.may_have("tools"),
        prompts: greeting.may_have("prompts"),
        resources: greeting.may_have("resources"),
        uris: what.uris.clone(),
    };
    let deadline = Instant::now() + what.span.unwrap_or(FOREVER);
    let mut left = what.count.unwrap_or(usize::MAX);
    let mut lines = args.to.lines()?;
    let mut listening = listen(client, &topics).await?;
    while left > 0 {
        tokio::select! {
            Some((method, params)) = notifications.recv() => {
                if let Some(line) = line(args, &method, &params) {
                    lines.write(&line)?;
                    left -= 1;
                }
            }
            ended = listening.ended() => {
                tell(match ended {
                    Ok(()) => "note: the server ended the subscription".to_owned(),
                    Err(error) => format!("note: the subscription was interrupted: {}", first_line(&error)),
                });
                listening = tokio::select! {
                    reconnected = reconnect(client, &topics) => reconnected?,
                    () = sleep_until(deadline) => break,
                };
            }
            () = sleep_until(deadline) => break,
        }
    }
    client.stop_listening(&listening).await;
    Ok(Printed { text: None, exit: Exit::Clean })
}

async fn listen(client: &Client, topics: &Topics) -> Result<Listening, ClientError> {
    let listening = client.listen(topics).await?;
    let agreed = &listening.acknowledged;
    let lists =
        [("tools", "toolsListChanged"), ("prompts", "promptsListChanged"), ("resources", "resourcesListChanged")];
    let mut topics_agreed: Vec<String> =
        lists.iter().filter(|(_, name)| agreed[*name] == json!(true)).map(|(list, _)| (*list).to_owned()).collect();
    let uris = agreed["resourceSubscriptions"].as_array().into_iter().flatten().filter_map(Value::as_str);
    topics_agreed.extend(uris.map(|uri| snippet(uri, 200)));
    for uri in topics.uris.iter().filter(|uri| !topics_agreed.contains(&snippet(uri, 200))) {
        tell(format_args!("note: the server does not report changes of {}", snippet(uri, 200)));
    }
    if topics_agreed.is_empty() {
        return Err(ClientError::not_sent(
            "the server reports no changes",
            "`proof client discover` shows what it declares",
        ));
    }
    tell(format_args!("listening to {} (press Ctrl-C to stop)", topics_agreed.join(", ")));
    Ok(listening)
}

async fn reconnect(client: &Client, topics: &Topics) -> Result<Listening, ClientError> {
    let mut pause = PAUSE;
    let mut outcome = Err(ClientError::Cancelled);
    for _ in 0..RETRIES {
        sleep(pause).await;
        pause *= 2;
        outcome = listen(client, topics).await;
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

fn first_line(error: &ClientError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// One line for a change; `None` for a notification that is no change.
fn line(args: &ClientArgs, method: &str, params: &Value) -> Option<String> {
    if args.json {
        let message = json!({ "method": method, "params": params });
        return Some(show::raw(&message.to_string()));
    }
    Some(match method {
        "notifications/tools/list_changed" => "the tools have changed\n".to_owned(),
        "notifications/prompts/list_changed" => "the prompts have changed\n".to_owned(),
        "notifications/resources/list_changed" => "the resources have changed\n".to_owned(),
        "notifications/resources/updated" => {
            format!("{} has changed\n", snippet(params["uri"].as_str().unwrap_or("a resource"), 400))
        }
        "notifications/subscriptions/acknowledged" | "notifications/cancelled" => return None,
        other => format!("{}\n", snippet(other, 200)),
    })
}

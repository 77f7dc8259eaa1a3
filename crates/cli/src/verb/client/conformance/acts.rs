//! What the scenarios of `proof check-client` ask for beyond a tour of what the server offers.

use std::time::Duration;

use reference::client::{Client, ClientError, Note, Observer, Tool, Topics, example};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

/// How long a call runs before it is cancelled.
const MOMENT: Duration = Duration::from_millis(300);
/// How long a change may take to be told.
const CHANGE: Duration = Duration::from_secs(3);
/// By when a token that soon expires has expired.
const EXPIRY: Duration = Duration::from_secs(3);
/// The resource that changes.
const COUNTER: &str = "proof://counter";

/// The changes that a server tells.
pub(super) type Told = mpsc::UnboundedReceiver<String>;

/// Who hears of changes.
pub(super) fn observer() -> (Observer, Told) {
    let (tell, told) = mpsc::unbounded_channel();
    let observer: Observer = std::sync::Arc::new(move |note| {
        if let Note::Notification { method, .. } = note {
            // Where nobody listens any more, nobody has to know.
            let _ = tell.send(method);
        }
    });
    (observer, told)
}

/// Does what `scenario` asks for; `None` where that is a tour.
pub(super) async fn act(scenario: &str, client: &Client, told: &mut Told) -> Option<Result<(), ClientError>> {
    Some(match scenario {
        "cancellation" => Box::pin(cancel(client)).await,
        "hostile.silence" => insist(client).await,
        "list-changes" => follow_list(client, told).await,
        "subscriptions" => follow_resource(client, told).await,
        "completion" => complete(client).await,
        "progress" => Box::pin(watch_two(client)).await,
        "caching" => list_twice(client).await,
        "auth/token-expires" => outstay(client).await,
        _ => return None,
    })
}

async fn tool(client: &Client, name: &str) -> Result<Option<Tool>, ClientError> {
    let (tools, _) = client.tools().await?;
    Ok(tools.into_iter().find(|tool| tool.name() == name))
}

/// Calls something long, and gives it up.
async fn cancel(client: &Client) -> Result<(), ClientError> {
    let Some(slow) = tool(client, "slow").await? else { return Ok(()) };
    let arguments = Map::from_iter([("steps".to_owned(), json!(50))]);
    let call = client.call(&slow, arguments);
    tokio::pin!(call);
    tokio::select! {
        done = &mut call => return done.map(drop),
        () = tokio::time::sleep(MOMENT) => client.cancel_all("no longer wanted").await,
    }
    // What comes too late is let go of, and all else goes on.
    client.tools().await.map(drop)
}

/// Calls something that is not answered, gives it up in the time that a request has, and calls it again.
async fn insist(client: &Client) -> Result<(), ClientError> {
    let Some(echo) = tool(client, "echo").await? else { return Ok(()) };
    let arguments = example(echo.input());
    match client.call(&echo, arguments.clone()).await {
        Err(ClientError::Timeout { .. }) => client.call(&echo, arguments).await.map(drop),
        other => other.map(drop),
    }
}

async fn follow_list(client: &Client, told: &mut Told) -> Result<(), ClientError> {
    let Some(toggle) = tool(client, "toggle_tool").await? else { return Ok(()) };
    let listening = client.listen(&Topics { tools: true, ..Topics::default() }).await?;
    client.call(&toggle, Map::new()).await?;
    if hears(told, "notifications/tools/list_changed").await {
        client.tools().await?;
    }
    client.stop_listening(&listening).await;
    Ok(())
}

async fn follow_resource(client: &Client, told: &mut Told) -> Result<(), ClientError> {
    let Some(touch) = tool(client, "touch_resource").await? else { return Ok(()) };
    client.read(COUNTER).await?;
    let listening = client.listen(&Topics { uris: vec![COUNTER.to_owned()], ..Topics::default() }).await?;
    client.call(&touch, Map::new()).await?;
    if hears(told, "notifications/resources/updated").await {
        client.read(COUNTER).await?;
    }
    client.stop_listening(&listening).await;
    Ok(())
}

/// Whether this is told before long.
async fn hears(told: &mut Told, method: &str) -> bool {
    let heard = async {
        while let Some(one) = told.recv().await {
            if one == method {
                return true;
            }
        }
        false
    };
    tokio::time::timeout(CHANGE, heard).await.unwrap_or_default()
}

/// Completes the first argument of every prompt and the first variable of every template.
async fn complete(client: &Client) -> Result<(), ClientError> {
    for prompt in client.prompts().await?.items {
        let argument = prompt.pointer("/arguments/0/name").and_then(Value::as_str);
        if let (Some(name), Some(argument)) = (prompt.get("name"), argument) {
            complete_one(client, json!({ "type": "ref/prompt", "name": name }), argument).await?;
        }
    }
    for template in client.templates().await?.items {
        let uri = template.get("uriTemplate").and_then(Value::as_str).unwrap_or_default();
        let variable = uri.split_once('{').and_then(|(_, rest)| rest.split(['}', ',']).next());
        if let Some(variable) = variable.map(|name| name.trim_matches(|c: char| !c.is_alphanumeric() && c != '_')) {
            complete_one(client, json!({ "type": "ref/resource", "uri": uri }), variable).await?;
        }
    }
    Ok(())
}

async fn complete_one(client: &Client, of: Value, argument: &str) -> Result<(), ClientError> {
    match client.complete_value(of, (argument, "a"), Map::new()).await {
        // Nothing has to be completable.
        Err(ClientError::Rpc { .. } | ClientError::Unasked { .. }) => Ok(()),
        other => other.map(drop),
    }
}

/// Waits for two things that take time at once.
async fn watch_two(client: &Client) -> Result<(), ClientError> {
    let Some(slow) = tool(client, "slow").await? else { return Ok(()) };
    let (one, two) = tokio::join!(client.call(&slow, Map::new()), client.call(&slow, Map::new()));
    one.and(two)?;
    client.tools().await.map(drop)
}

/// Goes on after its token has expired: with another list, since what it was told before may still be believed.
async fn outstay(client: &Client) -> Result<(), ClientError> {
    client.tools().await?;
    tokio::time::sleep(EXPIRY).await;
    client.prompts().await.map(drop)
}

/// Lists the tools and calls one, twice.
async fn list_twice(client: &Client) -> Result<(), ClientError> {
    for _ in 0..2 {
        let Some(echo) = tool(client, "echo").await? else { return Ok(()) };
        client.call(&echo, example(echo.input())).await?;
    }
    Ok(())
}

//! What the scenarios of `proof check-client` ask for beyond a tour of what the server offers.

use std::sync::Arc;
use std::time::Duration;

use client::{Client, ClientError, ClientEvent, Connector, Observer, Options, Tool, Topics, example};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use wire::revision::R2025_11_25;

/// Of how many steps a call is that lasts, and one whose answer comes soon after it is cancelled.
const LONG: u32 = 50;
const SHORT: u32 = 16;
/// How long a call runs before it is cancelled.
const MOMENT: Duration = Duration::from_millis(300);
/// By when an answer has come that is late.
const LATE: Duration = Duration::from_millis(1600);
/// How long a change may take to be told.
const CHANGE: Duration = Duration::from_secs(3);
/// By when a token that soon expires has expired.
const EXPIRY: Duration = Duration::from_secs(3);
/// More tasks than a page lists.
const PAGE: usize = 12;
/// The resource that changes.
const COUNTER: &str = "proof://counter";

/// The changes that a server tells.
pub(super) type Changes = mpsc::UnboundedReceiver<String>;

/// Who hears of changes.
pub(super) fn observer() -> (Observer, Changes) {
    let (tell, told) = mpsc::unbounded_channel();
    let observer: Observer = Arc::new(move |note| {
        if let ClientEvent::Notification { method, .. } = note {
            // Where nobody listens any more, nobody has to know.
            let _ = tell.send(method);
        }
    });
    (observer, told)
}

/// Does what `scenario` asks for; `None` where that is a tour.
pub(super) async fn act(scenario: &str, client: &Client, told: &mut Changes) -> Option<Result<(), ClientError>> {
    Some(match scenario {
        "cancellation" => Box::pin(cancel(client, LONG)).await,
        "question-taken-back" | "tasks-for-the-server" => Box::pin(call_echo(client)).await,
        "late-answer" => Box::pin(wait_for_nothing(client)).await,
        "hostile.silence" => insist(client).await,
        "list-changes" => follow_list(client, told).await,
        "subscriptions" => follow_resource(client, told).await,
        "completion" => complete(client).await,
        "progress" => Box::pin(watch_two(client)).await,
        "tasks-by-looking" => Box::pin(look_after(client)).await,
        "tasks" => Box::pin(run_tasks(client)).await,
        "caching" => list_twice(client).await,
        "auth/token-expires" | "auth/issuer-moves" => outstay(client).await,
        _ => return None,
    })
}

async fn tool(client: &Client, name: &str) -> Result<Option<Tool>, ClientError> {
    let (tools, _) = client.tools().await?;
    Ok(tools.into_iter().find(|tool| tool.name() == name))
}

/// Calls something long, and gives it up.
async fn cancel(client: &Client, steps: u32) -> Result<(), ClientError> {
    let Some(slow) = tool(client, "slow").await? else { return Ok(()) };
    let call = client.call(&slow, Map::from_iter([("steps".to_owned(), json!(steps))]));
    tokio::pin!(call);
    tokio::select! {
        done = &mut call => return done.map(drop),
        () = tokio::time::sleep(MOMENT) => client.cancel_all("no longer wanted").await,
    }
    // What comes too late is let go of, and all else goes on.
    client.tools().await.map(drop)
}

async fn call_echo(client: &Client) -> Result<(), ClientError> {
    let Some(echo) = tool(client, "echo").await? else { return Ok(()) };
    client.call(&echo, example(echo.input())).await.map(drop)
}

/// Gives a call up whose answer comes all the same, and goes on after that.
async fn wait_for_nothing(client: &Client) -> Result<(), ClientError> {
    Box::pin(cancel(client, SHORT)).await?;
    tokio::time::sleep(LATE).await;
    Box::pin(call_echo(client)).await
}

/// Lists the tools in one session and then in another.
pub(super) async fn list_in_two_sessions(options: Options, connector: &Arc<dyn Connector>) -> Result<(), ClientError> {
    for _ in 0..2 {
        let client = Client::connect_with(options.clone(), connector.clone()).await?;
        client.tools().await?;
        client.close().await;
    }
    Ok(())
}

/// Lets its roots be asked for, changes them, and lets them be asked for again.
pub(super) async fn change_roots(client: &Client, change: impl FnOnce()) -> Result<(), ClientError> {
    let Some(list) = tool(client, "list_roots").await? else { return Ok(()) };
    client.call(&list, Map::new()).await?;
    change();
    client.roots_changed().await?;
    client.call(&list, Map::new()).await.map(drop)
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

async fn follow_list(client: &Client, told: &mut Changes) -> Result<(), ClientError> {
    let Some(toggle) = tool(client, "toggle_tool").await? else { return Ok(()) };
    let listening = client.listen(&Topics { tools: true, ..Topics::default() }).await?;
    client.call(&toggle, Map::new()).await?;
    if hears(told, "notifications/tools/list_changed").await {
        client.tools().await?;
    }
    client.stop_listening(&listening).await;
    Ok(())
}

async fn follow_resource(client: &Client, told: &mut Changes) -> Result<(), ClientError> {
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
async fn hears(told: &mut Changes, method: &str) -> bool {
    let notifications = async {
        while let Some(one) = told.recv().await {
            if one == method {
                return true;
            }
        }
        false
    };
    tokio::time::timeout(CHANGE, notifications).await.unwrap_or_default()
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

/// Asks when a letter is typed, and again after the three that follow.
async fn complete_one(client: &Client, of: Value, argument: &str) -> Result<(), ClientError> {
    for typed in ["a", "alph"] {
        match client.complete_value(of.clone(), (argument, typed), Map::new()).await {
            // Nothing has to be completable.
            Err(ClientError::Rpc { .. } | ClientError::NotSent { .. }) => {}
            other => drop(other?),
        }
    }
    Ok(())
}

/// Lets calls run as tasks: one that lasts, one that asks, more than one page lists, and one that it stops.
async fn run_tasks(client: &Client) -> Result<(), ClientError> {
    let (tools, _) = client.tools().await?;
    let has = |name: &str| tools.iter().find(|tool| tool.name() == name);
    let (Some(slow), Some(errand)) = (has("slow"), has("errand")) else { return Ok(()) };
    if client.revision() != R2025_11_25 {
        return Box::pin(follow_tasks(client, [slow, errand])).await;
    }
    for tool in [slow, errand] {
        client.call_as_task(tool.name(), example(tool.input())).await?;
    }
    for _ in 0..PAGE {
        client.begin_task("fail", Map::new()).await?;
    }
    let long = client.begin_task("slow", Map::from_iter([("steps".to_owned(), json!(LONG))])).await?;
    client.cancel_task(&long).await?;
    client.tasks().await.map(drop)
}

/// Makes calls that the server may make tasks of, and stops one.
async fn follow_tasks(client: &Client, tools: [&Tool; 2]) -> Result<(), ClientError> {
    for tool in tools {
        client.call(tool, example(tool.input())).await?;
    }
    let long = client.begin_task("slow", Map::from_iter([("steps".to_owned(), json!(LONG))])).await?;
    client.cancel_task(&long).await.map(drop)
}

/// Lets a call run as a task of which nobody tells it anything.
async fn look_after(client: &Client) -> Result<(), ClientError> {
    let Some(slow) = tool(client, "slow").await? else { return Ok(()) };
    client.call_as_task(slow.name(), example(slow.input())).await.map(drop)
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

//! What the scenarios of `proof check-client` ask for besides using everything that the server offers.

use std::sync::Arc;
use std::time::Duration;

use client::{Client, ClientError, ClientEvent, Connector, Observer, Options, Tool, Topics, example};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use wire::revision::R2025_11_25;

/// The steps of a long call, and of a call whose answer comes soon after its cancellation.
const LONG: u32 = 50;
const SHORT: u32 = 16;
/// How long a call runs before it is cancelled.
const CANCEL_AFTER: Duration = Duration::from_millis(300);
/// How long to wait for the answer to a cancelled call.
const LATE_ANSWER: Duration = Duration::from_millis(1600);
/// How long to wait for the notification of a change.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(3);
/// After this time a short-lived token has expired.
const EXPIRY: Duration = Duration::from_secs(3);
/// More tasks than a page lists.
const MORE_THAN_A_PAGE: usize = 12;
/// The resource that changes.
const COUNTER: &str = "proof://counter";

/// The methods of a server's notifications.
pub(super) type Changes = mpsc::UnboundedReceiver<String>;

/// An observer that passes on notifications.
pub(super) fn observer() -> (Observer, Changes) {
    let (sender, changes) = mpsc::unbounded_channel();
    let observer: Observer = Arc::new(move |note| {
        if let ClientEvent::Notification { method, .. } = note {
            // The receiver may be gone at the end.
            let _ = sender.send(method);
        }
    });
    (observer, changes)
}

/// Does what `scenario` asks for; `None` if it is to use everything that the server offers.
pub(super) async fn perform(scenario: &str, client: &Client, changes: &mut Changes) -> Option<Result<(), ClientError>> {
    Some(match scenario {
        "cancellation" => Box::pin(cancel_call(client, LONG)).await,
        "request-cancelled" | "tasks-for-the-server" => Box::pin(call_echo(client)).await,
        "late-answer" => Box::pin(continue_after_late_answer(client)).await,
        "hostile.silence" => call_again_after(client, |error| matches!(error, ClientError::Timeout { .. })).await,
        "hostile.stream-lost" => ask_again(client).await,
        "long-task" => give_up_task(client).await,
        "list-changes" => list_again_after_change(client, changes).await,
        "subscriptions" => read_again_after_change(client, changes).await,
        "completion" => complete(client).await,
        "progress" => Box::pin(call_two_in_parallel(client)).await,
        "tasks-by-polling" => Box::pin(poll_task(client)).await,
        "tasks" => Box::pin(run_tasks(client)).await,
        "caching" => list_twice(client).await,
        "auth/token-expires" | "auth/issuer-moves" => continue_after_expiry(client).await,
        _ => return None,
    })
}

async fn tool(client: &Client, name: &str) -> Result<Option<Tool>, ClientError> {
    let (tools, _) = client.tools().await?;
    Ok(tools.into_iter().find(|tool| tool.name() == name))
}

/// Makes a long call and cancels it.
async fn cancel_call(client: &Client, steps: u32) -> Result<(), ClientError> {
    let Some(slow) = tool(client, "slow").await? else { return Ok(()) };
    let call = client.call(&slow, Map::from_iter([("steps".to_owned(), json!(steps))]));
    tokio::pin!(call);
    tokio::select! {
        done = &mut call => return done.map(drop),
        () = tokio::time::sleep(CANCEL_AFTER) => client.cancel_all("no longer wanted").await,
    }
    // A late answer must not disturb other requests.
    client.tools().await.map(drop)
}

async fn call_echo(client: &Client) -> Result<(), ClientError> {
    let Some(echo) = tool(client, "echo").await? else { return Ok(()) };
    client.call(&echo, example(echo.input())).await.map(drop)
}

/// Cancels a call whose answer comes anyway, and continues.
async fn continue_after_late_answer(client: &Client) -> Result<(), ClientError> {
    Box::pin(cancel_call(client, SHORT)).await?;
    tokio::time::sleep(LATE_ANSWER).await;
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

/// Lets the server ask for the roots, changes them, and lets it ask again.
pub(super) async fn change_roots(client: &Client, change: impl FnOnce()) -> Result<(), ClientError> {
    let Some(list) = tool(client, "list_roots").await? else { return Ok(()) };
    client.call(&list, Map::new()).await?;
    change();
    client.roots_changed().await?;
    client.call(&list, Map::new()).await.map(drop)
}

/// Makes a call that is not answered, and makes it again after the timeout.
async fn call_again_after(client: &Client, failure: fn(&ClientError) -> bool) -> Result<(), ClientError> {
    let Some(echo) = tool(client, "echo").await? else { return Ok(()) };
    let arguments = example(echo.input());
    match client.call(&echo, arguments.clone()).await {
        Err(error) if failure(&error) => client.call(&echo, arguments).await.map(drop),
        other => other.map(drop),
    }
}

/// Repeats a call and lists whose streams break.
async fn ask_again(client: &Client) -> Result<(), ClientError> {
    call_again_after(client, |_| true).await?;
    if client.resources().await.is_err() {
        client.resources().await?;
    }
    if client.prompts().await.is_err() {
        client.prompts().await?;
    }
    Ok(())
}

async fn list_again_after_change(client: &Client, changes: &mut Changes) -> Result<(), ClientError> {
    let Some(toggle) = tool(client, "toggle_tool").await? else { return Ok(()) };
    let listening = client.listen(&Topics { tools: true, ..Topics::default() }).await?;
    client.call(&toggle, Map::new()).await?;
    if receives(changes, "notifications/tools/list_changed").await {
        client.tools().await?;
    }
    client.stop_listening(&listening).await;
    Ok(())
}

async fn read_again_after_change(client: &Client, changes: &mut Changes) -> Result<(), ClientError> {
    let Some(touch) = tool(client, "touch_resource").await? else { return Ok(()) };
    client.read(COUNTER).await?;
    let listening = client.listen(&Topics { uris: vec![COUNTER.to_owned()], ..Topics::default() }).await?;
    client.call(&touch, Map::new()).await?;
    if receives(changes, "notifications/resources/updated").await {
        client.read(COUNTER).await?;
    }
    client.stop_listening(&listening).await;
    Ok(())
}

/// Whether this notification arrives in time.
async fn receives(changes: &mut Changes, method: &str) -> bool {
    let notifications = async {
        while let Some(one) = changes.recv().await {
            if one == method {
                return true;
            }
        }
        false
    };
    tokio::time::timeout(CHANGE_TIMEOUT, notifications).await.unwrap_or_default()
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

/// Completes a value after one typed letter, and after four.
async fn complete_one(client: &Client, of: Value, argument: &str) -> Result<(), ClientError> {
    for typed in ["a", "alph"] {
        match client.complete_value(of.clone(), (argument, typed), Map::new()).await {
            // A server need not complete every argument.
            Err(ClientError::Rpc { .. } | ClientError::NotSent { .. }) => {}
            other => drop(other?),
        }
    }
    Ok(())
}

/// Runs tasks: a long one, one that asks a question, more than fit on a page, and one to cancel.
async fn run_tasks(client: &Client) -> Result<(), ClientError> {
    let (tools, _) = client.tools().await?;
    let has = |name: &str| tools.iter().find(|tool| tool.name() == name);
    let (Some(slow), Some(buy)) = (has("slow"), has("buy")) else { return Ok(()) };
    if client.revision() != R2025_11_25 {
        return Box::pin(call_tools_as_tasks(client, [slow, buy])).await;
    }
    for tool in [slow, buy] {
        client.call_as_task(tool.name(), example(tool.input())).await?;
    }
    for _ in 0..MORE_THAN_A_PAGE {
        client.begin_task("fail", Map::new()).await?;
    }
    let long = client.begin_task("slow", Map::from_iter([("steps".to_owned(), json!(LONG))])).await?;
    client.cancel_task(&long).await?;
    client.tasks().await.map(drop)
}

/// Makes calls that the server may run as tasks, and cancels one.
async fn call_tools_as_tasks(client: &Client, tools: [&Tool; 2]) -> Result<(), ClientError> {
    for tool in tools {
        client.call(tool, example(tool.input())).await?;
    }
    let long = client.begin_task("slow", Map::from_iter([("steps".to_owned(), json!(LONG))])).await?;
    client.cancel_task(&long).await.map(drop)
}

/// Begins a task that takes too long, and cancels it.
async fn give_up_task(client: &Client) -> Result<(), ClientError> {
    let Some(tool) = tool(client, "outlasts_patience").await? else { return Ok(()) };
    let task = client.begin_task(tool.name(), Map::new()).await?;
    tokio::time::sleep(CANCEL_AFTER).await;
    client.cancel_task(&task).await.map(drop)
}

/// Runs a call as a task, without notifications about it.
async fn poll_task(client: &Client) -> Result<(), ClientError> {
    let Some(slow) = tool(client, "slow").await? else { return Ok(()) };
    client.call_as_task(slow.name(), example(slow.input())).await.map(drop)
}

/// Makes two slow calls in parallel.
async fn call_two_in_parallel(client: &Client) -> Result<(), ClientError> {
    let Some(slow) = tool(client, "slow").await? else { return Ok(()) };
    let (one, two) = tokio::join!(client.call(&slow, Map::new()), client.call(&slow, Map::new()));
    one.and(two)?;
    client.tools().await.map(drop)
}

/// Continues after the token has expired, with another list: the first one may still be cached.
async fn continue_after_expiry(client: &Client) -> Result<(), ClientError> {
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

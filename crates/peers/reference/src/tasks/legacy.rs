//! The methods of tasks in sessions at 2025-11-25.

use net::service::{Answer, Call, Link, NoAnswer, Reply, RpcError};
use serde::Deserialize;
use serde_json::{Value, json};
use wire::{Kind, Message};

use super::task::{Ending, Next, Task, Ticket};
use crate::answer::{self, Handled};
use crate::seal::Seal;
use crate::{Server, params};

/// `CreateTaskResult`
pub(crate) fn created(task: &Task) -> Value {
    json!({ "task": task.legacy(), "_meta": task.related() })
}

/// `tasks/get`
pub(crate) fn get(server: &Server, call: &Call) -> Handled {
    Ok(super::named(server, call)?.legacy())
}

/// `tasks/cancel`
pub(crate) fn cancel(server: &Server, call: &Call) -> Handled {
    let task = super::named(server, call)?;
    if task.end(server, Ending::Cancelled) {
        return Ok(task.legacy());
    }
    let status = task.current_status();
    Err(RpcError::invalid_params(format!("Cannot cancel the task: it is {status} already")))
}

#[derive(Deserialize)]
struct Params {
    #[serde(default)]
    cursor: Option<String>,
}

/// `tasks/list`. Tasks come and go between two pages, so that a cursor names the last task seen, not a place.
pub(crate) fn list(server: &Server, call: &Call) -> Handled {
    const PURPOSE: &str = "tasks";
    params::meta(call)?;
    let Params { cursor } = params::read(call)?;
    let seen = match cursor {
        None => 0,
        Some(cursor) => Seal::CURSORS
            .open(PURPOSE, &cursor)
            .and_then(|bytes| String::from_utf8(bytes).ok()?.parse().ok())
            .ok_or_else(|| RpcError::invalid_params("Invalid params: `cursor` is not one this server gave"))?,
    };
    let tasks = server.state().tasks.after(&super::owner(&call.context), seen);
    let page = &tasks[..tasks.len().min(server.state().options.tasks.per_page.max(1))];
    let mut body = json!({ "tasks": page.iter().map(|task| task.legacy()).collect::<Vec<_>>() });
    if let Some(last) = page.last().filter(|_| page.len() < tasks.len()) {
        body["nextCursor"] = json!(Seal::CURSORS.close(PURPOSE, last.number().to_string().as_bytes()));
    }
    Ok(body)
}

/// `tasks/result`: waits for the end, and puts the task's questions to the client meanwhile.
pub(crate) fn result(server: &Server, call: Call) -> Reply {
    let task = match super::named(server, &call) {
        Ok(task) => task,
        Err(error) => return answer::error(call.id(), &error).into(),
    };
    let server = server.clone();
    Reply::later(async move {
        match wait(&server, &task, &call.link).await {
            Ok(body) => Answer::result(call.id(), &body),
            Err(error) => answer::error(call.id(), &error),
        }
    })
}

async fn wait(server: &Server, task: &Task, link: &Link) -> Handled {
    let mut changes = task.changes();
    let ticket = task.queue();
    loop {
        changes.mark_unchanged();
        match ticket.next() {
            Next::Result(result) => return Ok(result),
            Next::Error(error) => return Err(error),
            Next::Ask(key, method, params) => match ask(&ticket, &key, link.request(method, params), task).await {
                Some(Ok(answer)) => task.answer(server, &key, read(&answer)),
                Some(Err(error)) => return Err(RpcError::internal(error.to_string())),
                None => {}
            },
            Next::Wait => {
                tokio::select! {
                    _ = changes.changed() => {}
                    () = link.closing() => return Err(RpcError::internal("The server is ending")),
                }
            }
        }
    }
}

/// Asks for as long as there is a need; what is not needed any more is taken back.
async fn ask(
    ticket: &Ticket<'_>,
    key: &str,
    asking: impl Future<Output = Result<Message, NoAnswer>>,
    task: &Task,
) -> Option<Result<Message, NoAnswer>> {
    let mut changes = task.changes();
    let needless = async { while ticket.may_ask(key) && changes.changed().await.is_ok() {} };
    tokio::select! {
        answer = asking => Some(answer),
        () = needless => None,
    }
}

fn read(message: &Message) -> Result<Value, String> {
    if message.kind() == Kind::Error {
        return Err("The client answered with an error".to_owned());
    }
    Ok(message.result().cloned().unwrap_or_default())
}

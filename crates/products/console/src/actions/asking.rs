//! Actions that send: a request, a whole list, raw bytes, subscriptions.

use std::sync::Arc;
use std::time::Duration;

use client::{Client, ClientError, Params, Topics};
use net::client::Outgoing;
use net::server::http::StatusCode;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use wire::{Era, Message};

use super::{leveled, typed};
use crate::Console;
use crate::hub::Hub;
use crate::rows::{Direction, RowKind};
use crate::sending::{Sent, noting, taking_tasks};
use crate::targets::Target;
use page::Body;
use page::Failure;

/// How long the row of a request that was sent is waited for: it is recorded before or right after.
const RECORDED: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(5);
/// Bounds of a whole list.
const PAGES: usize = 1000;
const BYTES: usize = 64 << 20;
/// The most resources that are subscribed to at a time.
const SUBSCRIBED: usize = 1000;

impl Console {
    /// Sends a request; returns when it is sent.
    pub(super) async fn request(self: &Arc<Self>, body: &Body) -> Result<Value, Failure> {
        let target = self.named(body)?;
        let client = target.client()?;
        let method = body.text("method")?.to_owned();
        let params = leveled(typed(body)?, &target, client.revision().era());
        let sent = Sent::new();
        let takes_tasks = method.starts_with("tasks/") || body.get("task").is_some() && body.flag("task")?;
        let asking = taking_tasks(takes_tasks, async move { client.request(&method, &params).await });
        let mut work: JoinHandle<Result<Message, ClientError>> = tokio::spawn(noting(sent.clone(), asking));
        let first = tokio::select! {
            biased;
            first = sent.first() => first,
            ended = &mut work => match ended {
                Ok(Err(error)) if sent.all().is_empty() => return Err(self.failure(&error)),
                _ => sent.all().into_iter().next(),
            },
        };
        let (session, id) = first.ok_or_else(|| Failure::not_now("nothing was sent", "look at the connection"))?;
        let row = row_of(&self.hub, session, &id).await?;
        if body.get("parent").is_some() {
            self.hub.adopt(row, body.number("parent")?);
        }
        Ok(json!({ "row": row }))
    }

    /// Sends bytes as one message, unread.
    pub(super) async fn raw(&self, body: &Body) -> Result<Value, Failure> {
        let target = self.named(body)?;
        target.client()?;
        let text = body.text("text")?;
        let (carrier, session) = {
            let state = target.state();
            (state.carrier.clone(), state.session)
        };
        let carrier = carrier.ok_or_else(|| Failure::not_now("there is no connection", "connect first"))?;
        let before = self.hub.inner().table.next();
        let sent = carrier.send(Outgoing::message(text)).await;
        sent.map_err(|error| Failure::new(StatusCode::BAD_GATEWAY, format!("not sent: {error}"), "connect again"))?;
        let found = timeout(RECORDED, async {
            loop {
                if let Some(row) = self.hub.sent_since(before, session) {
                    return row;
                }
                tokio::time::sleep(POLL).await;
            }
        });
        let row = found.await.map_err(|_| Failure::not_now("what was sent has no row", "look at the list"))?;
        Ok(json!({ "row": row }))
    }

    /// Reads a list to its end, or to the page that fails.
    pub(super) async fn list(self: &Arc<Self>, body: &Body) -> Result<Value, Failure> {
        let target = self.named(body)?;
        let client = target.client()?;
        let (method, key) = match body.text("what")? {
            "tools" => ("tools/list", "tools"),
            "prompts" => ("prompts/list", "prompts"),
            "resources" => ("resources/list", "resources"),
            "templates" => ("resources/templates/list", "resourceTemplates"),
            "tasks" => ("tasks/list", "tasks"),
            other => {
                return Err(Failure::wrong(
                    format!("unknown list `{other}`"),
                    "tools, prompts, resources, templates or tasks",
                ));
            }
        };
        let sent = Sent::new();
        let (listed, error) = noting(sent.clone(), pages(&client, &target, method, key)).await;
        if let Some(error) = error.as_ref().filter(|_| listed.pages == 0) {
            return Err(self.failure(error));
        }
        if key == "tools" {
            target.state().tools.clone_from(&listed.items);
        }
        let rows: Vec<u64> = sent.all().into_iter().filter_map(|(session, id)| self.hub.row_of(session, &id)).collect();
        // What a server says of itself is shown as the rows have it: with secrets replaced.
        let items = self.hub.redactor().redact_value(&Value::Array(listed.items));
        let error = error.map(|error| self.failure(&error).to_json(self.hub.redactor()));
        Ok(json!({ "items": items, "pages": listed.pages, "rows": rows, "error": error }))
    }

    /// Subscribes to a resource, or ends that.
    pub(super) async fn subscribe(self: &Arc<Self>, body: &Body) -> Result<Value, Failure> {
        let target = self.named(body)?;
        let client = target.client()?;
        let (uri, on) = (body.text("uri")?.to_owned(), body.flag("on")?);
        let mut uris = target.state().subscribed.clone();
        uris.retain(|known| *known != uri);
        if on {
            uris.push(uri.clone());
        }
        if uris.len() > SUBSCRIBED {
            return Err(Failure::not_now(format!("more than {SUBSCRIBED} resources"), "unsubscribe from some"));
        }
        match client.revision().era() {
            Era::Legacy => {
                let method = if on { "resources/subscribe" } else { "resources/unsubscribe" };
                let answered = client.request(method, &Params::new().with("uri", uri)).await;
                answered.map_err(|error| self.failure(&error))?;
            }
            Era::Modern => self.watch_resources(&client, &target, uris.clone()).await?,
        }
        target.state().subscribed.clone_from(&uris);
        self.hub.state_changed();
        Ok(json!({ "subscribed": uris }))
    }

    /// Replaces the subscription of a modern connection.
    async fn watch_resources(&self, client: &Client, target: &Target, uris: Vec<String>) -> Result<(), Failure> {
        let before = target.state().listening.take();
        if let Some(before) = before {
            client.stop_listening(&before).await;
        }
        if !uris.is_empty() {
            let topics = Topics { uris, ..Topics::default() };
            let listening = client.listen(&topics).await.map_err(|error| self.failure(&error))?;
            target.state().listening = Some(listening);
        }
        Ok(())
    }
}

#[derive(Default)]
struct Listed {
    items: Vec<Value>,
    pages: usize,
}

/// The pages of a list until one fails: the items of those before it are worth showing.
async fn pages(client: &Client, target: &Target, method: &str, key: &str) -> (Listed, Option<ClientError>) {
    let mut listed = Listed::default();
    let mut cursor: Option<Value> = None;
    let mut bytes = 0;
    let wrong = |why: &str| Some(ClientError::Invalid { method: method.to_owned(), why: why.to_owned() });
    loop {
        let params = cursor.iter().fold(Params::new(), |params, cursor| params.with("cursor", cursor.clone()));
        let params = leveled(params, target, client.revision().era());
        let answer = match client.request(method, &params).await {
            Ok(answer) => answer,
            Err(error) => return (listed, Some(error)),
        };
        bytes += answer.text().len();
        let result = answer.result().cloned().unwrap_or_default();
        let Some(items) = result.get(key).and_then(Value::as_array) else {
            return (listed, wrong(&format!("no list of `{key}`")));
        };
        listed.items.extend(items.iter().cloned());
        listed.pages += 1;
        let next = result.get("nextCursor").filter(|next| !next.is_null()).cloned();
        match next {
            None => return (listed, None),
            Some(next) if cursor.as_ref() == Some(&next) => {
                return (listed, wrong("the cursor of the next page is that of this one"));
            }
            Some(_) if listed.pages == PAGES || bytes > BYTES => {
                return (listed, wrong(&format!("more than {PAGES} pages or {} MiB", BYTES >> 20)));
            }
            next => cursor = next,
        }
    }
}

/// The row of a request that was sent.
async fn row_of(hub: &Hub, session: u32, id: &str) -> Result<u64, Failure> {
    let found = timeout(RECORDED, async {
        loop {
            if let Some(row) = hub.row_of(session, id) {
                return row;
            }
            tokio::time::sleep(POLL).await;
        }
    });
    found.await.map_err(|_| Failure::not_now("what was sent has no row", "look at the list"))
}

impl Hub {
    /// The first row of a session from `before` on that went out.
    fn sent_since(&self, before: u64, session: u32) -> Option<u64> {
        let inner = self.inner();
        let ours = |n: &u64| {
            inner.table.get(*n).is_some_and(|row| {
                row.session == session && row.direction == Direction::Out && row.kind != RowKind::Mark
            })
        };
        (before..inner.table.next()).find(ours)
    }
}

//! The pages of one call: the first, and further ones as long as items are wanted and there is time.

use std::sync::Arc;

use openapi::answer::Received;
use openapi::answer::paging::Paging;
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use super::{Failed, LARGE};
use crate::operation::Callable;
use crate::sending::Incoming;

/// What a call fetched: the last answer, with the items of the pages before it in its body.
pub(super) struct Fetched {
    pub(super) answer: Incoming,
    /// The body, where it is a page.
    pub(super) page: Option<Value>,
    /// The cursor of what comes after it.
    pub(super) next: Option<String>,
    /// What the reader should know.
    pub(super) note: Option<String>,
}

/// A page that was read, or why no further one is.
enum Further {
    Page { body: Value, bytes: usize, next: Option<String> },
    Stopped(String),
}

impl Callable {
    /// The first page, and further ones as long as items are wanted and there are any. What was read is never lost.
    pub(super) async fn fetch(
        self: &Arc<Self>,
        mut arguments: Map<String, Value>,
        deadline: Instant,
    ) -> Result<Fetched, Failed> {
        let most = self.most.and_then(|name| arguments.remove(name)?.as_u64());
        let first = timeout_at(deadline, self.one(&arguments, deadline)).await;
        let answer = first.map_err(|_| Failed::Late)??;
        let Some(paging) = &self.paging else { return Ok(Fetched { answer, page: None, next: None, note: None }) };
        let (answer, page) = self.read(answer).await;
        let Some(page) = page else { return Ok(Fetched { answer, page: None, next: None, note: None }) };
        let next = paging.next(&arguments, &page, link(&answer));
        let mut fetched = Fetched { answer, page: None, next, note: None };
        fetched.page = Some(match most {
            Some(most) => self.further(paging, arguments, (page, most), &mut fetched, deadline).await,
            None => page,
        });
        Ok(fetched)
    }

    /// Adds pages until there are so many items; an empty page is no end where it names another one.
    async fn further(
        self: &Arc<Self>,
        paging: &Paging,
        mut arguments: Map<String, Value>,
        (mut page, most): (Value, u64),
        fetched: &mut Fetched,
        deadline: Instant,
    ) -> Value {
        let limits = &self.factory.0.config.limits;
        let (mut pages, mut bytes) = (1, fetched.answer.body.len());
        while let Some(next) = fetched.next.clone() {
            if paging.items(&page).is_none_or(|(_, items)| items.len() as u64 >= most) {
                break;
            }
            if pages == limits.pages {
                fetched.note = Some(format!("Stopped after {pages} pages"));
                break;
            }
            let Some(more) = paging.arguments(&next) else { break };
            arguments.extend(more);
            let (body, after) = match self.after(paging, &arguments, deadline).await {
                Further::Page { body, bytes: more, next } if bytes + more <= limits.answer => {
                    bytes += more;
                    (body, next)
                }
                Further::Page { .. } => {
                    fetched.note = Some(format!("Stopped before {} bytes", limits.answer));
                    break;
                }
                Further::Stopped(why) => {
                    fetched.note = Some(why);
                    break;
                }
            };
            pages += 1;
            if !paging.append(&mut page, body) {
                fetched.note = Some("Stopped: the next page has no items where the others have theirs".to_owned());
                break;
            }
            // An API that names the same page again would never end.
            fetched.next = after.filter(|after| *after != next);
        }
        page
    }

    /// One further page.
    async fn after(self: &Arc<Self>, paging: &Paging, arguments: &Map<String, Value>, deadline: Instant) -> Further {
        let answer = match timeout_at(deadline, self.one(arguments, deadline)).await {
            Err(_) => {
                let limit = self.factory.0.config.limits.time;
                return Further::Stopped(format!("Stopped: no next page within {limit:?}"));
            }
            Ok(Err(_)) => return Further::Stopped("Stopped: no answer for the next page".to_owned()),
            Ok(Ok(answer)) if answer.status != 200 => {
                return Further::Stopped(format!("Stopped: HTTP {} for the next page", answer.status));
            }
            Ok(Ok(answer)) => answer,
        };
        let bytes = answer.body.len();
        let (answer, body) = self.read(answer).await;
        let Some(body) = body else { return Further::Stopped("Stopped: the next page is no JSON".to_owned()) };
        let next = paging.next(arguments, &body, link(&answer));
        Further::Page { body, bytes, next }
    }

    /// The body of a successful answer, if it is JSON.
    async fn read(&self, answer: Incoming) -> (Incoming, Option<Value>) {
        if answer.body.len() < LARGE {
            let page = page(&answer);
            return (answer, page);
        }
        let kept = answer.clone_head();
        let read = spawn_blocking(move || {
            let page = page(&answer);
            (answer, page)
        });
        read.await.unwrap_or((kept, None))
    }
}

fn link(answer: &Incoming) -> Option<&str> {
    wire::trace::header(&answer.headers, "link")
}

fn page(answer: &Incoming) -> Option<Value> {
    let Incoming { status, headers, body } = answer;
    let received = Received { status: *status, headers, body };
    if !(200..300).contains(status) || body.is_empty() {
        return None;
    }
    received.json()
}

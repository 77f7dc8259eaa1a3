//! The pages of one call: the first, and further ones as long as items are wanted and there is time.

use std::sync::Arc;

use openapi::answer::Received;
use openapi::answer::paging::Paging;
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use super::{Failed, LARGE};
use crate::caller::Caller;
use crate::operation::Callable;
use crate::sending::{Bound, Incoming, Unanswered};

/// How many values the pages of one call may have: about 100 MB of memory.
const VALUES: usize = 500_000;

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

/// How much more the pages of one call may hold.
#[derive(Clone, Copy)]
struct Left {
    bytes: usize,
    values: usize,
}

/// What is in a body.
enum Body {
    Page {
        value: Value,
        values: usize,
    },
    /// It has more values than were left.
    TooMany,
    Other,
}

/// A page that was read with what is left after it, or why no further one is.
enum Further {
    Page { body: Value, left: Left, next: Option<String> },
    Stopped(String),
}

impl Callable {
    /// The first page, and further ones as long as items are wanted and there are any. What was read is never lost.
    pub(super) async fn fetch(
        self: &Arc<Self>,
        caller: &Caller,
        mut arguments: Map<String, Value>,
        deadline: Instant,
    ) -> Result<Fetched, Failed> {
        let most = self.most.and_then(|name| arguments.remove(name)?.as_u64());
        // What is cut cannot be selected from.
        let bound = Bound { bytes: self.factory.0.config.limits.answer, may_cut: self.shape.is_nothing() };
        let first = timeout_at(deadline, self.one(caller, &arguments, bound, deadline)).await;
        let answer = first.map_err(|_| Failed::Late)??;
        let Some(paging) = &self.paging else { return Ok(Fetched { answer, page: None, next: None, note: None }) };
        let (mut answer, body) = self.read(answer, VALUES).await;
        let Body::Page { value: page, values } = body else {
            return Ok(Fetched { answer, page: None, next: None, note: None });
        };
        let bytes = bound.bytes.saturating_sub(answer.body.len());
        // Its values are all that is shown of it.
        answer.body = Vec::new();
        let left = Left { bytes, values: VALUES.saturating_sub(values) };
        let next = paging.next(&arguments, &page, link(&answer));
        let mut fetched = Fetched { answer, page: None, next, note: None };
        fetched.page = Some(match most {
            Some(most) => self.further((caller, paging), arguments, (page, most, left), &mut fetched, deadline).await,
            None => page,
        });
        Ok(fetched)
    }

    /// Adds pages until there are so many items; an empty page is no end where it names another one.
    async fn further(
        self: &Arc<Self>,
        (caller, paging): (&Caller, &Paging),
        mut arguments: Map<String, Value>,
        (mut page, most, mut left): (Value, u64, Left),
        fetched: &mut Fetched,
        deadline: Instant,
    ) -> Value {
        let limits = &self.factory.0.config.limits;
        let mut pages = 1;
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
            let (body, after) = match self.after((caller, paging), &arguments, left, deadline).await {
                Further::Page { body, left: after, next } => {
                    left = after;
                    (body, next)
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
    async fn after(
        self: &Arc<Self>,
        (caller, paging): (&Caller, &Paging),
        arguments: &Map<String, Value>,
        left: Left,
        deadline: Instant,
    ) -> Further {
        let most = self.factory.0.config.limits.answer;
        let bound = Bound { bytes: left.bytes, may_cut: false };
        let answer = match timeout_at(deadline, self.one(caller, arguments, bound, deadline)).await {
            Err(_) => {
                return Further::Stopped(format!("Stopped: no next page within {:?}", self.time));
            }
            Ok(Err(Failed::Unanswered(Unanswered::TooLong(_)))) => {
                return Further::Stopped(format!("Stopped before {most} bytes"));
            }
            Ok(Err(_)) => return Further::Stopped("Stopped: no answer for the next page".to_owned()),
            Ok(Ok(answer)) if answer.status != 200 => {
                return Further::Stopped(format!("Stopped: HTTP {} for the next page", answer.status));
            }
            Ok(Ok(answer)) => answer,
        };
        let Some(bytes) = left.bytes.checked_sub(answer.body.len()) else {
            return Further::Stopped(format!("Stopped before {most} bytes"));
        };
        let (answer, body) = self.read(answer, left.values).await;
        match body {
            Body::Page { value: body, values } => {
                let next = paging.next(arguments, &body, link(&answer));
                Further::Page { body, left: Left { bytes, values: left.values.saturating_sub(values) }, next }
            }
            Body::TooMany => Further::Stopped(format!("Stopped before {VALUES} values")),
            Body::Other => Further::Stopped("Stopped: the next page is no JSON".to_owned()),
        }
    }

    /// The body of a successful answer, if it is JSON with at most so many values.
    async fn read(&self, answer: Incoming, most: usize) -> (Incoming, Body) {
        if answer.body.len() < LARGE {
            let page = page(&answer, most);
            return (answer, page);
        }
        let kept = answer.clone_head();
        let read = spawn_blocking(move || {
            let page = page(&answer, most);
            (answer, page)
        });
        read.await.unwrap_or((kept, Body::Other))
    }
}

fn link(answer: &Incoming) -> Option<&str> {
    wire::trace::header(&answer.headers, "link")
}

fn page(answer: &Incoming, most: usize) -> Body {
    let Incoming { status, headers, body, is_cut } = answer;
    let received = Received { status: *status, headers, body: body.into(), is_cut: *is_cut };
    if !(200..300).contains(status) || body.is_empty() || *is_cut {
        return Body::Other;
    }
    // Before it is parsed: the values take far more memory than the text.
    let values = values(body);
    if values > most {
        return Body::TooMany;
    }
    received.json().map_or(Body::Other, |value| Body::Page { value, values })
}

/// How many values a JSON text has, by its brackets and commas.
fn values(text: &[u8]) -> usize {
    let (mut count, mut in_string, mut escaped) = (1, false, false);
    for &byte in text {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
        } else if byte == b'"' {
            in_string = true;
        } else if matches!(byte, b'[' | b'{' | b',') {
            count += 1;
        }
    }
    count
}

//! One call of a tool: the request, its repetitions, its pages, the answer.

mod one;

use openapi::answer::{self, Answered, Block, Received, View};
use openapi::request::Fault;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout};
use wire::serf::{Category, Details};

use crate::keeping::{FILE_TEMPLATE, Keeper, TEXT_TEMPLATE, uri};
use crate::operation::{Callable, CallableOperation};
use crate::sending::{Incoming, Unanswered};

/// Why a call has no answer of the API.
pub(crate) enum Failed {
    /// The arguments make no request.
    Request(Fault),
    /// No token can be had, or a header cannot be sent.
    Credentials(String),
    /// The API did not answer.
    Unanswered(Unanswered),
}

/// What a call fetched: the first answer, with the items of further pages in its body.
struct Fetched {
    answer: Incoming,
    /// The body, where it is a page.
    page: Option<Value>,
    /// The cursor of what comes after it.
    next: Option<String>,
    /// What the reader should know.
    note: Option<String>,
}

impl CallableOperation {
    /// Calls the operation. The arguments fit the tool's schema.
    pub async fn call(&self, arguments: Map<String, Value>) -> Answered {
        let call = &self.0;
        let limits = call.factory.0.config.limits;
        let arguments = match call.with_cursor(arguments) {
            Ok(arguments) => arguments,
            Err(answered) => return *answered,
        };
        let deadline = Instant::now() + limits.time;
        let fetched = timeout(limits.time, async {
            let _place = call.factory.0.running.acquire().await;
            call.fetch(arguments, deadline).await
        });
        match fetched.await {
            Ok(Ok(fetched)) => call.shown(fetched),
            Ok(Err(failed)) => call.failed(&failed),
            Err(_) => call.too_slow(),
        }
    }
}

impl Callable {
    /// The arguments with those that the cursor stands for.
    fn with_cursor(&self, mut arguments: Map<String, Value>) -> Result<Map<String, Value>, Box<Answered>> {
        let Some(paging) = &self.paging else { return Ok(arguments) };
        let Some(cursor) = arguments.remove(self.cursor) else { return Ok(arguments) };
        let found = cursor.as_str().and_then(|cursor| paging.arguments(cursor));
        let found = found.ok_or_else(|| {
            let text = format!("argument `{}`: it is not a cursor of this tool", self.cursor);
            let action = "Use the cursor exactly as the answer before gave it, or leave it out";
            Box::new(Answered::failed(Details::new(Category::InvalidInput, action), text))
        })?;
        arguments.extend(found);
        Ok(arguments)
    }

    /// The first page, and further ones as long as items are wanted and there are any.
    async fn fetch(&self, mut arguments: Map<String, Value>, deadline: Instant) -> Result<Fetched, Failed> {
        let most = self.most.and_then(|name| arguments.remove(name)?.as_u64());
        let answer = self.one(&arguments, deadline).await?;
        let Some((paging, mut page)) = self.paging.as_ref().zip(page(&answer)) else {
            return Ok(Fetched { answer, page: None, next: None, note: None });
        };
        let mut fetched = Fetched { next: None, page: None, note: None, answer };
        let link = |answer: &Incoming| wire::trace::header(&answer.headers, "link").map(str::to_owned);
        fetched.next = paging.next(&arguments, &page, link(&fetched.answer).as_deref());
        let limits = &self.factory.0.config.limits;
        let (mut pages, mut bytes) = (1, fetched.answer.body.len());
        while let Some((next, most)) = fetched.next.clone().zip(most) {
            let count = paging.items(&page).map_or(0, |(_, items)| items.len() as u64);
            if count == 0 || count >= most {
                break;
            }
            if pages == limits.pages {
                fetched.note = Some(format!("Stopped after {pages} pages"));
                break;
            }
            let Some(more) = paging.arguments(&next) else { break };
            arguments.extend(more);
            let answer = match self.one(&arguments, deadline).await {
                Ok(answer) if answer.status == 200 => answer,
                Ok(answer) => {
                    fetched.note = Some(format!("Stopped: HTTP {} for the next page", answer.status));
                    break;
                }
                Err(_) => {
                    fetched.note = Some("Stopped: no answer for the next page".to_owned());
                    break;
                }
            };
            bytes += answer.body.len();
            if bytes > limits.answer {
                fetched.note = Some(format!("Stopped before {} bytes", limits.answer));
                break;
            }
            let Some(body) = self::page(&answer) else { break };
            pages += 1;
            let after = paging.next(&arguments, &body, link(&answer).as_deref());
            // An API that names the same page again would never end.
            fetched.next = after.filter(|after| *after != next);
            if !paging.append(&mut page, body) {
                fetched.next = None;
                break;
            }
        }
        fetched.page = Some(page);
        Ok(fetched)
    }

    /// A view of an answer, with an address for what does not go inline.
    fn shown(&self, fetched: Fetched) -> Answered {
        let inner = &self.factory.0;
        let id = Keeper::fresh_id();
        let (uri, file_uri) = (uri(TEXT_TEMPLATE, &id), uri(FILE_TEMPLATE, &id));
        let view = View {
            structured: self.structured,
            shape: &self.shape,
            inline: inner.config.limits.inline,
            repeatable: self.operation.method.is_idempotent(),
            now: oauth::now(),
            uri: &uri,
            file_uri: &file_uri,
        };
        let Incoming { status, headers, body } = &fetched.answer;
        let mut answered = match fetched.page {
            Some(page) => answer::of_json(page, fetched.next.as_deref(), &view),
            None => answer::read(&Received { status: *status, headers, body }, &view),
        };
        answered.blocks.extend(fetched.note.map(Block::Text));
        if let Some(kept) = answered.kept.take() {
            inner.keeper.keep(id, kept);
        }
        answered
    }

    fn failed(&self, failed: &Failed) -> Answered {
        use Category::{InternalError, InvalidInput, PermissionDenied, ResourceExhausted, UpstreamFailure};
        let again = self.operation.method.is_idempotent();
        let api = self.base.host_str().unwrap_or_default();
        let (details, text) = match failed {
            Failed::Request(fault @ Fault::Argument { .. }) => {
                (Details::new(InvalidInput, InvalidInput.advice()), fault.to_string())
            }
            Failed::Request(fault) => (Details::new(InternalError, InternalError.advice()), fault.to_string()),
            Failed::Credentials(why) => {
                let action = "Ask who runs this server to check the credentials of the API";
                (Details::new(PermissionDenied, action), format!("no credentials for {api}: {why}"))
            }
            Failed::Unanswered(unanswered) => {
                let text = format!("{api}: {}", unanswered.why());
                let details = match unanswered {
                    Unanswered::NotSent(_) => {
                        Details { retryable: true, ..Details::new(UpstreamFailure, "Try again after a wait") }
                    }
                    Unanswered::Unknown(_) if again => {
                        Details { retryable: true, ..Details::new(UpstreamFailure, "Try again after a wait") }
                    }
                    Unanswered::Unknown(_) => answer::details(500, None, false),
                    Unanswered::Forbidden(_) => Details::new(
                        PermissionDenied,
                        "Ask who runs this server: its configuration does not allow this",
                    ),
                    Unanswered::TooLong(_) => {
                        Details::new(ResourceExhausted, "Ask for less: a filter, or smaller pages")
                    }
                    Unanswered::Unreadable(_) => Details::new(UpstreamFailure, "Ask who runs this server"),
                };
                (details, text)
            }
        };
        Answered::failed(details, self.factory.0.concealer.text(&text))
    }

    fn too_slow(&self) -> Answered {
        let (api, again) = (self.base.host_str().unwrap_or_default(), self.operation.method.is_idempotent());
        let text = format!("{api}: no whole answer within {:?}", self.factory.0.config.limits.time);
        Answered::failed(Details { retryable: again, ..answer::details(504, None, again) }, text)
    }
}

/// The body of a successful answer, if it is JSON.
fn page(answer: &Incoming) -> Option<Value> {
    let Incoming { status, headers, body } = answer;
    let received = Received { status: *status, headers, body };
    received.json().filter(|_| (200..300).contains(status) && !body.is_empty())
}

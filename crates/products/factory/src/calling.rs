//! One call of a tool: the request, its repetitions, its pages, the answer.

mod one;
mod pages;

use std::sync::Arc;

use openapi::answer::{self, Answered, Block, Received, View};
use openapi::request::Fault;
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};
use url::Url;
use wire::serf::{Category, Details};

use crate::auth::{Additions, Missing};
use crate::caller::Caller;
use crate::keeping::Keeper;
use crate::operation::{Callable, CallableOperation};
use crate::sending::{Incoming, Unanswered};
use pages::Fetched;

/// From how many bytes on an answer is read and shown on a thread of its own.
const LARGE: usize = 64 << 10;

/// Why a call has no answer of the API.
pub(crate) enum Failed {
    /// The arguments make no request.
    Request(Fault),
    /// No token can be had, or a header cannot be sent.
    Credentials(String),
    /// The user has not consented yet, and may do so here.
    Consent(Url),
    /// The address of the request is longer than servers read.
    TooLong(usize),
    /// The API did not answer.
    Unanswered(Unanswered),
    /// It did not answer in time.
    Late,
}

impl CallableOperation {
    /// Calls the operation for the one user of this process. The arguments fit the tool's schema.
    pub async fn call(&self, arguments: Map<String, Value>) -> Answered {
        self.call_for(&Caller::only(), arguments).await
    }

    /// The same for this caller, who alone can read what is kept of the answer.
    pub async fn call_for(&self, caller: &Caller, arguments: Map<String, Value>) -> Answered {
        let call = &self.0;
        let arguments = match call.with_cursor(arguments) {
            Ok(arguments) => arguments,
            Err(answered) => return *answered,
        };
        let deadline = Instant::now() + call.time;
        let inner = &call.factory.0;
        let places = if call.is_slow { &inner.running_slow } else { &inner.running };
        let Ok(place) = timeout_at(deadline, Arc::clone(places).acquire_owned()).await else {
            return call.too_slow();
        };
        let answered = match call.fetch(caller, arguments, deadline).await {
            Ok(fetched) => call.shown_apart(caller, fetched).await,
            Err(failed) => call.failed(&failed),
        };
        // Also what an answer takes while it is shown is bounded by the number of calls.
        drop(place);
        answered
    }
}

impl CallableOperation {
    /// Where the caller must consent before the call, if that is so.
    pub async fn consent(&self, caller: &Caller) -> Option<Url> {
        let mut additions = Additions::default();
        for credential in self.0.credentials.iter().filter(|credential| credential.asks_users()) {
            if let Err(Missing::Consent(url)) = credential.add(&mut additions, caller, None).await {
                return Some(url);
            }
        }
        None
    }

    /// Waits until the caller has consented to all that the call needs; `false` where that takes longer than a call may.
    pub async fn consented(&self, caller: &Caller) -> bool {
        let limit = self.0.factory.0.config.limits.time;
        for credential in &self.0.credentials {
            if !credential.given(caller, limit).await {
                return false;
            }
        }
        true
    }

    /// The host of the API.
    pub fn host(&self) -> &str {
        self.0.base.host_str().unwrap_or_default()
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

    /// The same on a thread that may be busy, where the answer is large.
    async fn shown_apart(self: &Arc<Self>, caller: &Caller, fetched: Fetched) -> Answered {
        if fetched.answer.body.len() < LARGE && fetched.page.is_none() {
            return self.shown(caller, fetched);
        }
        let (call, caller) = (Arc::clone(self), caller.clone());
        let shown = spawn_blocking(move || call.shown(&caller, fetched)).await;
        shown.unwrap_or_else(|_| {
            let details = Details::new(Category::InternalError, Category::InternalError.advice());
            Answered::failed(details, "the answer cannot be shown")
        })
    }

    /// A view of an answer, with an address for what does not go inline.
    fn shown(&self, caller: &Caller, fetched: Fetched) -> Answered {
        let inner = &self.factory.0;
        let id = Keeper::fresh_id();
        let (uri, file_uri) = (inner.place.text(&id), inner.place.file(&id));
        let view = View {
            structured: self.structured,
            shape: &self.shape,
            cursor: self.cursor,
            inline: inner.config.limits.inline,
            repeatable: self.operation.method.is_idempotent(),
            now: oauth::now(),
            uri: &uri,
            file_uri: &file_uri,
        };
        let Incoming { status, headers, body, is_cut } = fetched.answer;
        let mut answered = match fetched.page {
            Some(page) => answer::of_json(page, fetched.next.as_deref(), &view),
            None => answer::read(Received { status, headers: &headers, body: body.into(), is_cut }, &view),
        };
        answered.blocks.extend(fetched.note.map(Block::Text));
        if let Some(kept) = answered.kept.take() {
            inner.keeper.keep(caller, id, kept);
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
            Failed::Consent(url) => {
                let text = format!("the user must let this server use {api}: open {url} in a browser on this machine");
                (Details::new(PermissionDenied, "Ask the user to open the address, then call the tool again"), text)
            }
            Failed::TooLong(bytes) => {
                let text = format!("the address of the request would have {bytes} bytes, which servers do not read");
                (Details::new(InvalidInput, "Give shorter arguments, or fewer"), text)
            }
            Failed::Late => return self.too_slow(),
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
        let text = format!("{api}: no whole answer within {:?}", self.time);
        Answered::failed(Details { retryable: again, ..answer::details(504, None, again) }, text)
    }
}

//! Requests of 2026-07-28 over HTTP: each stands alone; the answer is plain JSON unless other messages precede it.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use hyper::StatusCode;
use wire::{Message, Revision, Transport};

use super::entry::Sender;
use super::outbox::Outbox;
use super::response::{Response, events, json, status};
use super::response_body::{Body, Last, Silence, Stream};
use super::{Shared, guard};
use crate::server::link::Link;
use crate::service::{Answer, Call, Context, Pending, Reply, code};

/// Answers an admitted request.
pub(super) async fn request(shared: &Shared, sender: Sender, message: Message, revision: Revision) -> Response {
    let limits = &shared.options.limits;
    let outbox = Arc::new(Outbox::new(limits.events, limits.event_bytes));
    let link = Link::new(Arc::clone(&outbox) as _, None, shared.closing.clone());
    let context = context(shared, revision, sender);
    let stream = |pending: Option<Pending>, last: Option<Answer>, outbox: Arc<Outbox>| {
        let silence = Silence::new(limits.keep_alive);
        events(Body::boxed(Stream { pending, last: last.map(Last::from), outbox, silence }))
    };
    let mut pending = match shared.service.call(Call { message, context, link }) {
        Reply::Now(answer) if outbox.is_empty() => return json(status_of(&answer), answer),
        Reply::Now(answer) => return stream(None, Some(answer), outbox),
        Reply::Later(pending) => pending,
    };
    let answer = poll_fn(|context| match pending.as_mut().poll(context) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending => outbox.poll_filled(context).map(|()| None),
    })
    .await;
    match answer {
        Some(answer) if outbox.is_empty() => json(status_of(&answer), answer),
        Some(answer) => stream(None, Some(answer), outbox),
        None => stream(Some(pending), None, outbox),
    }
}

/// The status an answer has where it is the whole response.
fn status_of(answer: &Answer) -> StatusCode {
    match answer.code() {
        Some(code::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(
            code::PARSE_ERROR
            | code::INVALID_REQUEST
            | code::HEADER_MISMATCH
            | code::MISSING_CLIENT_CAPABILITY
            | code::UNSUPPORTED_VERSION,
        ) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// Receives a notification. This revision defines none over HTTP; any is accepted.
pub(super) fn notification(shared: &Shared, sender: Sender, message: &Message) -> Response {
    shared.service.notice(message, &context(shared, Revision::NEWEST, sender));
    status(StatusCode::ACCEPTED)
}

fn context(shared: &Shared, revision: Revision, sender: Sender) -> Context {
    let Sender { headers, grant } = sender;
    let subject = guard::subject(shared, &headers).cloned();
    Context {
        revision,
        transport: Transport::StreamableHttp,
        whole: false,
        session: None,
        headers: Some(headers),
        subject,
        grant,
    }
}

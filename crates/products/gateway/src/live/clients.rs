//! The side of clients: each request with its answer, and the messages between the two. Must not know what answers.

use std::sync::Arc;

use net::server::http::Grant;
use net::server::link::{Gone, MessageSink};
use net::service::{Call, Context, Reply};
use serde_json::json;
use wire::{Message, Party};

use super::{Exchange, Live, Open, Side, WITHIN};
use crate::stats::clipped;

/// The longest name of a principal, in characters.
const LONGEST: usize = 128;

/// Answers a request of a client and shows both.
pub(crate) fn answered(live: &Arc<Live>, server: &str, mut call: Call, answer: impl FnOnce(Call) -> Reply) -> Reply {
    call.context.headers.iter().for_each(|headers| live.learn(headers));
    let Some(exchange) = side(live, server, &call.context).with_connection().begin(call.id()) else {
        return answer(call);
    };
    exchange.shows(Party::Client, call.message.text());
    let seen = exchange.clone();
    call.link = call.link.rerouted(|sink| Arc::new(Seen { sink, exchange: seen }));
    let number = exchange.0.number;
    let open = Open(exchange);
    match WITHIN.sync_scope(number, || answer(call)) {
        Reply::Now(answer) => {
            open.0.answers(answer.text());
            Reply::Now(answer)
        }
        Reply::Later(pending) => Reply::later(WITHIN.scope(number, async move {
            let answer = pending.await;
            open.0.answers(answer.text());
            answer
        })),
    }
}

/// Shows a notification of a client.
pub(crate) fn noticed(live: &Arc<Live>, server: &str, message: &Message, context: &Context) {
    if live.is_watched() {
        side(live, server, context).shows(Party::Client, message.text());
    }
}

/// Whose side it is: the principal, as the gateway knows it, at one of its servers.
fn side(live: &Arc<Live>, server: &str, context: &Context) -> Side {
    let principal = context.grant.as_deref().map(principal).filter(|name| !name.is_empty());
    let principal = principal.map(|name| live.redactor().redact_text(clipped(&name, LONGEST)).into_owned());
    let names = json!({ "principal": principal, "server": server });
    Side { live: Arc::clone(live), names: names.to_string().into(), connection: 0 }
}

fn principal(grant: &Grant) -> String {
    let subject = grant.claims.get("sub").and_then(|subject| subject.as_str());
    let certificate = || grant.certificate.as_ref().map(|certificate| certificate.name());
    subject.map(str::to_owned).or_else(certificate).unwrap_or_default()
}

/// Shows what is sent to a client in the course of its request.
struct Seen {
    sink: Arc<dyn MessageSink>,
    exchange: Exchange,
}

impl MessageSink for Seen {
    fn send(&self, text: String) -> Result<(), Gone> {
        self.exchange.shows(Party::Server, &text);
        self.sink.send(text)
    }

    fn answered(&self, answer: &Message) {
        self.exchange.shows(Party::Client, answer.text());
    }

    fn release(&self) {
        self.sink.release();
    }

    fn close(&self) {
        self.sink.close();
    }
}

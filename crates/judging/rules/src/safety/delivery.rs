//! How bytes arrive: a stream has no seams, and where a read ends says nothing.

use wire::revision::{R2024_11_05, R2026_07_28};
use wire::trace::{Closed, StimulusKind};
use wire::{Party, Transport};

use crate::rule::{Rule, at, safety};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, View};

const WHOLE: &str = "A good server reads a message whole that comes in pieces, wherever it is cut.";

/// The rules.
pub(crate) const RULES: &[Rule] = &[safety("safety.split-delivery-read")
    .on(&[Transport::Stdio, Transport::StreamableHttp, Transport::HttpSse])
    .asks(R2024_11_05, at("basic/transports", ""), WHOLE)
    .asks(R2026_07_28, at("basic/transports/index", "messages"), WHOLE)
    .timed()
    .by_default()
    .how(
        "Sends a request slowly and in pieces, some of which end within a character, and looks for the answer under \
             its id. A refusal by HTTP counts as neither.",
    )
    .fix("Collect the bytes up to the line feed, or to the end of the body, and decode them then.")
    .judge(split_delivery_read)];

fn split_delivery_read(view: &View<'_>) -> Verdict {
    let judged = view.stimulated(StimulusKind::RequestInPieces).filter_map(|stimulus| {
        let connection = view.frame(stimulus).connection;
        let mut calls = view.calls_by(Party::Client);
        let call = calls.find(|c| c.request.event > stimulus && c.request.connection == connection)?;
        outcome_of(view, &call)
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no request was sent in pieces, or it was refused")
}

/// The answer to it, or where it was given up.
fn outcome_of(view: &View<'_>, call: &Call<'_>) -> Option<(usize, Kept)> {
    if let Some(answer) = call.response {
        return Some((answer.event, Ok(())));
    }
    let request = call.request;
    let breach = |why: &str| Err(request.breach("", why));
    if let Some(exchange) = view.exchange(request.exchange) {
        if exchange.status().is_some_and(|status| status >= 300) {
            return None;
        }
        if let (None, Some((event, Party::Server, Closed::Reset | Closed::End))) = (exchange.status(), exchange.closed)
        {
            return Some((event, breach("the connection was cut over a request that came in pieces")));
        }
    }
    let timeout = view.timeout_of(request)?;
    Some((timeout.event, breach("a request that came in pieces was not answered under its id")))
}

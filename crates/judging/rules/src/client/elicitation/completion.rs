//! The page `client/elicitation` at 2025-11-25: how a server says that a visit is due, and that it is over.

use std::collections::BTreeMap;

use serde_json::Value;
use wire::Kind;
use wire::error_code::URL_ELICITATION_REQUIRED;
use wire::method;
use wire::revision::{R2025_11_25, R2026_07_28};

use super::{ELICIT, here};
use crate::reading::questions::questions;
use crate::rule::{Rule, server};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{MessageAt, View};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    server("elicitation.completion-addressed")
        .says(
            R2025_11_25,
            here("completion-notifications-for-url-mode-elicitation"),
            "`notifications/elicitation/complete` MUST go to the client that was asked, with the `elicitationId` that it was \
             asked with.",
        )
        .gone(R2026_07_28)
        .how("Looks for the id among the elicitations that the server sent before on the same connection, by request or by \
              the error -32042; one that it sent on another connection that is still open belongs to another client.")
        .fix("Keep with each elicitation the session that it went to, and tell that session alone.")
        .judge(addressed),
    server("elicitation.required-error")
        .says(
            R2025_11_25,
            here("url-elicitation-required-error"),
            "The error for a required visit MUST have the code -32042 and list the visit, and MUST NOT be returned for \
             anything else.",
        )
        .gone(R2026_07_28)
        .how("Looks at errors -32042: each must list at least one elicitation, and answer a method that exists. And at \
              errors of other codes that list elicitations in mode `url`.")
        .fix("Answer -32042 with `data.elicitations` where the user has to visit a page first, and only there.")
        .judge(required_error),
];

/// The ids by which elicitations in mode `url` were named, with every message that did.
fn named<'v>(view: &View<'v>) -> BTreeMap<&'v str, Vec<MessageAt<'v>>> {
    let requested =
        questions(view, ELICIT).into_iter().filter_map(|q| Some((q.sent, q.param("elicitationId")?.as_str()?)));
    let errors = view.by_subject().filter(|sent| sent.message.kind() == Kind::Error);
    let listed = errors.flat_map(|sent| {
        let each = elicitations(sent).into_iter().flatten();
        each.filter_map(move |one| Some((sent, one.get("elicitationId")?.as_str()?)))
    });
    let mut named: BTreeMap<&str, Vec<MessageAt<'_>>> = BTreeMap::new();
    for (sent, id) in requested.chain(listed) {
        named.entry(id).or_default().push(sent);
    }
    named
}

/// What an error lists.
fn elicitations(sent: MessageAt<'_>) -> Option<&Vec<Value>> {
    sent.message.error()?.pointer("/data/elicitations")?.as_array()
}

fn addressed(view: &View<'_>) -> Verdict {
    let named = named(view);
    let completions = view.notifications("notifications/elicitation/complete").filter(|sent| {
        // Where the handshake is not seen, neither may be what came before it.
        view.is_current(*sent) && view.handshake(sent.connection).is_some() && view.is_fully_seen(sent.connection)
    });
    let judged = completions.filter_map(|sent| {
        let breach = |why: &str| Some((sent.event, Err(sent.breach("/params/elicitationId", why))));
        let Some(id) = sent.message.params().and_then(|p| p.get("elicitationId")?.as_str()) else {
            return breach("the notification names no elicitation");
        };
        let before: Vec<_> =
            named.get(id).into_iter().flatten().filter(|requested| requested.event < sent.event).collect();
        if before.iter().any(|requested| requested.connection == sent.connection) {
            return Some((sent.event, Ok(())));
        }
        match before.first() {
            None => breach("no elicitation was sent under this id"),
            // One client may come back on a new connection when its old one has ended.
            Some(requested) => (!has_ended(view, requested.connection, sent.event))
                .then(|| breach("this elicitation was sent to another client"))
                .flatten(),
        }
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the server said of no visit that it is over")
}

fn has_ended(view: &View<'_>, connection: u32, before: usize) -> bool {
    let mut closings = view.closings();
    closings.any(|(event, frame, _)| frame.connection == connection && frame.exchange == 0 && event < before)
}

fn required_error(view: &View<'_>) -> Verdict {
    let errors = view.by_subject().filter(|sent| sent.message.kind() == Kind::Error && view.is_current(*sent));
    let judged = errors.filter_map(|sent| {
        let kept = fault_of(view, sent)?;
        Some((sent.event, kept))
    });
    Verdict::of(judged, "no error said that a visit is due")
}

/// What is wrong with an error as one for a visit that is due; `None` where it is not one and does not have to be.
fn fault_of(view: &View<'_>, sent: MessageAt<'_>) -> Option<Result<(), Breach>> {
    let listed = elicitations(sent).map_or(&[][..], Vec::as_slice);
    if sent.message.error_code() != Some(URL_ELICITATION_REQUIRED) {
        let visits = listed.iter().any(|one| one.get("mode").is_some_and(|mode| mode == "url"));
        let why = "visits that are due are listed in an error of another code";
        return visits.then(|| Err(sent.breach("/error/code", why)));
    }
    if listed.is_empty() {
        return Some(Err(sent.breach("/error", "the error -32042 lists no elicitation")));
    }
    let unknown =
        view.question(sent).and_then(|request| request.message.method()).filter(|name| !method::known_ever(name));
    let breach = |name: &str| {
        let why = format!("`{}` does not exist: no visit can be due for it", name.escape_debug());
        sent.breach("/error/code", why)
    };
    // A name of the server's own may mean something to it.
    let has_made_up_method = unknown.filter(|name| name.contains("no-such"));
    Some(has_made_up_method.map_or(Ok(()), |name| Err(breach(name))))
}

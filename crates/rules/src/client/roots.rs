//! The page `client/roots`. That a server asks for roots only where the client declared them is judged by
//! `lifecycle.roots-negotiated` and `meta.undeclared-not-used`.

use serde_json::Value;
use wire::revision::{R2024_11_05, R2026_07_28};
use wire::{Era, Kind};

use crate::asking::{questions, retries};
use crate::coping::{Trial, copes};
use crate::rule::{Anchor, Rule, at, client, server};
use crate::verdict::Verdict;
use crate::view::{View, declared};

const fn here(section: &'static str) -> Anchor {
    at("client/roots", section)
}

/// The page's rules: first those that bind servers.
pub(crate) const RULES: &[Rule] = &[
    server("roots.unavailable-handled")
        .says(
            R2024_11_05,
            here("security-considerations"),
            "A server SHOULD cope with roots that are not to be had any more.",
        )
        .timed()
        .how(
            "Answers a request for roots with an error or with none at all, and looks at what becomes of the call that \
              needs them, and of the connection.",
        )
        .mend("Go on without roots, or let the call fail, where the client has none to give.")
        .judge(unavailable),
    server("roots.list-changes-handled")
        .says(
            R2024_11_05,
            here("implementation-guidelines"),
            "A server SHOULD take it gracefully when the list of roots changes.",
        )
        .gone(R2026_07_28)
        .how("Looks at what becomes of the connection after a client that declares `roots.listChanged` says so.")
        .mend("Forget what you know of the roots, and ask again when you need them.")
        .judge(changes),
    client("roots.capability-declared")
        .says(R2024_11_05, here("capabilities"), "A client that serves roots MUST declare it in the handshake.")
        .says(R2026_07_28, here("capabilities"), "A client that serves roots MUST declare it with each request.")
        .declared(),
    client("roots.list-changed-sent")
        .says(
            R2024_11_05,
            here("root-list-changes"),
            "A client that declares `roots.listChanged` MUST say when its roots have changed.",
        )
        .gone(R2026_07_28)
        .declared(),
    client("roots.uris-file")
        .says(R2024_11_05, here("root"), "The URI of a root MUST have the scheme `file`.")
        .declared(),
    client("roots.uris-plain")
        .says(
            R2024_11_05,
            here("security-considerations"),
            "A client MUST check its roots: no URI may lead elsewhere on the way, as by `..`.",
        )
        .declared(),
    client("roots.accessible")
        .says(
            R2024_11_05,
            here("implementation-guidelines"),
            "A client SHOULD offer only roots that are there and can be read.",
        )
        .declared(),
    client("roots.unsupported-refused")
        .says(
            R2024_11_05,
            here("error-handling"),
            "A client without roots SHOULD refuse a request for them with the code -32601.",
        )
        .gone(R2026_07_28)
        .declared(),
];

const LIST: &str = "roots/list";

/// Whether a list of roots holds none.
fn is_empty(result: &Value) -> bool {
    result.get("roots").and_then(Value::as_array).is_some_and(Vec::is_empty)
}

fn unavailable(view: &View<'_>) -> Verdict {
    let (what, unseen) = ("roots could not be had", "the server asked for no roots that were not to be had");
    if view.era() == Era::Modern {
        let trials = retries(view).into_iter().filter(|retry| retry.answers(LIST).any(is_empty));
        return copes(view, trials.map(|r| Trial { said: r.call.request, call: Some(r.call) }), what, unseen);
    }
    let trials = questions(view, LIST).into_iter().filter_map(|question| {
        let said = view.answer(question.said)?;
        let gone = said.message.kind() == Kind::Error || said.message.result().is_some_and(is_empty);
        gone.then_some(Trial { said, call: question.call })
    });
    copes(view, trials.collect::<Vec<_>>(), what, unseen)
}

fn changes(view: &View<'_>) -> Verdict {
    let own = view.by(view.subject().peer()).filter(|said| {
        let capable =
            || view.client_capabilities(*said).is_some_and(|own| declared(own, "roots.listChanged").is_some());
        said.message.kind() == Kind::Notification && said.is("notifications/roots/list_changed") && capable()
    });
    let trials = own.map(|said| Trial { said, call: None });
    copes(view, trials, "a changed list of roots", "no client said that its roots have changed")
}

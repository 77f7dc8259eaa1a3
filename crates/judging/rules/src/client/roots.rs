//! The page `client/roots`. That a server asks for roots only where the client declared them is judged by
//! `lifecycle.roots-negotiated` and `meta.undeclared-not-used`.

use serde_json::Value;
use wire::error_code::METHOD_NOT_FOUND;
use wire::revision::{R2024_11_05, R2026_07_28};
use wire::{Era, Kind};

use crate::reading::liveness::{Incident, server_survives};
use crate::reading::questions::{Reply, declared_if_served, questions, replies, retries};
use crate::rule::{Anchor, Rule, at, client, server};
use crate::verdict::{Kept, Verdict};
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
            "A server SHOULD cope with roots that are not available any more.",
        )
        .timed()
        .how(
            "Answers a request for roots with an error or an empty list, and looks at what happens to the call that needs them, and to the connection.",
        )
        .fix("Continue without roots, or let the call fail, where the client has none to give.")
        .judge(unavailable),
    server("roots.list-changes-handled")
        .says(
            R2024_11_05,
            here("implementation-guidelines"),
            "A server SHOULD take it gracefully when the list of roots changes.",
        )
        .gone(R2026_07_28)
        .how("Looks at what happens to the connection after a client that declares `roots.listChanged` says so.")
        .fix("Forget what you know of the roots, and ask again when you need them.")
        .judge(changes),
    client("roots.capability-declared")
        .says(R2024_11_05, here("capabilities"), "A client that serves roots MUST declare it in the handshake.")
        .says(R2026_07_28, here("capabilities"), "A client that serves roots MUST declare it with each request.")
        .how("Needs a server that asks for roots whatever the client declared, and checks whether it is served without `roots`.")
        .fix("Declare `roots`, or refuse such requests.")
        .judge(|view| declared_if_served(view, LIST)),
    client("roots.list-changed-sent")
        .says(
            R2024_11_05,
            here("root-list-changes"),
            "A client that declares `roots.listChanged` MUST say when its roots have changed.",
        )
        .gone(R2026_07_28)
        .needs("roots.listChanged")
        .how("Needs a server that asks for roots twice, and a client whose roots change in between: looks for the notification between the first answer and the end of a quiet window, or the client's leaving.")
        .fix("Send `notifications/roots/list_changed` whenever the list changes.")
        .judge(list_changed_sent),
    client("roots.uris-file")
        .says(R2024_11_05, here("root"), "The URI of a root MUST have the scheme `file`.")
        .needs("roots")
        .how("Reads the URI of every root. Needs a server that asks for roots.")
        .fix("Offer directories and files as `file://` URIs.")
        .judge(uris_file),
    client("roots.uris-plain")
        .says(
            R2024_11_05,
            here("security-considerations"),
            "A client MUST check its roots: no URI may lead elsewhere on the way, as by `..`.",
        )
        .needs("roots")
        .how("Looks for steps `..` in the URI of every root, percent signs resolved. Needs a server that asks for roots.")
        .fix("Resolve a path before you make a URI of it.")
        .judge(uris_plain),
    client("roots.accessible")
        .says(
            R2024_11_05,
            here("implementation-guidelines"),
            "A client SHOULD offer only roots that are there and can be read.",
        )
        .unobservable("whether there is anything at a path, and whether it can be read, is known on the client's machine alone"),
    client("roots.unsupported-refused")
        .says(
            R2024_11_05,
            here("error-handling"),
            "A client without roots SHOULD refuse a request for them with the code -32601.",
        )
        .gone(R2026_07_28)
        .how("Needs a server that asks for roots of a client that did not declare them, and looks at the code of its error.")
        .fix("Answer -32601 (method not found).")
        .judge(unsupported_refused),
];

const LIST: &str = "roots/list";

/// Whether a list of roots holds none.
fn is_empty(result: &Value) -> bool {
    result.get("roots").and_then(Value::as_array).is_some_and(Vec::is_empty)
}

fn unavailable(view: &View<'_>) -> Verdict {
    let (what, unseen) = ("roots could not be had", "the server asked for no roots that were not available");
    if view.era() == Era::Modern {
        let incidents = retries(view).into_iter().filter(|retry| retry.answers(LIST).any(is_empty));
        return server_survives(
            view,
            incidents.map(|r| Incident { sent: r.call.request, call: Some(r.call) }),
            what,
            unseen,
        );
    }
    let incidents = questions(view, LIST).into_iter().filter_map(|question| {
        let sent = view.answer(question.sent)?;
        let gone = sent.message.kind() == Kind::Error || sent.message.result().is_some_and(is_empty);
        gone.then_some(Incident { sent, call: question.call })
    });
    server_survives(view, incidents.collect::<Vec<_>>(), what, unseen)
}

fn changes(view: &View<'_>) -> Verdict {
    let own = view.by(view.subject().peer()).filter(|sent| {
        let capable =
            || view.client_capabilities(*sent).is_some_and(|own| declared(own, "roots.listChanged").is_some());
        sent.message.kind() == Kind::Notification && sent.is("notifications/roots/list_changed") && capable()
    });
    let incidents = own.map(|sent| Incident { sent, call: None });
    server_survives(view, incidents, "a changed list of roots", "no client said that its roots have changed")
}

/// What clients answered that had declared roots: each with its roots.
fn lists<'v>(view: &View<'v>) -> Vec<(Reply<'v>, &'v Vec<Value>)> {
    let listed = |reply: Reply<'v>| {
        let roots = reply.result?.get("roots")?.as_array()?;
        Some((reply, roots))
    };
    replies(view, LIST).into_iter().filter_map(listed).collect()
}

/// Judges the URI of every root.
fn uris(view: &View<'_>, wrong: impl Fn(&str) -> Option<&'static str>) -> Verdict {
    let judged = lists(view).into_iter().flat_map(|(reply, roots)| {
        let each = roots.iter().enumerate().filter_map(|(place, root)| Some((place, root.get("uri")?.as_str()?)));
        let judge = |(place, uri): (usize, &str)| {
            let breach =
                |why: &str| reply.breach(&format!("/roots/{place}/uri"), format!("`{}` {why}", uri.escape_debug()));
            (reply.sent.event, wrong(uri).map_or(Ok(()), |why| Err(breach(why))))
        };
        each.map(judge).collect::<Vec<(usize, Kept)>>()
    });
    Verdict::of(judged.collect::<Vec<_>>(), "the client listed no roots")
}

fn uris_file(view: &View<'_>) -> Verdict {
    uris(view, |uri| {
        let file = uri.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("file://"));
        (!file).then_some("is not a `file://` URI")
    })
}

fn uris_plain(view: &View<'_>) -> Verdict {
    uris(view, |uri| {
        let plain =
            uri.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/").replace("%5c", "/").replace('\\', "/");
        plain.split('/').any(|step| step == "..").then_some("leads elsewhere by a step `..`")
    })
}

fn list_changed_sent(view: &View<'_>) -> Verdict {
    let lists = lists(view);
    let judged = lists.iter().enumerate().filter_map(|(place, (reply, roots))| {
        let (sent, connection) = (reply.sent, reply.sent.connection);
        let (before, _) =
            lists[..place].iter().rfind(|(other, old)| other.sent.connection == connection && old != roots)?;
        let mut notifications =
            view.notifications("notifications/roots/list_changed").filter(|note| note.connection == connection);
        if let Some(note) = notifications.find(|note| note.event > before.sent.event) {
            return Some((note.event, Ok(())));
        }
        let end = view.watched_after(sent.event, connection)?;
        let why = format!("other roots than in event {}, and until event {end} no notification", before.sent.event);
        Some((end, Err(reply.breach("/roots", why))))
    });
    Verdict::of(
        judged.collect::<Vec<(usize, Kept)>>(),
        "no client with `roots.listChanged` was asked twice and answered differently",
    )
}

fn unsupported_refused(view: &View<'_>) -> Verdict {
    let judged =
        replies(view, LIST).into_iter().filter(|reply| reply.was_invited() == Some(false)).filter_map(|reply| {
            let code = reply.code()?;
            let why = || format!("refused with {code}, expected -32601");
            Some((reply.sent.event, if code == METHOD_NOT_FOUND { Ok(()) } else { Err(reply.breach("/code", why())) }))
        });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no client without roots was asked for them and refused")
}

//! The page `basic`, section "ResultType".

use serde_json::Value;
use wire::meta;
use wire::revision::R2026_07_28;
use wire::{Kind, Party};

use crate::reading::references::{Uses, offers};
use crate::rule::{Rule, at, client, server};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Call, MessageAt, View, declared};

/// The section's rules.
pub(crate) const RULES: &[Rule] = &[
    server("result.type-present")
        .says(R2026_07_28, at("basic/index", "result-responses"), "Every result MUST have a `resultType` that is a string.")
        .how("Looks at every result that answers a request of this revision.")
        .fix("Put `\"resultType\": \"complete\"` into every result that is final.")
        .judge(type_present),
    server("result.type-known")
        .says(R2026_07_28, at("basic/index", "resulttype"), "A `resultType` MUST be one of the core protocol's or of an extension that is advertised.")
        .how("Compares the type of every result with the core's two and, where the server advertises extensions, leaves others alone.")
        .fix("Use `complete` or `input_required`, or advertise the extension that defines another type.")
        .judge(type_known),
    client("result.client-unknown-type-refused")
        .says(R2026_07_28, at("basic/index", "resulttype"), "A client MUST take a result of a type it does not know for invalid.")
        .how("Needs a server that gives lists, or asks for input, in results of an unknown type, and checks whether the client uses what is in them: a cursor, a state, a name with six digits that the client cannot know from elsewhere.")
        .fix("Compare `resultType` with those you know, and treat the answer as an error where it is unknown.")
        .judge(unknown_refused),
    client("result.client-absent-type-complete")
        .says(R2026_07_28, at("basic/index", "resulttype"), "A client MAY be given a result without a type, as servers of earlier revisions have them: it takes that for a complete one.")
        .how("Needs a server that leaves `resultType` out, and checks whether the client uses what is in such lists: a cursor, or a name with six digits that the client cannot know from elsewhere. It is broken by a client that crashes, that read two pages before and stops at this one, or that asks for the same page again.")
        .fix("Read a result without `resultType` as a complete one.")
        .judge(absent_complete),
];

/// Results to requests of this revision.
fn results<'v>(view: &View<'v>) -> Vec<(usize, (MessageAt<'v>, &'v Value))> {
    let mine = view.by_subject().filter(|s| s.message.kind() == Kind::Result);
    let modern = mine.filter(|s| view.revision_of(*s).is_some_and(|r| r.at_least(R2026_07_28)));
    modern.filter_map(|s| Some((s.event, (s, s.message.result()?)))).collect()
}

fn type_present(view: &View<'_>) -> Verdict {
    Verdict::every(results(view), "no request of this revision was answered with a result", |(_, (sent, result))| {
        match result.get("resultType") {
            Some(Value::String(_)) => Ok(()),
            Some(other) => Err(sent.breach("/result/resultType", format!("`resultType` is {other}, not a string"))),
            None => Err(sent.breach("/result", "the result has no `resultType`")),
        }
    })
}

fn type_known(view: &View<'_>) -> Verdict {
    let extended = view
        .server_capabilities()
        .map(|c| declared(c, "extensions").is_some_and(|e| *e != Value::Object(serde_json::Map::new())));
    let typed = results(view).into_iter().filter_map(|(event, (sent, result))| {
        let kind = result.get("resultType")?.as_str()?;
        let core = matches!(kind, "complete" | "input_required");
        // An extension of the server's may define it; what the server advertises must be known to say otherwise.
        (core || extended == Some(false)).then_some((event, (sent, kind, core)))
    });
    Verdict::every(typed, "no result with a type of the core protocol was seen", |(_, (sent, kind, core))| {
        if *core {
            return Ok(());
        }
        let why = format!(
            "`{}` is not a type of the core protocol and the server advertises no extension",
            kind.escape_debug()
        );
        Err(sent.breach("/result/resultType", why))
    })
}

/// Answers to the client's requests of this revision whose result has a type of that kind.
fn answered<'v>(view: &View<'v>, such: fn(Option<&Value>) -> bool) -> Vec<(Call<'v>, MessageAt<'v>, &'v Value)> {
    let calls = view.calls_by(Party::Client).filter(|call| view.is_current(call.request));
    let answers = calls.filter_map(|call| Some((call, call.response?, call.result()?)));
    answers.filter(|(_, _, result)| such(result.get("resultType"))).collect()
}

fn unknown_refused(view: &View<'_>) -> Verdict {
    let unknown = |kind: Option<&Value>| kind.is_some_and(|kind| *kind != "complete" && *kind != "input_required");
    // An extension of the client's may define the type.
    let extended = |call: &Call<'_>| {
        let own = call
            .request
            .message
            .meta()
            .and_then(|meta| meta.get(meta::CLIENT_CAPABILITIES))
            .and_then(|c| declared(c, "extensions"));
        own.and_then(Value::as_object).is_some_and(|extensions| !extensions.is_empty())
    };
    let uses = Uses::of(view);
    let judged =
        answered(view, unknown).into_iter().filter(|(call, ..)| !extended(call)).filter_map(|(call, sent, result)| {
            let kind = result.get("resultType").map(Value::to_string).unwrap_or_default();
            if let Some((event, what)) = uses.first(call.request, sent, result) {
                let why = format!("{what} comes from a result of the unknown type {kind} (event {})", sent.event);
                return Some((event, Err(Breach::at(event, "", why))));
            }
            let tempting = !offers(call.request, result).is_empty() || result.get("requestState").is_some();
            let end = view.watched_after(sent.event, sent.connection).filter(|_| tempting)?;
            Some((end, Ok(())))
        });
    Verdict::of(
        judged.collect::<Vec<(usize, Kept)>>(),
        "no result of an unknown type offered anything that could be used",
    )
}

/// Pages that a client has followed one after the other: who did so twice does not content itself with the first or two.
const PAGES: usize = 2;

/// Whether a page has another one after it that the client, which came to it page by page, never asked for.
fn stops_at(view: &View<'_>, call: &Call<'_>, page: &Value) -> bool {
    let Some(method) = call.request.message.method() else { return false };
    let cursor = |sent: &MessageAt<'_>| sent.message.params().and_then(|params| params.get("cursor").cloned());
    let Some(next) = page.get("nextCursor").filter(|next| next.is_string()) else { return false };
    let own: Vec<_> = view
        .client_calls(method)
        .map(|call| call.request)
        .filter(|sent| sent.connection == call.request.connection && cursor(sent).is_some())
        .collect();
    let (before, after): (Vec<_>, Vec<_>) = own.into_iter().partition(|sent| sent.index <= call.request.index);
    let came_here = before.last().is_some_and(|last| last.index == call.request.index);
    came_here && before.len() >= PAGES && after.iter().all(|sent| cursor(sent).as_ref() != Some(next))
}

/// The next request of that method after an answer, if it asks for the very page that the answer holds. Only pages with a
/// cursor count: who asks for the first page again may begin anew.
fn asked_again<'v>(view: &View<'v>, call: &Call<'v>, answered: usize) -> Option<MessageAt<'v>> {
    let cursor = |sent: &MessageAt<'v>| sent.message.params().and_then(|params| params.get("cursor"));
    let page = cursor(&call.request)?;
    let own = view.client_calls(call.request.message.method()?).map(|call| call.request);
    let next = own.filter(|sent| sent.connection == call.request.connection).find(|sent| sent.event > answered)?;
    (cursor(&next) == Some(page)).then_some(next)
}

fn absent_complete(view: &View<'_>) -> Verdict {
    let uses = Uses::of(view);
    let judged = answered(view, |kind| kind.is_none()).into_iter().filter_map(|(call, sent, result)| {
        if let Some(again) = asked_again(view, &call, sent.event) {
            let why = format!("the same page is asked for again after a result without a type (event {})", sent.event);
            return Some((again.event, Err(again.breach("", why))));
        }
        if let Some((event, _)) = uses.first(call.request, sent, result) {
            return Some((event, Ok(())));
        }
        let broken = |end: usize, how: &str| {
            Some((end, Err(sent.breach("/result", format!("{how} a result without a type (event {end})")))))
        };
        if let Some(Err(end)) = view.reaction(sent.event) {
            return broken(end, "the client failed after");
        }
        let end = view.watched_after(sent.event, sent.connection).filter(|_| stops_at(view, &call, result))?;
        broken(end, "the client read the list page by page, and went no further after")
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no result without a type was used")
}

//! The page `server/utilities/pagination`: what it demands of clients.

use std::collections::BTreeSet;

use serde_json::Value;
use wire::revision::{R2024_11_05, R2026_07_28};

use super::GUIDELINES;
use crate::rule::{Rule, at, client};
use crate::server::listing::{ALL, List, Page, pages};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Call, View};

/// The rules, in the page's own order.
pub(crate) const RULES: &[Rule] = &[
    client("pagination.page-size-not-assumed")
        .says(
            R2024_11_05,
            at("server/utilities/pagination", "pagination-model"),
            "A client MUST NOT take pages to have one size: a short or empty one with a cursor is not the last.",
        )
        .how("Needs a server with a page in the middle of a list that is shorter than those before, or empty, and checks whether the client asks for the next one.")
        .fix("Continue as long as there is a `nextCursor`, however many items came.")
        .judge(size_not_assumed),
    client("pagination.ends-without-cursor")
        .says(R2024_11_05, GUIDELINES, "A client SHOULD take a page without `nextCursor` for the last.")
        .how("Needs a server with a list of several pages, and looks for requests with a cursor that no page gave after the last one.")
        .fix("Stop where `nextCursor` is missing.")
        .judge(ends_without),
    client("pagination.pages-followed")
        .says(R2024_11_05, GUIDELINES, "A client SHOULD read every page of a list that has several, and one where it has one.")
        .how("Needs a server with a list of several pages, and checks whether the client asks for the second one. It is broken by a client that leaves normally and has followed no cursor at all.")
        .fix("Repeat the request with `nextCursor` as `cursor` until a result has no `nextCursor`.")
        .judge(followed),
    client("pagination.cursors-opaque")
        .says(R2024_11_05, GUIDELINES, "A client MUST send a cursor back as it came, whatever its form.")
        .how("Compares every cursor that the client sends with those that the server issued. Needs a server whose cursors invite rewriting: with spaces, percent signs, Base64 or beyond ASCII.")
        .fix("Keep the cursor as a string, and send it back byte for byte.")
        .judge(opaque),
    client("pagination.cursors-not-persisted")
        .says(R2024_11_05, GUIDELINES, "A client MUST NOT use a cursor of one session in another.")
        .gone(R2026_07_28)
        .how("Needs a client that opens two sessions with a server of several pages, and looks for cursors of the first in the second.")
        .fix("Forget all cursors when a session ends.")
        .judge(not_persisted),
    client("pagination.empty-cursor-followed")
        .says(
            R2026_07_28,
            GUIDELINES,
            "A client MUST NOT take an empty `nextCursor` for the end: whether there is one alone says that there is more.",
        )
        .how("Needs a server that gives an empty `nextCursor` in the middle of a list, and checks whether a client that follows others asks for that page too.")
        .fix("Ask whether `nextCursor` is there, not whether it is true or longer than nothing.")
        .judge(empty_followed),
];

/// Requests of a list, in order.
fn calls<'v>(view: &View<'v>, list: &List) -> Vec<Call<'v>> {
    view.client_calls(list.method).filter(|call| view.is_current(call.request)).collect()
}

fn cursor<'v>(call: &Call<'v>) -> Option<&'v Value> {
    call.request.message.params()?.get("cursor").filter(|cursor| !cursor.is_null())
}

/// The request by which the client follows a page's cursor.
fn next<'c, 'v>(calls: &'c [Call<'v>], page: &Page<'_>) -> Option<&'c Call<'v>> {
    let from = calls.partition_point(|call| call.request.event <= page.response.event);
    let mine = |call: &&Call<'v>| call.request.connection == page.request.connection;
    calls[from..]
        .iter()
        .filter(mine)
        .find(|call| cursor(call).and_then(Value::as_str) == page.next() && page.next().is_some())
}

/// Pages whose cursor is a new one: who is led in a circle may stop.
fn leading<'v>(pages: &[Page<'v>]) -> Vec<Page<'v>> {
    let mut seen = BTreeSet::new();
    let fresh = |page: &&Page<'v>| page.next().is_some_and(|next| seen.insert((page.request.connection, next)));
    pages.iter().filter(fresh).copied().collect()
}

/// Judges pages of some kind, with what came before them in their list: their cursor is followed. One that is not counts
/// only of a client that follows others, and was watched to its end.
fn must_follow(view: &View<'_>, such: impl Fn(&Page<'_>, &[Page<'_>]) -> bool, why: &str, unseen: &str) -> Verdict {
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    let follows = ALL.iter().any(|list| {
        let calls = calls(view, list);
        pages(view, list).iter().any(|page| page.next().is_some_and(|next| !next.is_empty()) && next_of(&calls, page))
    });
    for list in ALL {
        let (pages, calls) = (pages(view, list), calls(view, list));
        for page in leading(&pages) {
            let before = pages.partition_point(|other| other.response.event < page.response.event);
            if !such(&page, &pages[..before]) {
                continue;
            }
            if let Some(call) = next(&calls, &page) {
                judged.push((call.request.event, Ok(())));
            } else if let Some(end) =
                view.watched_after(page.response.event, page.request.connection).filter(|_| follows)
            {
                let why = format!("{why} (until event {end})");
                judged.push((end, Err(page.response.breach("/result/nextCursor", why))));
            }
        }
    }
    Verdict::of(judged, unseen)
}

fn next_of(calls: &[Call<'_>], page: &Page<'_>) -> bool {
    next(calls, page).is_some()
}

fn size_not_assumed(view: &View<'_>) -> Verdict {
    let short = |page: &Page<'_>, before: &[Page<'_>]| {
        let most = before
            .iter()
            .filter(|other| other.request.connection == page.request.connection)
            .map(|other| other.items.len())
            .max();
        page.next().is_some_and(|next| !next.is_empty())
            && (page.items.is_empty() || most.is_some_and(|most| page.items.len() < most))
    };
    must_follow(
        view,
        short,
        "a short page has a cursor, and the client did not follow it",
        "no short page had a cursor, or no cursor was followed",
    )
}

fn empty_followed(view: &View<'_>) -> Verdict {
    let empty = |page: &Page<'_>, _: &[Page<'_>]| page.next() == Some("");
    must_follow(
        view,
        empty,
        "the cursor is empty, and the client did not follow it",
        "no cursor was empty, or no other was followed",
    )
}

fn followed(view: &View<'_>) -> Verdict {
    let mut left: Vec<(usize, Kept)> = Vec::new();
    let mut followed: Vec<usize> = Vec::new();
    for list in ALL {
        let (pages, calls) = (pages(view, list), calls(view, list));
        for page in leading(&pages).into_iter().filter(|page| page.next() != Some("")) {
            if let Some(call) = next(&calls, &page) {
                followed.push(call.request.event);
            } else if let Some((end, _)) = view.departure().filter(|(end, well)| *well && *end > page.response.event) {
                let why = format!(
                    "the list has another page, and the client left (event {end}) without having asked for any"
                );
                left.push((end, Err(page.response.breach("/result/nextCursor", why))));
            }
        }
    }
    if !followed.is_empty() {
        return Verdict::Holds(followed);
    }
    Verdict::of(left, "no list had several pages")
}

fn ends_without(view: &View<'_>) -> Verdict {
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for list in ALL {
        let (pages, calls) = (pages(view, list), calls(view, list));
        let given: BTreeSet<&str> = pages.iter().filter_map(Page::next).collect();
        let last = pages.iter().filter(|page| page.cursor().is_some() && page.result.get("nextCursor").is_none());
        for page in last {
            let later = calls.iter().filter(|call| {
                call.request.event > page.response.event && call.request.connection == page.request.connection
            });
            let invents = |call: &&Call<'_>| {
                cursor(call).is_some_and(|found| found.as_str().is_none_or(|text| !given.contains(text)))
            };
            if let Some(call) = later.clone().find(invents) {
                let why = format!("event {} was the last page; no page gave this cursor", page.response.event);
                judged.push((call.request.event, Err(call.request.breach("/params/cursor", why))));
            } else {
                let on = view
                    .next_message_after(page.response.event)
                    .or_else(|| view.watched_after(page.response.event, page.request.connection));
                judged.extend(on.map(|event| (event, Ok(()))));
            }
        }
    }
    Verdict::of(judged, "no list of several pages was read to its end")
}

fn opaque(view: &View<'_>) -> Verdict {
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for list in ALL {
        let pages = pages(view, list);
        for call in calls(view, list) {
            let Some(found) = cursor(&call) else { continue };
            let mut before = pages
                .iter()
                .filter(|page| page.response.event < call.request.event && page.next().is_some())
                .peekable();
            // What was issued before the trace began is not known here.
            if before.peek().is_none() {
                continue;
            }
            let same = before.any(|page| found.as_str() == page.next());
            let why = || format!("no page gave the cursor {found}");
            judged.push((
                call.request.event,
                if same { Ok(()) } else { Err(call.request.breach("/params/cursor", why())) },
            ));
        }
    }
    Verdict::of(judged, "no cursor was sent")
}

fn not_persisted(view: &View<'_>) -> Verdict {
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for list in ALL {
        let pages = pages(view, list);
        let given = |cursor: &str, here: bool, call: &Call<'_>| {
            pages.iter().any(|page| {
                let mine = page.request.connection == call.request.connection;
                page.response.event < call.request.event && mine == here && page.next() == Some(cursor)
            })
        };
        let greeted = |call: &Call<'_>| view.handshake(call.request.connection).is_some();
        for call in calls(view, list).into_iter().filter(greeted) {
            let Some(found) = cursor(&call).and_then(Value::as_str) else { continue };
            let elsewhere =
                pages.iter().any(|page| page.request.connection != call.request.connection && page.next().is_some());
            match (given(found, true, &call), given(found, false, &call)) {
                (false, true) => {
                    let why = "this cursor was issued in another session";
                    judged.push((call.request.event, Err(Breach::at(call.request.event, "/params/cursor", why))));
                }
                (true, _) if elsewhere => judged.push((call.request.event, Ok(()))),
                _ => {}
            }
        }
    }
    Verdict::of(judged, "no cursors were used in two sessions")
}

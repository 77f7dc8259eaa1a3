//! The page `server/utilities/pagination`.

use serde_json::Value;
use wire::Era;
use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR};
use wire::revision::R2024_11_05;
use wire::trace::StimulusKind;

use crate::rule::{Anchor, Rule, at, safety, server};
use crate::server::listing::{ALL, List, OFFERS, Page, pages};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Call, View};

pub(crate) mod clients;

const GUIDELINES: Anchor = at("server/utilities/pagination", "implementation-guidelines");

/// The page's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    safety("pagination.comes-to-an-end")
        .asks(
            R2024_11_05,
            at("server/utilities/pagination", "pagination-flow"),
            "Going from page to page comes to an end: no cursor leads back to itself.",
        )
        .about(OFFERS)
        .by_default()
        .how("Follows the cursors of one walk through a list, looking for one that was issued on it before.")
        .fix("Leave `nextCursor` out on the last page.")
        .judge(ends),
    server("pagination.cursors-stable")
        .says(R2024_11_05, GUIDELINES, "A cursor SHOULD stay good: asked for again, its page SHOULD still be there.")
        .about(OFFERS)
        .how("Looks for a cursor that was used twice on one connection without an announced change in between; it should \
              not be refused the second time.")
        .fix("Encode the position into the cursor instead of keeping it in state that the first use consumes.")
        .judge(stable),
    server("pagination.invalid-cursor-survived")
        .says(R2024_11_05, GUIDELINES, "A cursor the server never issued SHOULD be handled gracefully.")
        .about(OFFERS)
        .how("Checks whether the connection still serves requests after one with a cursor that was never issued.")
        .fix("Treat a cursor as untrusted input: catch what decoding it raises, and answer with an error.")
        .judge(survived),
    server("pagination.invalid-cursor-refused")
        .says(
            R2024_11_05,
            at("server/utilities/pagination", "error-handling"),
            "A cursor the server never issued SHOULD be answered with the error -32602.",
        )
        .about(OFFERS)
        .how("Looks at the answers to list requests whose cursor no page of the trace issued. In the modern era, where a cursor may come from elsewhere, a result counts only if it repeats the first page, or if the cursor was made \
              up for the purpose.")
        .fix("Check the cursor, and answer -32602 (invalid params) where it is unknown; also where you do not paginate.")
        .judge(refused),
];

/// Requests whose cursor no page issued. An empty cursor is passed over: many read it as none.
fn made_up<'v>(view: &View<'v>) -> Vec<(&'static List, Call<'v>, &'v Value)> {
    let of = |list: &'static List| {
        let pages = pages(view, list);
        let given = move |cursor: &Value| pages.iter().any(|page| page.next().is_some_and(|next| cursor == next));
        view.calls(list.method).filter_map(move |call| {
            let cursor = call.request.message.params()?.get("cursor")?;
            let counts = !cursor.is_null() && cursor != "" && !given(cursor) && view.judges_content(&call);
            counts.then_some((list, call, cursor))
        })
    };
    ALL.into_iter().flat_map(of).collect()
}

fn ends(view: &View<'_>) -> Verdict {
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for list in ALL {
        let pages = pages(view, list);
        judged.extend(pages.iter().filter(|page| page.cursor().is_some()).map(|page| {
            let before = passed(&pages, page);
            let back = page.next().is_some_and(|next| before.contains(&next));
            let breach = || page.response.breach("/result/nextCursor", "the cursor leads back to a page before");
            (page.response.event, if back { Err(breach()) } else { Ok(()) })
        }));
    }
    Verdict::of(judged, "no second page was read")
}

/// The cursors by which a page was reached, its own first.
fn passed<'v>(pages: &[Page<'v>], page: &Page<'v>) -> Vec<&'v str> {
    let mut cursors: Vec<&str> = page.cursor().and_then(Value::as_str).into_iter().collect();
    let mut here = *page;
    while let Some(before) = pages.iter().rfind(|p| {
        let gave = p.next().is_some_and(|next| here.cursor().is_some_and(|cursor| cursor == next));
        gave && p.response.event < here.request.event && p.request.connection == here.request.connection
    }) {
        cursors.extend(before.cursor().and_then(Value::as_str));
        here = *before;
    }
    cursors
}

fn refused(view: &View<'_>) -> Verdict {
    let on_purpose = view.stimulated(StimulusKind::InvalidCursor).next().is_some();
    let judged = made_up(view).into_iter().filter_map(|(list, call, _)| {
        let response = call.response?;
        let kept: Kept = match call.error_code() {
            Some(INVALID_PARAMS) => Ok(()),
            Some(code @ (INTERNAL_ERROR | INVALID_REQUEST | PARSE_ERROR)) => {
                Err(response.breach("/error/code", format!("the code is {code}, expected -32602")))
            }
            None if view.era() == Era::Legacy || on_purpose || repeats(view, list, &call) => {
                Err(response.breach("/result", "a cursor that was never issued is answered with a result"))
            }
            _ => return None,
        };
        Some((response.event, kept))
    });
    Verdict::of(judged, "no list was asked for with a cursor that was never issued")
}

/// Whether the result has the very items of the first page: then the cursor was not even looked at.
fn repeats(view: &View<'_>, list: &List, call: &Call<'_>) -> bool {
    let items = call.result().and_then(|result| result.get(list.member)).and_then(Value::as_array);
    let first = |page: &Page<'_>| page.cursor().is_none();
    items.is_some_and(|items| !items.is_empty() && pages(view, list).iter().any(|p| first(p) && p.items == items))
}

fn survived(view: &View<'_>) -> Verdict {
    let judged = made_up(view).into_iter().filter_map(|(_, call, _)| {
        Some(match view.aftermath(call.request.event, call.request.connection)? {
            Ok(event) => (event, Ok(())),
            Err(event) => (event, Err(Breach::at(event, "", "the server ended after an invalid cursor"))),
        })
    });
    Verdict::of(judged, "no list was asked for with an invalid cursor, or no request followed")
}

fn stable(view: &View<'_>) -> Verdict {
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for list in ALL {
        let pages = pages(view, list);
        for page in pages.iter().filter(|page| page.cursor().is_some()) {
            judged.extend(again(view, list, page));
        }
    }
    Verdict::of(judged, "no cursor was used twice")
}

/// The next use of a page's cursor: served alike, refused, or (where the list may have changed) nothing to judge.
fn again(view: &View<'_>, list: &List, page: &Page<'_>) -> Option<(usize, Kept)> {
    let later = view.calls(list.method).find(|call| {
        call.request.event > page.response.event
            && call.request.connection == page.request.connection
            && call.request.message.params().and_then(|p| p.get("cursor")) == page.cursor()
    })?;
    let response = later.response?;
    let changed = view.notifications(list.changed).any(|n| n.event > page.request.event && n.event < response.event);
    // Positions may be forgotten in time; no server has to keep one for a minute.
    let soon = response.done < page.response.done.saturating_add(60_000_000);
    if later.error_code() == Some(INVALID_PARAMS) && !changed && soon {
        return Some((response.event, Err(response.breach("/error", "a cursor that was good before is refused"))));
    }
    let items = later.result()?.get(list.member)?.as_array()?;
    (items == page.items).then_some((response.event, Ok(())))
}

//! The page `server/utilities/caching`.

use serde_json::Value;
use wire::revision::R2026_07_28;

use crate::rule::{Anchor, Rule, at, server};
use crate::server::listing::{ALL, List, OFFERS, Page, pages};
use crate::verdict::{Kept, Verdict};
use crate::view::{MessageAt, View};

pub(crate) mod clients;

const TTL: Anchor = at("server/utilities/caching", "time-to-live-ttl-field");
const PAGES: Anchor = at("server/utilities/caching", "interaction-with-pagination");
const SECURITY: Anchor = at("server/utilities/caching", "security-considerations");

/// The methods whose final results may be cached.
const CACHED: [&str; 6] =
    ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"];

/// The page's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    server("caching.hints-present")
        .says(
            R2026_07_28,
            at("server/utilities/caching", "cacheable-results"),
            "Final results of `server/discover`, of the lists and of `resources/read` MUST carry caching hints.",
        )
        .how("Looks for `ttlMs` and `cacheScope` in those results, interim ones aside.")
        .fix("Add `ttlMs` (0 if in doubt) and `cacheScope` (`private` if in doubt) to the result.")
        .judge(present),
    server("caching.ttl-not-negative")
        .says(R2026_07_28, TTL, "`ttlMs` MUST be an integer, 0 or more.")
        .how("Looks at every `ttlMs` in results that may be cached.")
        .fix("Send whole milliseconds, and 0 for what is stale at once.")
        .judge(not_negative),
    server("caching.scope-same-on-all-pages")
        .says(R2026_07_28, PAGES, "All pages of one list MUST have the same `cacheScope`.")
        .about(OFFERS)
        .how("Compares the `cacheScope` of a page with that of the page whose cursor led to it.")
        .fix("Choose the scope per list: `private` if any page must be.")
        .judge(same_scope),
    server("caching.access-controlled")
        .says(
            R2026_07_28,
            SECURITY,
            "A server MUST guard what it offers by access controls of its own, not by `cacheScope` alone.",
        )
        .unobservable("who may see what is the server's own policy"),
];

fn cacheable<'v>(view: &View<'v>) -> Vec<(MessageAt<'v>, &'v Value)> {
    let last = |sent: &MessageAt<'v>, result: &Value| {
        view.is_current(*sent) && result.get("resultType").is_none_or(|kind| kind == "complete")
    };
    CACHED
        .iter()
        .flat_map(|method| view.results(method).collect::<Vec<_>>())
        .filter(|(sent, r)| last(sent, r))
        .collect()
}

fn present(view: &View<'_>) -> Verdict {
    let judged = cacheable(view).into_iter().map(|(sent, result)| {
        let missing = ["ttlMs", "cacheScope"].into_iter().find(|hint| result.get(hint).is_none());
        let breach = |hint: &str| Err(sent.breach("/result", format!("the result has no `{hint}`")));
        (sent.event, missing.map_or(Ok(()), breach))
    });
    Verdict::of(judged, "no result that may be cached was seen")
}

fn not_negative(view: &View<'_>) -> Verdict {
    let judged = cacheable(view).into_iter().filter_map(|(sent, result)| {
        let ttl = result.get("ttlMs")?;
        let breach = || Err(sent.breach("/result/ttlMs", format!("`ttlMs` is {ttl}")));
        Some((
            sent.event,
            if ttl.as_f64().is_some_and(|ttl| ttl >= 0.0 && ttl.fract() == 0.0) { Ok(()) } else { breach() },
        ))
    });
    Verdict::of(judged, "no result with a `ttlMs` was seen")
}

fn same_scope(view: &View<'_>) -> Verdict {
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for list in ALL {
        let pages = pages(view, list);
        judged.extend(pages.iter().filter_map(|page| after(&pages, page, list)));
    }
    Verdict::of(judged, "no second page with a `cacheScope` was read")
}

fn after(pages: &[Page<'_>], page: &Page<'_>, list: &List) -> Option<(usize, Kept)> {
    let scope = |page: &Page<'_>| page.result.get("cacheScope").and_then(Value::as_str).map(str::to_owned);
    let cursor = page.cursor()?.as_str()?;
    let before = pages.iter().rfind(|p| {
        p.next() == Some(cursor)
            && p.response.event < page.request.event
            && p.request.connection == page.request.connection
    })?;
    let (one, other) = (scope(before)?, scope(page)?);
    let why = || format!("`{other}` here, `{one}` on the page before ({})", list.method);
    let kept = if one == other { Ok(()) } else { Err(page.response.breach("/result/cacheScope", why())) };
    Some((page.response.event, kept))
}

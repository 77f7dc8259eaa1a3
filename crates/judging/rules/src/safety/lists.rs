//! Lists that change over a call of a tool, though nothing says that they may.

use serde_json::Value;
use wire::revision::{R2024_11_05, R2025_03_26, R2026_07_28};

use crate::rule::{Rule, at, safety};
use crate::server::catalogue::Catalogue;
use crate::server::listing::{ALL, List, TOOLS, may_change};
use crate::server::side_effects::{Requests, SideEffect, side_effects, unchanged};
use crate::verdict::{Breach, Verdict};
use crate::view::View;

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    safety("safety.reading-changes-no-list")
        .asks(
            R2025_03_26,
            at("server/tools", "data-types"),
            "A tool that says `readOnlyHint: true` leaves the server's lists as they were.",
        )
        .about(&["tools"])
        .by_default()
        .timed()
        .how("Calls such tools; where a list then differs, reads it twice before and twice after a single call, on two connections: the call must make the same difference on both. Items that are added count only where `listChanged` is not declared.")
        .fix("Do not claim `readOnlyHint` for a tool that adds or removes what the server offers.")
        .judge(reading_changes_nothing),
    safety("safety.list-changes-declared")
        .asks(
            R2024_11_05,
            at("server/tools", "capabilities"),
            "A server whose lists depend on what was called before says `listChanged`, so that clients know to read them again.",
        )
        .gone(R2026_07_28)
        .about(&["tools"])
        .timed()
        .how("Calls tools that only read; where a list then differs, reads it twice before and twice after a single call, on two connections: the call must make the same difference on both, without `listChanged`. Tools that say `readOnlyHint: true` are judged by another rule.")
        .fix("Declare `listChanged` and announce changes, or list everything from the start.")
        .judge(changes_declared),
];

/// The names of tools that claim to change nothing.
struct Claims<'v>(Catalogue<'v>);

impl Claims<'_> {
    fn only_reads(&self, tool: &str) -> bool {
        let hint = |tool: &Value| tool.get("annotations")?.get("readOnlyHint")?.as_bool();
        self.0.definition(tool).and_then(hint) == Some(true)
    }
}

fn reading_changes_nothing(view: &View<'_>) -> Verdict {
    let claims = Claims(Catalogue::of(view, &TOOLS));
    let why = "the tool says `readOnlyHint: true`";
    let counts = |list: &List, effect: &SideEffect<'_>| {
        claims.only_reads(effect.tool) && (effect.is_loss() || !may_change(view, list))
    };
    judged(view, &ALL, why, counts, |tool| claims.only_reads(tool))
}

fn changes_declared(view: &View<'_>) -> Verdict {
    let claims = Claims(Catalogue::of(view, &TOOLS));
    let fixed: Vec<&List> = ALL.into_iter().filter(|list| !may_change(view, list)).collect();
    let offered = |list: &&List| view.capability(list.capability).is_some();
    if ALL.into_iter().any(|list| offered(&list)) && !fixed.iter().any(offered) {
        return Verdict::NotApplicable("the server declares `listChanged` for every list that it has".to_owned());
    }
    let why = "the server does not declare `listChanged`";
    judged(view, &fixed, why, |_, effect| !claims.only_reads(effect.tool), |tool| !claims.only_reads(tool))
}

fn judged(
    view: &View<'_>,
    lists: &[&List],
    why: &str,
    counts: impl Fn(&List, &SideEffect<'_>) -> bool,
    wanted: impl Fn(&str) -> bool,
) -> Verdict {
    let requests = Requests::of(view);
    let mut offenders: Vec<Breach> = Vec::new();
    let mut witnesses = Vec::new();
    for list in lists {
        let effects = side_effects(view, list, &requests);
        offenders.extend(effects.iter().filter(|one| counts(list, one)).map(|one| one.breach(list, why)));
        witnesses.extend(unchanged(view, list, &requests, &wanted));
    }
    Verdict::never(offenders, witnesses, "no list was read before and after a call of such a tool")
}

//! What the items of lists are, beyond their shapes: no two of one name, and dates that can be read.

use std::collections::{BTreeMap, BTreeSet};

use wire::revision::{R2024_11_05, R2025_06_18};

use super::listing::{List, PROMPTS, RESOURCES, TEMPLATES, Walk, items, walks};
use crate::rule::{Rule, at, safety};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::View;

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    safety("prompts.names-unique")
        .asks(R2024_11_05, at("server/prompts", "data-types"), "The name of a prompt identifies it: no other prompt has it.")
        .about(&["prompts"])
        .by_default()
        .how("Compares the names in the list of prompts: on one page, or on several each time that the list is read to its end.")
        .fix("Give each prompt a name of its own, and list each once.")
        .judge(|view| unique(view, &PROMPTS)),
    safety("resources.uris-unique")
        .asks(R2024_11_05, at("server/resources", "data-types"), "The URI of a resource identifies it: no other resource has it.")
        .about(&["resources"])
        .by_default()
        .how("Compares the URIs in the list of resources: on one page, or on several each time that the list is read to its end.")
        .fix("Give each resource a URI of its own, and list each once.")
        .judge(|view| unique(view, &RESOURCES)),
    safety("resources.dates-readable")
        .asks(R2025_06_18, at("server/resources", "annotations"), "`lastModified` is a date and time as ISO 8601 writes them.")
        .about(&["resources"])
        .by_default()
        .how("Looks at `lastModified` in the annotations of listed resources and templates.")
        .fix("Write such as `2025-01-12T15:00:58Z`.")
        .judge(dates),
];

/// The first key that stands twice in a walk, with the event of its second place, and whether both are on one page.
fn repeated<'v>(walk: &Walk<'v>, list: &List) -> BTreeMap<&'v str, (usize, bool)> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut twice = BTreeMap::new();
    for page in walk {
        for key in page.keys(list).unwrap_or_default() {
            if let Some(before) = places.insert(key, page.response.event) {
                twice.insert(key, (page.response.event, before == page.response.event));
            }
        }
    }
    twice
}

/// An item that is added while the list is read may push another onto the next page: what is on two pages counts only where
/// it is so each time.
fn unique(view: &View<'_>, list: &List) -> Verdict {
    let walks = walks(view, list);
    let each: Vec<_> = walks.iter().map(|walk| repeated(walk, list)).collect();
    let often: BTreeSet<&str> = match each.as_slice() {
        [] | [_] => BTreeSet::new(),
        [first, others @ ..] => {
            first.keys().copied().filter(|key| others.iter().all(|o| o.contains_key(key))).collect()
        }
    };
    let judged = walks.iter().zip(&each).filter_map(|(walk, twice)| {
        let counts = |(key, (_, one_page)): &(&&str, &(usize, bool))| *one_page || often.contains(**key);
        let found = twice.iter().find(counts).map(|(key, (event, _))| {
            let why = format!("`{}` is listed twice", key.escape_debug());
            (*event, Err(Breach::at(*event, format!("/result/{}", list.member), why)))
        });
        Some(found.unwrap_or((walk.last()?.response.event, Ok(()))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no list was read to its end")
}

fn dates(view: &View<'_>) -> Verdict {
    let listed = [&RESOURCES, &TEMPLATES].into_iter().flat_map(|list| items(view, list));
    let dated = listed.filter_map(|item| {
        let date = item.value.get("annotations")?.get("lastModified")?.as_str()?;
        Some((item.sent.event, (date, item)))
    });
    Verdict::every(dated, "no resource with `lastModified` was listed", |(_, (date, item))| {
        let why = || format!("`{}` is not a date of ISO 8601", date.escape_debug());
        if is_date(date) { Ok(()) } else { Err(item.breach("/annotations/lastModified", why())) }
    })
}

/// Whether a text begins as a date of ISO 8601 does: a year, or a year and what goes on after a hyphen, or eight digits.
fn is_date(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &text[digits..];
    match digits {
        4 => rest.is_empty() || rest.starts_with('-'),
        8 => rest.is_empty() || rest.starts_with(['T', ' ']),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_date;

    #[test]
    fn dates_are_told_from_other_texts() {
        for good in ["2025", "2025-01", "2025-01-12T15:00:58Z", "20250112T150058Z", "2025-W03-1"] {
            assert!(is_date(good), "{good}");
        }
        for bad in ["", "yesterday", "1736693000", "1736693000000", "Sun, 12 Jan 2025 15:00:58 GMT", "12.01.2025"] {
            assert!(!is_date(bad), "{bad}");
        }
    }
}

//! Reads when clients search for tools: `search`.

use document::Entry;

use super::Reader;
use crate::search::MOST;
use crate::settings::SearchSettings;

const MEMBERS: &[&str] = &["above", "results", "keep"];
/// The largest `above`.
const MOST_LISTED: usize = 10_000;
/// How many tools are found, where the file does not say.
const RESULTS: usize = 5;

impl Reader<'_> {
    pub(super) fn search(&mut self, entry: &Entry) -> Option<SearchSettings> {
        let members = self.members("`search`", entry.at, &entry.node, MEMBERS)?;
        let above = members.get("above");
        if above.is_none() && !members.has_unknown {
            self.error(
                entry.at,
                "`search` has no `above`",
                "add above: 40, the number of tools that are listed at most",
            );
        }
        let above = above.and_then(|entry| self.whole_number(entry, MOST_LISTED, "40"));
        let results = members.get("results").and_then(|entry| self.whole_number(entry, MOST, "5")).unwrap_or(RESULTS);
        let keep = members.get("keep").map(|entry| self.names(entry)).unwrap_or_default();
        Some(SearchSettings { above: above?, results, keep })
    }
}

//! What a trace tells of one kind of list as a whole, for judges that look many names up in it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::listing::{List, items, walks};
use crate::view::View;

/// Everything that the pages of a list say.
pub(crate) struct Catalogue<'v> {
    /// Each key with its item; `None` where pages say different things of it.
    definitions: BTreeMap<&'v str, Option<&'v Value>>,
    /// Whether the list was read to its end, and no change was announced after that reading began.
    whole: bool,
}

impl<'v> Catalogue<'v> {
    /// Gathers what `view` tells of a list.
    pub(crate) fn of(view: &View<'v>, list: &List) -> Self {
        let mut definitions: BTreeMap<&'v str, Option<&'v Value>> = BTreeMap::new();
        for item in items(view, list) {
            let Some(key) = item.text(list.key) else { continue };
            let known = definitions.entry(key).or_insert(Some(item.value));
            *known = known.filter(|first| *first == item.value);
        }
        let changed = view.notifications(list.changed).last().map_or(0, |said| said.event);
        let fresh = |page: &super::listing::Page<'_>| page.request.event > changed;
        let whole = walks(view, list).iter().any(|walk| walk.first().is_some_and(fresh));
        Self { definitions, whole }
    }

    /// Whether the list surely lacks `key`: it was read to its end, no page of the trace has it, and no change was
    /// announced after that.
    pub(crate) fn surely_lacks(&self, key: &str) -> bool {
        self.whole && !self.definitions.contains_key(key)
    }

    /// The item of that key, if every page that has it says the same of it.
    pub(crate) fn definition(&self, key: &str) -> Option<&'v Value> {
        self.definitions.get(key).copied().flatten()
    }
}

//! One kind of list as a whole trace shows it, for judges that look up many names.

use std::collections::BTreeMap;

use serde_json::Value;

use super::listing::{List, Walk, items, walks};
use crate::view::{Call, View};

/// Whether a name says that nothing has it: nobody offers `no-such-tool`.
pub(crate) fn is_made_up(name: &str) -> bool {
    ["no-such-", "no_such_", "nonexistent", "non-existent", "does-not-exist"]
        .into_iter()
        .any(|mark| name.contains(mark))
}

/// Everything that the pages of a list say.
pub(crate) struct Catalogue<'v> {
    /// Each key with its item; `None` where pages say different things of it.
    definitions: BTreeMap<&'v str, Option<&'v Value>>,
    /// Every reading of the whole list: the events at which it began and ended.
    readings: Vec<(usize, usize)>,
    /// The events at which a change was announced, in their order.
    changes: Vec<usize>,
}

impl<'v> Catalogue<'v> {
    /// Gathers what `view` shows of a list.
    pub(crate) fn of(view: &View<'v>, list: &List) -> Self {
        let mut definitions: BTreeMap<&'v str, Option<&'v Value>> = BTreeMap::new();
        for item in items(view, list) {
            let Some(key) = item.text(list.key) else { continue };
            let known = definitions.entry(key).or_insert(Some(item.value));
            *known = known.filter(|first| *first == item.value);
        }
        let changes = view.notifications(list.changed).map(|sent| sent.event).collect();
        let span = |walk: &Walk<'_>| Some((walk.first()?.request.event, walk.last()?.response.event));
        let readings = walks(view, list).iter().filter_map(span).collect();
        Self { definitions, readings, changes }
    }

    /// Whether the list surely lacked `key` when `call` was made: no page of the trace has it, and the list was read to its
    /// end, before or after, with no change announced between that and the call.
    pub(crate) fn surely_lacks(&self, key: &str, call: &Call<'_>) -> bool {
        !self.definitions.contains_key(key) && self.is_known_at(call)
    }

    fn is_known_at(&self, call: &Call<'_>) -> bool {
        let (requested, answered) = (call.request.event, call.response.map_or(call.request.event, |sent| sent.event));
        self.readings.iter().any(|&(begun, ended)| {
            let (first, last) = (begun.min(requested), ended.max(answered));
            let next = self.changes.partition_point(|&change| change < first);
            self.changes.get(next).is_none_or(|&change| change > last)
        })
    }

    /// The item of that key, if every page that has it says the same of it.
    pub(crate) fn definition(&self, key: &str) -> Option<&'v Value> {
        self.definitions.get(key).copied().flatten()
    }
}

//! Selects the cases to run.

use std::collections::BTreeSet;

use crate::test::Options;
use crate::test::plan::{Case, Suite};

/// The indices of the cases to run: the selected ones, and those that capture variables for them.
pub(super) fn select(suite: &Suite, options: &Options) -> Vec<usize> {
    let narrowed = suite.is_narrowed();
    let matches = |(number, case): &(usize, &Case)| {
        (!narrowed || case.only)
            && options.filter.as_ref().is_none_or(|part| case.name.contains(part.as_str()))
            && !options.skip.iter().any(|part| case.name.contains(part.as_str()))
            && (options.tags.is_empty() || case.tags.iter().any(|tag| options.tags.contains(tag)))
            && options.shard.is_none_or(|(shard, of)| number % of == shard - 1)
    };
    let mut selected: BTreeSet<usize> =
        suite.cases.iter().enumerate().filter(matches).map(|(number, _)| number).collect();
    for number in (0..suite.cases.len()).rev() {
        if selected.contains(&number) {
            let uses = &suite.cases[number].uses;
            let before = suite.cases[..number].iter().enumerate();
            selected.extend(
                before
                    .filter(|(_, case)| case.capture.iter().any(|(name, _)| uses.contains(name)))
                    .map(|(number, _)| number),
            );
        }
    }
    selected.into_iter().collect()
}

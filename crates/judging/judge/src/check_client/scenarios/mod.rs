//! The scenarios, as data: a file for each kind. The table of docs/check-client.md is made from them.

mod authorized;
mod edges;
mod features;
mod hostile;
mod official;

use self::authorized::AUTHORIZED;
use self::edges::EDGES;
use self::features::FEATURES;
use self::hostile::HOSTILE;
use self::official::OFFICIAL;
use super::evidence::client;
use super::scenario::{Scenario, scenario};

/// The shortest one. It shows what a client speaks.
pub static FIRST: Scenario = scenario("initialize", "Connect and list the tools.").shows(&[client(&["tools/list"])]);

/// All of them, in the order of the table.
pub static SCENARIOS: &[&[&Scenario]] = &[OFFICIAL, FEATURES, EDGES, AUTHORIZED, HOSTILE];

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Scenario> {
    SCENARIOS.iter().copied().flatten().copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::all;

    #[test]
    fn names_are_unique_and_all_are_played() {
        let mut seen = BTreeSet::new();
        for scenario in all() {
            assert!(seen.insert(scenario.name), "{} stands twice", scenario.name);
            assert!(!scenario.shows.is_empty(), "{} promises nothing", scenario.name);
            assert!(!scenario.applies.is_empty(), "{} is played nowhere", scenario.name);
        }
    }
}

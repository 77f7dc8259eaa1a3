//! The selection of scenarios for a quick check: those that find most, so few at each revision that they take a minute.

use super::scenario::Scenario;

/// By name, the most valuable first; of equals, those during which no client waits: where a busy machine leaves no time for all,
/// a wait must not cost several others.
const NAMES: &[&str] = &[
    "odd-names",
    "strict-forms",
    "odd-rounds",
    "odd-ids",
    "odd-cursors",
    "untyped-page",
    "hostile.unknown-list-type",
    "sampling",
    "stream-resumed",
    "odd-events",
    "streams-everywhere",
    "little-declared",
    "tools-alone",
    "tasks",
    "tool-choice",
    "request-metadata",
    "hostile.stream-lost",
    "headers-refused",
    "http-invalid-tool-headers",
    "empty-cursor",
    "tasks-for-the-server",
    "model-with-progress",
    "session-ended",
    "listening-asked",
    "roots-asked-again",
    "hostile.silence",
    "request-cancelled",
    "long-task",
    "hostile.unknown-notification",
    "hostile.unsupported-version",
    "hostile.later-versions",
    "hostile.versions-refused",
    "hostile.sampling-unbalanced",
    "hostile.undeclared-mode",
    "hostile.undeclared-requests",
    "hostile.undeclared-inputs",
    "hostile.undeclared-tools",
    "hostile.addresses",
    "hostile.requests",
    "sse-retry",
    "hostile.greeting-unanswered",
    "auth/metadata-default",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "batches",
];

/// Whether a scenario is part of a quick check.
pub(super) fn is_quick(scenario: &Scenario) -> bool {
    NAMES.contains(&scenario.name)
}

/// Where a scenario stands in order of value; those that are not in the selection come last.
pub(super) fn rank(scenario: &Scenario) -> usize {
    NAMES.iter().position(|name| *name == scenario.name).unwrap_or(NAMES.len())
}

#[cfg(test)]
mod tests {
    use wire::{Revision, Transport};

    use super::{NAMES, is_quick};
    use crate::check_client::all;

    /// At a second and a half a client and two at a time, two revisions take less than a minute.
    const MOST: usize = 32;

    #[test]
    fn a_quick_check_is_short_and_names_scenarios_that_exist() {
        for name in NAMES {
            assert!(all().any(|scenario| scenario.name == *name), "{name}");
        }
        for revision in Revision::ALL {
            for transport in [Transport::StreamableHttp, Transport::Stdio] {
                let played = all().filter(|scenario| scenario.fits(revision, transport) && is_quick(scenario)).count();
                assert!(played <= MOST, "{played} at {revision} over {transport}");
            }
        }
    }
}

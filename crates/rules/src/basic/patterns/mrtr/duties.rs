//! The page `basic/patterns/mrtr`: what it demands of clients.

use wire::revision::R2026_07_28;

use super::here;
use crate::rule::{Anchor, Rule, client};

const CLIENTS: Anchor = here("client-requirements-basic-workflow");

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("mrtr.retries-complete")
        .says(
            R2026_07_28,
            here(""),
            "A request that comes again MUST carry the required `_meta` fields like any other.",
        )
        .declared(),
    client("mrtr.inputs-brought")
        .says(R2026_07_28, CLIENTS, "A client that comes back MUST bring the input that it was asked for.")
        .declared(),
    client("mrtr.state-echoed")
        .says(R2026_07_28, CLIENTS, "A client that comes back MUST bring the `requestState` exactly as it was given.")
        .declared(),
    client("mrtr.no-state-invented")
        .says(R2026_07_28, CLIENTS, "A client that was given no `requestState` MUST NOT bring one.")
        .declared(),
    client("mrtr.retry-id-new")
        .says(R2026_07_28, CLIENTS, "A request that comes again MUST have another id.")
        .declared(),
    client("mrtr.inputs-on-retries-only")
        .says(R2026_07_28, CLIENTS, "Input and state MUST NOT go with any other request than the one they are for.")
        .declared(),
];

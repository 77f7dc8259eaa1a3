//! The page `client/sampling`: what it demands of clients.

use wire::revision::{R2024_11_05, R2025_11_25, R2026_07_28};

use super::here;
use crate::rule::{Rule, client};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("sampling.capability-declared")
        .says(R2024_11_05, here("capabilities"), "A client that serves sampling MUST declare it in the handshake.")
        .says(R2026_07_28, here("capabilities"), "A client that serves sampling MUST declare it with each request.")
        .declared(),
    client("sampling.tools-declared")
        .says(
            R2025_11_25,
            here("tools-in-sampling"),
            "A client whose model may use tools MUST declare `sampling.tools`.",
        )
        .declared(),
    client("sampling.messages-checked")
        .says(
            R2024_11_05,
            here("security-considerations"),
            "A client SHOULD check the messages that it is to hand to its model.",
        )
        .declared(),
    client("sampling.unbalanced-refused")
        .says(
            R2025_11_25,
            here("error-handling"),
            "Tool results that are missing, or stand beside something else, SHOULD be refused with the code -32602.",
        )
        .gone(R2026_07_28)
        .declared(),
    client("sampling.rejection-code")
        .says(R2025_11_25, here("error-handling"), "That the user refused SHOULD be answered with the code -1.")
        .gone(R2026_07_28)
        .declared(),
    client("sampling.tool-choice-kept")
        .says(
            R2025_11_25,
            here("tool-choice-modes"),
            "The model MUST use a tool where `toolChoice` says `required`, and none where it says `none`.",
        )
        .declared(),
    client("sampling.max-tokens-kept")
        .says(R2026_07_28, here("sampling-parameters"), "A client MUST NOT let its model say more than `maxTokens`.")
        .declared(),
];

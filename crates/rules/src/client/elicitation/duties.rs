//! The page `client/elicitation`: what it demands of clients.

use wire::revision::{R2025_06_18, R2025_11_25, R2026_07_28};

use super::here;
use crate::rule::{Rule, client};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("elicitation.capability-declared")
        .says(R2025_06_18, here("capabilities"), "A client that serves elicitation MUST declare it in the handshake.")
        .says(R2026_07_28, here("capabilities"), "A client that serves elicitation MUST declare it with each request.")
        .declared(),
    client("elicitation.some-mode-served")
        .says(R2025_11_25, here("capabilities"), "A client that declares elicitation MUST serve one of its modes.")
        .declared(),
    client("elicitation.mode-defaults-to-form")
        .says(R2025_11_25, here("elicitation-requests"), "A client MUST take an elicitation without a mode for a form.")
        .declared(),
    client("elicitation.undeclared-mode-refused")
        .says(
            R2025_11_25,
            here("error-handling"),
            "An elicitation in a mode that the client did not declare MUST be refused with the code -32602.",
        )
        .gone(R2026_07_28)
        .declared(),
    client("elicitation.content-conforms")
        .says(R2025_06_18, here("security-considerations"), "What a client sends back SHOULD fit the form.")
        .says(R2025_11_25, here("form-mode-security"), "What a client sends back SHOULD fit the form.")
        .declared(),
    client("elicitation.unknown-completions-ignored")
        .says(
            R2025_11_25,
            here("completion-notifications-for-url-mode-elicitation"),
            "A client MUST ignore that an elicitation is over which it does not know, or knows to be over.",
        )
        .gone(R2026_07_28)
        .declared(),
    client("elicitation.url-not-fetched")
        .says(
            R2025_11_25,
            here("safe-url-handling"),
            "A client MUST NOT fetch or open the address of an elicitation before the user has agreed to it.",
        )
        .declared(),
];

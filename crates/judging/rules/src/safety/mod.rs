//! Safety rules: what a good peer does that no sentence demands. Reported apart, never scored.

pub(crate) mod crosstalk;
pub mod delivery;
pub(crate) mod http;
pub(crate) mod lasting;
mod leak;
pub(crate) mod lists;
pub mod marks;
pub(crate) mod params;
pub(crate) mod process;
pub(crate) mod resilience;
pub(crate) mod serf;
pub(crate) mod stdout;
pub(crate) mod text;

use wire::Transport;
use wire::revision::{R2024_11_05, R2026_07_28};

use crate::rule::{Rule, at, safety};

/// A safety rule for stdio in every revision.
const fn over_stdio(id: &'static str, asks: &'static str) -> Rule {
    safety(id).on(&[Transport::Stdio]).asks(R2024_11_05, at("basic/transports", "stdio"), asks).asks(
        R2026_07_28,
        at("basic/transports/stdio", ""),
        asks,
    )
}

/// A safety rule for every transport and revision.
const fn anywhere(id: &'static str, asks: &'static str) -> Rule {
    safety(id).asks(R2024_11_05, at("basic/transports", ""), asks).asks(
        R2026_07_28,
        at("basic/transports/index", "messages"),
        asks,
    )
}

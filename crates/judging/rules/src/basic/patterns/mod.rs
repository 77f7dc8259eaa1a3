//! Pages under `basic/patterns` (before 2026-07-28: `basic/utilities`).

pub(crate) mod cancellation;
pub(crate) mod mrtr;
pub(crate) mod progress;
pub(crate) mod subscriptions;

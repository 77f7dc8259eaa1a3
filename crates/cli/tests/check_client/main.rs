//! `proof check-client`, run as users run it: against our own client, against clients in shell, and against commands that
//! are no clients at all.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod harness;
#[path = "../shared/marks.rs"]
mod marks;
mod observed;
#[path = "../shared/printed.rs"]
mod printed;
mod refusals;
mod scripted;
#[path = "../shared/signal.rs"]
mod signal;
mod trouble;

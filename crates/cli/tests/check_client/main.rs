//! `proof check-client`, run as users run it: against our own client, against clients in shell, and against commands that
//! are no clients at all.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod harness;
mod observed;
mod refusals;
mod scripted;

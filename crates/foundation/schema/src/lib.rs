//! JSON Schema from untrusted peers: [`validate`] values, [`sample`] and [`vary`] them, and [`diff`] two schemas.
//!
//! Pure: it knows no MCP, no clock and no I/O, fetches no reference, and draws only from an [`rng::Rng`] that it is given. Every
//! schema comes to an end here, a hostile one too: depth, size and work are bounded.

pub mod diff;
pub mod fit;
pub mod plain;
pub mod rng;
pub mod sample;
pub mod validate;
pub mod vary;
mod views;

#[cfg(test)]
mod hostile_tests;

pub use fit::{Fit, fit};
pub use rng::Rng;
pub use validate::{Unusable, Validator, fits};

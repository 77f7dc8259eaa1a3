//! Examines what servers tell a model. Reads values, never a socket, clock, file or source of randomness.

pub mod intrusive;
pub mod invisible;
pub mod scan;
pub mod verbs;

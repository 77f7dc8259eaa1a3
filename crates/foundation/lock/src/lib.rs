//! What a server tells a model, as values: one model of it ([`Surface`]), one comparison ([`Change`]), a file of digests that
//! is reviewed and committed ([`Lock`]), and signed manifests ([`manifest`], [`jws`], [`dsse`], [`trust`]).
//!
//! This crate knows no socket, clock, file, key material or randomness: texts, times and signers come in as arguments.

pub mod admission;
mod approve;
pub mod bytes;
mod changes;
mod compatibility;
mod digest;
mod drift;
pub mod dsse;
mod entry;
mod file;
pub mod jws;
mod leaves;
pub mod manifest;
mod pins;
mod place;
pub mod recorded;
pub mod strict;
mod surface;
mod target;
pub mod time;
pub mod trust;

pub use changes::{Change, Class, Severity};
pub use digest::{BadDigest, Digest};
pub use drift::unstable;
pub use entry::{Approval, Entry, Identity, Item, Launch, Release, Unlockable};
pub use file::{BadLock, Lock, SCHEMA};
pub use leaves::leaves;
pub use pins::{Pins, Verdict, Verdicts};
pub use place::Place;
pub use surface::{Kind, SNAPSHOT, Surface};

#[cfg(test)]
mod tests;

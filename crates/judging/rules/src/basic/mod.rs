//! Pages under `basic`: the base protocol.

pub(crate) mod authorization;
pub(crate) mod overview;
pub(crate) mod patterns;
pub(crate) mod transports;
pub(crate) mod versioning;

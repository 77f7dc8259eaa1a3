//! Extensions of the protocol, a folder each: what they demand has pages of its own, and binds who declares them.

pub(crate) mod tasks;

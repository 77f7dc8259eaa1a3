//! Extensions of the protocol, a folder each: what they demand has its own pages, and binds peers that declare them.

pub(crate) mod tasks;

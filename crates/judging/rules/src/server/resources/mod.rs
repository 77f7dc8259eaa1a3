//! The page `server/resources`, a file per part of it.

pub(crate) mod contents;
pub(crate) mod errors;
pub(crate) mod lists;
pub(crate) mod subscriptions;

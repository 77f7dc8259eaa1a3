//! The page `server/prompts`, a file per part of it.

pub(crate) mod errors;
pub(crate) mod lists;
pub(crate) mod messages;

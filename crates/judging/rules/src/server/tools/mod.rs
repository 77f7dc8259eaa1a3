//! The page `server/tools`, a file per part of it.

pub(crate) mod calls;
pub(crate) mod clients;
pub(crate) mod definitions;
pub(crate) mod failures;
pub(crate) mod headers;
pub(crate) mod lists;
pub(crate) mod names;
pub(crate) mod results;

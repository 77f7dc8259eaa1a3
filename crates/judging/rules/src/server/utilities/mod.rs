//! Pages under `server/utilities`.

pub(crate) mod caching;
pub(crate) mod completion;
pub(crate) mod log_contents;
pub(crate) mod logging;
pub(crate) mod pagination;

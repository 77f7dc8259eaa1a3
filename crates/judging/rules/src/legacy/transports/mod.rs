//! The page `basic/transports` of the legacy era, by section.

pub(crate) mod clients;
pub(crate) mod http_sse;
pub(crate) mod listening;
pub(crate) mod resumption;
pub(crate) mod sessions;
pub(crate) mod streamable_http;

//! Pages under `basic/transports`.

pub(crate) mod stdio;
pub(crate) mod streamable_http;

//! The page `basic/lifecycle` of the legacy era. One file per section.

pub(crate) mod client_operation;
pub(crate) mod clients;
pub(crate) mod errors;
pub(crate) mod initialization;
pub(crate) mod operation;
pub(crate) mod versions;

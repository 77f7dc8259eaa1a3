//! The page `basic`: messages, ids, results and errors, statelessness, JSON Schema, `_meta`, icons. One file per section.

pub(crate) mod declared_methods;
mod ending;
pub(crate) mod errors;
pub(crate) mod icons;
mod invalid_messages;
pub(crate) mod messages;
pub(crate) mod meta;
pub(crate) mod notifications;
pub(crate) mod requests;
pub(crate) mod reserved_keys;
pub(crate) mod responses;
pub(crate) mod results;
pub(crate) mod schemas;
pub(crate) mod shapes;
pub(crate) mod spelling;
pub(crate) mod stateless;
pub(crate) mod trace_context;
pub(crate) mod wording;

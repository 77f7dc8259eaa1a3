//! Pages that the modern era no longer has; each rule stands where its newest revision has the sentence.

pub(crate) mod lifecycle;
pub(crate) mod messages;
pub(crate) mod ping;
pub(crate) mod tasks;
pub(crate) mod transports;

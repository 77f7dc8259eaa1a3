//! The page `client/sampling`. That a server asks for sampling only where the client declared it is judged by
//! `lifecycle.sampling-negotiated` and `meta.undeclared-not-used`; the form of messages by the rules on shapes.

pub(crate) mod clients;
pub(crate) mod requests;
pub(crate) mod tools;

use crate::rule::{Anchor, at};

const fn here(section: &'static str) -> Anchor {
    at("client/sampling", section)
}

const SAMPLE: &str = "sampling/createMessage";

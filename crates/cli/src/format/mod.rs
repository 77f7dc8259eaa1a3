//! Reporters: each turns a report into text and does nothing else.

pub(crate) mod html;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod text;

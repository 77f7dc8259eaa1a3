//! Reporters: each turns a report into text and does nothing else.

pub(crate) mod badge;
pub(crate) mod book;
mod detail;
pub(crate) mod diff;
pub(crate) mod drift;
pub(crate) mod escape;
pub(crate) mod generated;
mod groups;
pub(crate) mod html;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod markdown;
pub(crate) mod sarif;
pub(crate) mod sheet;
pub(crate) mod tap;
pub(crate) mod tests;
pub(crate) mod text;

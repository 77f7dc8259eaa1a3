//! Formats: each turns a [`ReportView`](crate::ReportView) into text and decides nothing. Text of peers is escaped for each.

pub mod badge;
mod detail;
pub mod diff;
pub mod escape;
mod groups;
pub mod html;
pub mod human;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod message;
mod phrases;
pub mod sarif;
pub mod tap;
pub mod text;

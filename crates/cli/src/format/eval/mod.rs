//! Reports of `proof eval`: for people in 80 columns, as one JSON document, and as a page. Values of answers come through a redactor.

pub(crate) mod bfcl;
pub(crate) mod export;
pub(crate) mod gorilla;
mod html;
mod human;
mod json;
pub(crate) mod judge;
pub(crate) mod lint;
pub(crate) mod retrieve;

use std::borrow::Cow;
use std::path::Path;

use eval::score::Finding;
use eval::summary::{Comparison, Run};
use serde_json::json;
use wire::pointer;
use wire::redact::Redactor;

pub(crate) use html::html;
pub(crate) use human::human;
pub(crate) use json::json;

/// What is reported.
pub(crate) struct Report<'r> {
    /// The file of cases.
    pub(crate) file: &'r Path,
    pub(crate) scores: &'r Run,
    /// The other run.
    pub(crate) before: Option<&'r Run>,
    pub(crate) comparison: Option<&'r Comparison>,
    /// The share that is enough, in percent.
    pub(crate) required: f64,
    pub(crate) has_passed: bool,
    /// Whether not everything was asked, because the budget is used up.
    pub(crate) is_cut: bool,
}

/// A text of an answer without secrets: by the name under which it stands, and by its shape.
fn redacted<'t>(redactor: &Redactor, finding: &Finding, text: &'t str) -> Cow<'t, str> {
    // Our own words for what is missing hold no value of an answer.
    if text == ::eval::NOTHING {
        return Cow::Borrowed(text);
    }
    let Some(name) = pointer::names(&finding.pointer).last() else { return redactor.redact_text(text) };
    let by_name = redactor.redact_value(&json!({ &name: text }));
    match by_name[&name].as_str() {
        Some(hidden) if hidden != text => Cow::Owned(hidden.to_owned()),
        _ => redactor.redact_text(text),
    }
}

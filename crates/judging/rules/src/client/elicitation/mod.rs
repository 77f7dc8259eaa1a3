//! The page `client/elicitation`. That a server asks only in modes that the client declared is judged by
//! `lifecycle.elicitation-negotiated` and `meta.undeclared-not-used`; the form of its requests by the rules on shapes.

pub(crate) mod answers;
pub(crate) mod clients;
pub(crate) mod completion;
pub(crate) mod forms;
mod misuse;
pub(crate) mod urls;

use serde_json::Value;

use crate::reading::questions::{Question, questions};
use crate::rule::{Anchor, at};
use crate::view::View;

const fn here(section: &'static str) -> Anchor {
    at("client/elicitation", section)
}

const ELICIT: &str = "elicitation/create";

/// Whether a question is put in form mode: it says so, or says nothing of modes.
fn is_form(question: &Question<'_>) -> bool {
    question.param("mode").is_none_or(|mode| mode == "form") && question.param("url").is_none()
}

/// Every form that the server asks to fill in, with its fields by name.
fn forms<'v>(view: &View<'v>) -> Vec<(Question<'v>, Vec<(&'v String, &'v Value)>)> {
    let fields = |question: Question<'v>| {
        let properties = question.param("requestedSchema")?.get("properties")?.as_object()?;
        Some((question, properties.iter().collect()))
    };
    questions(view, ELICIT).into_iter().filter(is_form).filter_map(fields).collect()
}

//! The kind of a failure that an answer of a tool is. Must not know what the answer says.

use wire::serf::{Category, Details};

use super::super::model::Failure;
use super::Builder;

impl Builder<'_> {
    /// What is said of a failure, where it agrees with the table of categories; `pointer` is the answer's.
    pub(super) fn failure(&mut self, one: &Failure, is_error: Option<bool>, pointer: &str) -> Option<Details> {
        let pointer = format!("{pointer}/failure");
        if is_error == Some(false) {
            self.error(&pointer, "an answer with `failure` has failed", "leave out `isError`");
        }
        let category = Category::named(&one.category)?;
        let retryable = one.retryable.unwrap_or(one.retry_after_ms.is_some());
        let word = category.as_str();
        if retryable && !category.may_be_retryable() {
            let what = format!("the same request never succeeds after {word}");
            self.error(&pointer, what, "leave out `retryable` and `retry_after_ms`, or another category");
        } else if !retryable && one.retry_after_ms.is_some() {
            self.error(&pointer, "`retry_after_ms` is for failures that are `retryable`", "leave out one of them");
        } else if retryable && category == Category::ResourceExhausted && one.retry_after_ms.is_none() {
            self.error(&pointer, format!("{word} does not say when to try again"), "add `retry_after_ms`");
        }
        let advice = || vec![category.advice().to_owned()];
        let suggested_actions = one.suggested_actions.clone().unwrap_or_else(advice);
        let retry_after_ms = one.retry_after_ms.map(|after| after as u64);
        Some(Details { category, retryable, retry_after_ms, suggested_actions })
    }
}

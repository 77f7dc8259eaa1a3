//! What people see: tables, pages and lines from states. Pure texts; must not print.

pub mod badge;
pub mod history;
pub mod inventory;
pub mod page;
pub mod playbook;
pub mod reports;
pub mod status;
pub mod table;
#[cfg(test)]
mod tests;

use report::render::text::wrap;

use crate::next::Action;

/// An action for people.
pub fn next_action(action: &Action) -> String {
    let mut out = String::new();
    wrap(&mut out, 0, &wire::escape::line(&action.what));
    wrap(&mut out, 2, &wire::escape::line(&format!("start: {}", action.command)));
    if let Some(then) = &action.then {
        wrap(&mut out, 2, &wire::escape::line(&format!("then: {then}")));
    }
    wrap(&mut out, 2, &wire::escape::line(&format!("why: {}", action.why)));
    out
}

//! Tools that change a list, for all clients at once, and the tool that comes and goes.

use super::resources::EXTRA as EXTRA_RESOURCE;
use crate::catalogue::{Hints, Kind, Outcome, Tool};

const EXTRA: &str = "extra";
/// The prompt that comes and goes.
pub(super) const EXTRA_PROMPT: &str = "extra_prompt";

pub(super) fn tools() -> Vec<Tool> {
    vec![
        toggle("toggle_tool", "Toggle a tool", "Brings the tool `extra` in or takes it away", Kind::Tool, EXTRA),
        toggle(
            "toggle_resource",
            "Toggle a resource",
            "Brings `proof://extra` in or takes it away",
            Kind::Resource,
            EXTRA_RESOURCE,
        ),
        toggle(
            "toggle_prompt",
            "Toggle a prompt",
            "Brings the prompt `extra_prompt` in or takes it away",
            Kind::Prompt,
            EXTRA_PROMPT,
        ),
        Tool::now(EXTRA, "Comes and goes with the tool `toggle_tool`", |_, _| Outcome::text("I was toggled on."))
            .titled("Extra")
            .coming_and_going(),
    ]
}

fn toggle(name: &'static str, title: &'static str, description: &'static str, kind: Kind, what: &'static str) -> Tool {
    Tool::now(name, description, move |server, _| {
        let there = server.toggle(kind, what);
        Outcome::text(format!("`{what}` is {} now", if there { "there" } else { "gone" }))
    })
    .titled(title)
    .hints(Hints::CHANGES)
}

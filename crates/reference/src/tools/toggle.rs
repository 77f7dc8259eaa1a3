//! Tools that change a list, for all clients at once, and the tool that comes and goes.

use std::sync::atomic::{AtomicBool, Ordering};

use wire::revision::R2024_11_05;

use super::call::{Invocation, Outcome};
use super::{CHANGES, READS, Run, Tool, nothing};
use crate::Server;
use crate::hub::Change;

const fn toggle(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    run: fn(&Server, &mut Invocation) -> Outcome,
) -> Tool {
    Tool {
        name,
        title,
        description,
        since: R2024_11_05,
        input: nothing,
        output: None,
        hints: CHANGES,
        run: Run::Now(run),
    }
}

pub(super) const TOGGLE_TOOL: Tool =
    toggle("toggle_tool", "Toggle a tool", "Brings the tool `extra` in or takes it away", |server, _| {
        let there = flip(&server.state().toolbox.extra);
        announce(server, Change::Tools, "extra", there)
    });

pub(super) const TOGGLE_PROMPT: Tool =
    toggle("toggle_prompt", "Toggle a prompt", "Brings the prompt `extra_prompt` in or takes it away", |server, _| {
        let there = flip(&server.state().toolbox.extra_prompt);
        announce(server, Change::Prompts, "extra_prompt", there)
    });

pub(super) const TOGGLE_RESOURCE: Tool =
    toggle("toggle_resource", "Toggle a resource", "Brings `proof://extra` in or takes it away", |server, _| {
        let there = server.state().shelf.toggle();
        announce(server, Change::Resources, "proof://extra", there)
    });

pub(super) const EXTRA: Tool = Tool {
    name: "extra",
    title: "Extra",
    description: "Comes and goes with the tool `toggle_tool`",
    since: R2024_11_05,
    input: nothing,
    output: None,
    hints: READS,
    run: Run::Now(|_, _| Outcome::text("I was toggled on.")),
};

fn flip(flag: &AtomicBool) -> bool {
    !flag.fetch_xor(true, Ordering::Relaxed)
}

fn announce(server: &Server, change: Change<'_>, what: &str, there: bool) -> Outcome {
    server.state().hub.announce(change);
    Outcome::text(format!("`{what}` is {} now", if there { "there" } else { "gone" }))
}

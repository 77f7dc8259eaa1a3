//! Tools that change a list while somebody listens.

use crate::catalogue::{Hints, Kind, Outcome, Tool};

/// The tool that comes and goes.
const TOOL: &str = "test_dynamic_tool";
/// The prompt that comes and goes.
pub(super) const PROMPT: &str = "test_dynamic_prompt";

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::now("test_trigger_tool_change", "Brings a tool in or takes it away", |server, _| {
            Outcome::text(format!("There: {}", server.toggle(Kind::Tool, TOOL)))
        })
        .hints(Hints::CHANGES),
        Tool::now("test_trigger_prompt_change", "Brings a prompt in or takes it away", |server, _| {
            Outcome::text(format!("There: {}", server.toggle(Kind::Prompt, PROMPT)))
        })
        .hints(Hints::CHANGES),
        Tool::now(TOOL, "Comes and goes with `test_trigger_tool_change`", |_, _| Outcome::text("I am here."))
            .coming_and_going(),
    ]
}

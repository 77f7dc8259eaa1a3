//! `touch_resource`: makes a resource change, so that subscribers hear of it.

use serde_json::{Value, json};
use wire::revision::R2024_11_05;

use super::call::{Invocation, Outcome};
use super::{CHANGES, Run, Tool};
use crate::Server;
use crate::hub::Change;

pub(super) const TOUCH_RESOURCE: Tool = Tool {
    name: "touch_resource",
    title: "Touch a resource",
    description: "Announces that a resource changed; `proof://counter` really does",
    since: R2024_11_05,
    input,
    output: None,
    hints: CHANGES,
    run: Run::Now(run),
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": { "uri": { "type": "string", "default": "proof://counter" } },
        "additionalProperties": false,
    })
}

fn run(server: &Server, invocation: &mut Invocation) -> Outcome {
    let uri = invocation.text("uri").unwrap_or("proof://counter");
    if !server.state().shelf.touch(uri) {
        return Outcome::failure(format!("There is no resource {}", uri.escape_debug()));
    }
    server.state().hub.announce(Change::Resource(uri));
    Outcome::text(format!("Touched {uri}"))
}

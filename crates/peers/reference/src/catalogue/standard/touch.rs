//! `touch_resource`: makes a resource change, so that subscribers hear of it.

use serde_json::json;
use wire::serf::Category;

use super::resources::COUNTER;
use crate::Server;
use crate::catalogue::{Hints, Invocation, Outcome, Tool};

pub(super) fn tool() -> Tool {
    Tool::now("touch_resource", "Announces that a resource changed; `proof://counter` really does", run)
        .titled("Touch a resource")
        .takes(json!({ "uri": { "type": "string", "default": COUNTER } }), &[])
        .hints(Hints::CHANGES)
}

fn run(server: &Server, invocation: &mut Invocation) -> Outcome {
    let uri = invocation.text("uri").unwrap_or(COUNTER);
    if server.touch(uri) {
        Outcome::text(format!("Touched {uri}"))
    } else {
        Outcome::failure(Category::ResourceNotFound, format!("There is no resource {}", uri.escape_debug()))
    }
}

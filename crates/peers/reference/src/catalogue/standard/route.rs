//! `route`: a tool whose arguments are mirrored into headers (2026-07-28).

use serde_json::json;
use wire::revision::R2026_07_28;

use crate::catalogue::{Invocation, Outcome, Tool};

pub(super) fn tool() -> Tool {
    let properties = json!({
        "region": { "type": "string", "description": "Where to route to", "x-mcp-header": "Region" },
        "shard": { "type": "integer", "description": "Which part of it", "minimum": 0, "maximum": 1023, "x-mcp-header": "Shard" },
    });
    Tool::now("route", "Tells the region a call was routed to by its header", |_, invocation| run(invocation))
        .titled("Route")
        .since(R2026_07_28)
        .takes(properties, &[])
}

fn run(invocation: &Invocation) -> Outcome {
    let shard = invocation.number("shard").map(|shard| format!(", shard {shard}")).unwrap_or_default();
    let region = invocation.text("region").map_or("Routed nowhere".into(), |region| format!("Routed to {region}"));
    Outcome::text(region + &shard)
}

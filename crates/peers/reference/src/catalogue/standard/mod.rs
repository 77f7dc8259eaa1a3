//! The standard catalogue: one of everything the protocol has, a file per family.

mod ask;
mod buy;
mod complete;
mod content;
mod echo;
mod fail;
mod form;
mod log;
mod model;
mod models;
mod prompts;
mod resources;
mod route;
mod slow;
mod sum;
mod toggle;
mod touch;
mod visit;
mod weather;

use super::Catalogue;

/// A PNG of one pixel, Base64.
pub(in crate::catalogue) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Eight samples of sound in a WAV, Base64.
pub(in crate::catalogue) const WAV: &str = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAoMCggGBAYA==";

/// What a model is told about the server.
const INSTRUCTIONS: &str = "A server to test clients with. Every tool is harmless; `slow`, `log` and `ask` show what a call can do besides answer.";

pub(super) fn catalogue() -> Catalogue {
    Catalogue {
        title: Some("Proofhouse reference server".into()),
        instructions: Some(INSTRUCTIONS.into()),
        tools: [
            vec![echo::tool(), sum::tool(), weather::tool(), slow::tool(), fail::tool()],
            content::tools(),
            vec![log::tool()],
            ask::tools(),
            form::tools(),
            vec![model::tool(), visit::tool(), buy::tool(), route::tool(), touch::tool()],
            toggle::tools(),
        ]
        .concat(),
        resources: resources::resources().into_iter().chain([weather::app()]).collect(),
        templates: resources::templates(),
        prompts: prompts::prompts(),
        models: models::models(),
        metadata: true,
        ..Catalogue::new("proof-reference", env!("CARGO_PKG_VERSION"))
    }
}

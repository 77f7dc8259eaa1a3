//! One tool per kind of content, and one with all kinds.

use serde_json::{Value, json};
use wire::Revision;
use wire::revision::{R2025_03_26, R2025_06_18};

use super::resources::README;
use super::{PNG, WAV};
use crate::Server;
use crate::catalogue::{Content, Invocation, Outcome, Tool};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::now("get_image", "Gives an image", |_, _| Outcome::content(image())).titled("Image"),
        Tool::now("get_audio", "Gives a sound", |_, _| Outcome::content(audio())).titled("Audio").since(R2025_03_26),
        Tool::now("get_resource_link", "Gives a link to a resource", |server, invocation| {
            Outcome::content(link(server, invocation.call.context.revision))
        })
        .titled("Resource link")
        .since(R2025_06_18),
        Tool::now("get_embedded_resource", "Gives a resource and its contents", |server, _| {
            Outcome::content(embedded(server))
        })
        .titled("Embedded resource"),
        Tool::now("get_everything", "Gives one block of every kind of content", everything)
            .titled("Every kind of content"),
    ]
}

fn image() -> Content {
    Content::Image { data: PNG.into(), mime_type: "image/png".into() }
}

fn audio() -> Content {
    Content::Audio { data: WAV.into(), mime_type: "audio/wav".into() }
}

fn embedded(server: &Server) -> Content {
    Content::Resource { resource: server.contents(README).unwrap_or_else(|| json!({})) }
}

fn link(server: &Server, revision: Revision) -> Content {
    let readme = server.catalogue().resources.iter().find(|resource| resource.uri == README);
    let resource: Option<Value> = readme.map(|resource| resource.describe(revision));
    Content::ResourceLink { resource: resource.unwrap_or_else(|| json!({})) }
}

fn everything(server: &Server, invocation: &mut Invocation) -> Outcome {
    let revision = invocation.call.context.revision;
    // Annotations tell who a block is for and how much it matters.
    let annotations = json!({ "audience": ["user"], "priority": 0.9 });
    let text = json!({ "type": "text", "text": "One block of every kind:", "annotations": annotations });
    let mut blocks = vec![Content::Whole(text), image(), embedded(server)];
    if revision.at_least(R2025_03_26) {
        blocks.push(audio());
    }
    if revision.at_least(R2025_06_18) {
        blocks.push(link(server, revision));
    }
    Outcome::contents(blocks)
}

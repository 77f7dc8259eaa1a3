//! One tool per kind of content.

use serde_json::json;
use wire::Revision;
use wire::revision::{R2024_11_05, R2025_03_26, R2025_06_18};

use super::call::{Content, Invocation, Outcome};
use super::{READS, Run, Tool, nothing};
use crate::Server;
use crate::resources::{PNG, describe};

/// Eight samples of sound in a WAV, Base64.
const WAV: &str = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAoMCggGBAYA==";

const README: &str = "proof://docs/readme";

const fn tool(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    since: Revision,
    run: fn(&Server, &mut Invocation) -> Outcome,
) -> Tool {
    Tool { name, title, description, since, input: nothing, output: None, hints: READS, run: Run::Now(run) }
}

pub(super) const IMAGE: Tool = tool("get_image", "Image", "Gives an image", R2024_11_05, |_, _| {
    Outcome::content(Content::Image { data: PNG, mime_type: "image/png" })
});

pub(super) const AUDIO: Tool = tool("get_audio", "Audio", "Gives a sound", R2025_03_26, |_, _| {
    Outcome::content(Content::Audio { data: WAV, mime_type: "audio/wav" })
});

pub(super) const LINK: Tool =
    tool("get_resource_link", "Resource link", "Gives a link to a resource", R2025_06_18, |_, invocation| {
        let resource = describe(README, invocation.call.context.revision).unwrap_or_else(|| json!({}));
        Outcome::content(Content::ResourceLink { resource })
    });

pub(super) const EMBEDDED: Tool = tool(
    "get_embedded_resource",
    "Embedded resource",
    "Gives a resource and its contents",
    R2024_11_05,
    |server, _| {
        let resource = server.state().shelf.contents(README).unwrap_or_else(|| json!({}));
        Outcome::content(Content::Resource { resource })
    },
);

//! Tools that only give content, and one that only fails.

use serde_json::json;
use wire::revision::R2025_03_26;

use crate::catalogue::standard::{PNG, WAV};
use crate::catalogue::{Content, Outcome, Tool};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::now("test_simple_text", "Gives a text", |_, _| {
            Outcome::text("This is a simple text response for testing.")
        }),
        Tool::now("test_image_content", "Gives an image", |_, _| Outcome::content(image())),
        Tool::now("test_audio_content", "Gives a sound", |_, _| {
            Outcome::content(Content::Audio { data: WAV.into(), mime_type: "audio/wav".into() })
        })
        .since(R2025_03_26),
        Tool::now("test_embedded_resource", "Gives a resource and its contents", |_, _| {
            Outcome::content(resource(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content.",
            ))
        }),
        Tool::now("test_multiple_content_types", "Gives a text, an image and a resource", |_, _| {
            Outcome::contents(vec![
                Content::text("Multiple content types test:"),
                image(),
                resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
            ])
        }),
        Tool::now("test_error_handling", "Always fails", |_, _| {
            Outcome::plain_failure("This tool intentionally returns an error for testing")
        }),
    ]
}

fn image() -> Content {
    Content::Image { data: PNG.into(), mime_type: "image/png".into() }
}

fn resource(uri: &str, mime_type: &str, text: &str) -> Content {
    Content::Resource { resource: json!({ "uri": uri, "mimeType": mime_type, "text": text }) }
}

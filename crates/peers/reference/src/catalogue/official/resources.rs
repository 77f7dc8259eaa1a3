//! The resources and the template that the suite reads.

use serde_json::json;

use crate::catalogue::standard::PNG;
use crate::catalogue::{Body, Resource, Template, Variables};

pub(super) fn resources() -> Vec<Resource> {
    vec![
        Resource::text(
            "test://static-text",
            "static-text",
            "text/plain",
            "This is the content of the static text resource.",
        )
        .told("Static text", "A text that never changes"),
        Resource::blob("test://static-binary", "static-binary", "image/png", PNG)
            .told("Static binary", "An image that never changes"),
        Resource::text("test://watched-resource", "watched-resource", "text/plain", "Watched resource content")
            .told("Watched", "A resource to subscribe to"),
    ]
}

pub(super) fn templates() -> Vec<Template> {
    vec![
        Template::new("test://template/{id}/data", "template", "application/json", data)
            .told("Data", "The data of any id"),
    ]
}

fn data(values: &Variables) -> Option<Body> {
    let id = values.get("id")?;
    let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
    Some(Body::Text(data.to_string().into()))
}

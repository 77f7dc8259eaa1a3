//! The standard resources: texts, an image, one that changes, one that comes and goes, and three templates, one of
//! which fails.

use net::service::RpcError;
use serde_json::{Value, json};

use super::PNG;
use super::complete::{cities, countries, names};
use crate::catalogue::{Body, Resource, Template, Variables};

/// The resource that changes.
pub(super) const COUNTER: &str = "proof://counter";
/// The resource that comes and goes.
pub(super) const EXTRA: &str = "proof://extra";
/// The text in Markdown.
pub(super) const README: &str = "proof://docs/readme";

const README_TEXT: &str = "# Reference server\n\nIt does what the specification says, *and nothing else*.\n";

pub(super) fn resources() -> Vec<Resource> {
    vec![
        Resource::text("proof://docs/welcome", "welcome", "text/plain", "Welcome to the reference server.\n")
            .told("Welcome", "A plain text")
            .annotated(fixed(&["user", "assistant"], 0.5)),
        Resource::text(README, "readme", "text/markdown", README_TEXT)
            .told("Read me", "A text in Markdown")
            .annotated(fixed(&["user", "assistant"], 1.0)),
        Resource::blob("proof://images/pixel", "pixel", "image/png", PNG)
            .told("Pixel", "An image of one pixel")
            .annotated(fixed(&["user"], 0.0)),
        Resource::touches(COUNTER, "counter")
            .told("Counter", "Counts how often the tool `touch_resource` touched it")
            .annotated(json!({ "audience": ["assistant"], "priority": 0.5 })),
        Resource::text(EXTRA, "extra", "text/plain", "I was toggled on.\n")
            .told("Extra", "Comes and goes with the tool `toggle_resource`")
            .annotated(fixed(&["user", "assistant"], 0.5))
            .coming_and_going(),
    ]
}

/// Annotations of what has not changed since it was written.
fn fixed(audience: &[&str], priority: f64) -> Value {
    json!({ "audience": audience, "priority": priority, "lastModified": "2026-07-28T00:00:00Z" })
}

pub(super) fn templates() -> Vec<Template> {
    vec![
        Template::new("proof://greeting/{name}", "greeting", "text/plain", greeting)
            .told("Greeting", "Greets whoever is named")
            .completed("name", names()),
        Template::new("proof://city/{country}/{city}", "city", "text/plain", city)
            .told("City", "Tells of a city and its country")
            .completed("country", countries())
            .completed("city", cities()),
        broken(),
    ]
}

/// What an internal error looks like.
fn broken() -> Template {
    let refusal = RpcError::internal("Internal error: this resource cannot be read, on purpose");
    let template = Template::new("proof://broken/{part}", "broken", "text/plain", |_| None);
    Template { refusal: Some(refusal), ..template.told("Broken", "Fails whenever it is read") }
}

/// Letters, digits and hyphens: what needs no decoding.
fn plain(values: &Variables, name: &str) -> Option<String> {
    values.get(name).filter(|value| value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')).cloned()
}

fn greeting(values: &Variables) -> Option<Body> {
    Some(Body::Text(format!("Hello, {}!\n", plain(values, "name")?).into()))
}

fn city(values: &Variables) -> Option<Body> {
    Some(Body::Text(format!("{} is in {}.\n", plain(values, "city")?, plain(values, "country")?).into()))
}

//! Resources: a fixed shelf, one template, one resource that comes and goes, subscriptions (server/resources).

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use net::service::{Call, RpcError, code};
use serde::Deserialize;
use serde_json::{Value, json};
use wire::revision::R2025_06_18;
use wire::{Era, Revision};

use crate::answer::{Handled, cacheable};
use crate::logging::SessionState;
use crate::{Server, pagination, params};

/// A PNG of one pixel, Base64.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The only template.
pub(crate) const TEMPLATE: &str = "proof://greeting/{name}";

const EXTRA: &str = "proof://extra";
const COUNTER: &str = "proof://counter";

enum Content {
    Text(&'static str),
    Png(&'static str),
    /// How often the resource was touched.
    Count,
}

struct Item {
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    description: &'static str,
    mime_type: &'static str,
    content: Content,
}

const ITEMS: &[Item] = &[
    Item {
        uri: "proof://docs/welcome",
        name: "welcome",
        title: "Welcome",
        description: "A plain text",
        mime_type: "text/plain",
        content: Content::Text("Welcome to the reference server.\n"),
    },
    Item {
        uri: "proof://docs/readme",
        name: "readme",
        title: "Read me",
        description: "A text in Markdown",
        mime_type: "text/markdown",
        content: Content::Text("# Reference server\n\nIt does what the specification says, *and nothing else*.\n"),
    },
    Item {
        uri: "proof://images/pixel",
        name: "pixel",
        title: "Pixel",
        description: "An image of one pixel",
        mime_type: "image/png",
        content: Content::Png(PNG),
    },
    Item {
        uri: COUNTER,
        name: "counter",
        title: "Counter",
        description: "Counts how often the tool `touch_resource` touched it",
        mime_type: "text/plain",
        content: Content::Count,
    },
    Item {
        uri: EXTRA,
        name: "extra",
        title: "Extra",
        description: "Comes and goes with the tool `toggle_resource`",
        mime_type: "text/plain",
        content: Content::Text("I was toggled on.\n"),
    },
];

/// What of the resources changes.
#[derive(Default)]
pub(crate) struct Shelf {
    extra: AtomicBool,
    touched: Mutex<HashMap<String, u64>>,
}

impl Shelf {
    /// Brings the extra resource in or takes it away; tells whether it is there now.
    pub(crate) fn toggle(&self) -> bool {
        !self.extra.fetch_xor(true, Ordering::Relaxed)
    }

    fn items(&self) -> impl Iterator<Item = &'static Item> {
        let extra = self.extra.load(Ordering::Relaxed);
        ITEMS.iter().filter(move |item| extra || item.uri != EXTRA)
    }

    /// Whether something can be read at `uri`.
    pub(crate) fn exists(&self, uri: &str) -> bool {
        self.items().any(|item| item.uri == uri) || greeted(uri).is_some()
    }

    /// Counts one touch; `false` where there is no such resource.
    pub(crate) fn touch(&self, uri: &str) -> bool {
        if !self.exists(uri) {
            return false;
        }
        *self.touched.lock().unwrap_or_else(PoisonError::into_inner).entry(uri.to_owned()).or_default() += 1;
        true
    }

    fn touches(&self, uri: &str) -> u64 {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner).get(uri).copied().unwrap_or_default()
    }

    /// The contents at `uri`, as one `ResourceContents`.
    pub(crate) fn contents(&self, uri: &str) -> Option<Value> {
        if let Some(name) = greeted(uri) {
            return Some(json!({ "uri": uri, "mimeType": "text/plain", "text": format!("Hello, {name}!\n") }));
        }
        let item = self.items().find(|item| item.uri == uri)?;
        let (member, data) = match item.content {
            Content::Text(text) => ("text", text.to_owned()),
            Content::Png(data) => ("blob", data.to_owned()),
            Content::Count => ("text", format!("{}\n", self.touches(uri))),
        };
        Some(json!({ "uri": uri, "mimeType": item.mime_type, member: data }))
    }
}

/// The name in a URI made from the template: letters, digits and hyphens.
fn greeted(uri: &str) -> Option<&str> {
    let name = uri.strip_prefix("proof://greeting/")?;
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    plain.then_some(name)
}

/// The resource as a list, or a link, describes it in `revision`.
pub(crate) fn describe(uri: &str, revision: Revision) -> Option<Value> {
    ITEMS.iter().find(|item| item.uri == uri).map(|item| describe_item(item, revision))
}

fn describe_item(item: &Item, revision: Revision) -> Value {
    let mut value = json!({
        "uri": item.uri,
        "name": item.name,
        "description": item.description,
        "mimeType": item.mime_type,
        "annotations": { "audience": ["user", "assistant"], "priority": 0.5 },
    });
    match item.content {
        Content::Text(text) => value["size"] = json!(text.len()),
        Content::Png(data) => value["size"] = json!(data.trim_end_matches('=').len() * 3 / 4),
        Content::Count => {}
    }
    if revision.at_least(R2025_06_18) {
        value["title"] = json!(item.title);
        if !matches!(item.content, Content::Count) {
            value["annotations"]["lastModified"] = json!("2026-07-28T00:00:00Z");
        }
    }
    value
}

/// `resources/list`
pub(crate) fn list(server: &Server, call: &Call) -> Handled {
    let revision = call.context.revision;
    let items = server.state().shelf.items().map(|item| describe_item(item, revision)).collect();
    let body = pagination::page(call, "resources", items, server.state().options.resources_per_page)?;
    Ok(cacheable(server, call, body))
}

/// `resources/templates/list`
pub(crate) fn templates(server: &Server, call: &Call) -> Handled {
    let mut template = json!({
        "uriTemplate": TEMPLATE,
        "name": "greeting",
        "description": "Greets whoever is named",
        "mimeType": "text/plain",
    });
    if call.context.revision.at_least(R2025_06_18) {
        template["title"] = json!("Greeting");
    }
    let size = server.state().options.items_per_page;
    let body = pagination::page(call, "resourceTemplates", vec![template], size)?;
    Ok(cacheable(server, call, body))
}

#[derive(Deserialize)]
struct Params {
    uri: String,
}

/// `resources/read`
pub(crate) fn read(server: &Server, call: &Call) -> Handled {
    params::meta(call)?;
    let Params { uri } = params::read(call)?;
    let contents = server.state().shelf.contents(&uri).ok_or_else(|| not_found(call.context.era(), &uri))?;
    Ok(cacheable(server, call, json!({ "contents": [contents] })))
}

/// -32002 until 2025-11-25, -32602 from 2026-07-28 on.
fn not_found(era: Era, uri: &str) -> RpcError {
    let code = if era == Era::Legacy { code::RESOURCE_NOT_FOUND } else { code::INVALID_PARAMS };
    RpcError::new(code, "Resource not found").with_data(json!({ "uri": uri }))
}

/// The resources a legacy session subscribed to.
#[derive(Default)]
pub(crate) struct Subscriptions(Mutex<HashSet<String>>);

impl Subscriptions {
    pub(crate) fn has(&self, uri: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(uri)
    }
}

fn change_subscription(call: &Call, uri: String, wanted: bool) -> Handled {
    let session = call.context.session.as_ref().ok_or_else(|| RpcError::internal("A session is needed"))?;
    let mut uris = session.state::<SessionState>().subscriptions.0.lock().unwrap_or_else(PoisonError::into_inner);
    if wanted {
        uris.insert(uri);
    } else {
        uris.remove(&uri);
    }
    Ok(json!({}))
}

/// `resources/subscribe` (legacy era)
pub(crate) fn subscribe(server: &Server, call: &Call) -> Handled {
    params::meta(call)?;
    let Params { uri } = params::read(call)?;
    if !server.state().shelf.exists(&uri) {
        return Err(not_found(Era::Legacy, &uri));
    }
    change_subscription(call, uri, true)
}

/// `resources/unsubscribe` (legacy era)
pub(crate) fn unsubscribe(call: &Call) -> Handled {
    params::meta(call)?;
    let Params { uri } = params::read(call)?;
    change_subscription(call, uri, false)
}

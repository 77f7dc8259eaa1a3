//! The methods of resources over any catalogue (server/resources).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use net::service::{Call, RpcError, code};
use serde::Deserialize;
use serde_json::{Value, json};
use wire::Era;

use crate::answer::{Handled, cacheable};
use crate::catalogue::{Body, Contents, Kind, Resource, Template, Variables};
use crate::logging::SessionState;
use crate::{Server, pagination, params};

/// How often each resource was touched.
#[derive(Default)]
pub(crate) struct Shelf(Mutex<HashMap<String, u64>>);

impl Shelf {
    /// Counts one touch of a resource that exists.
    pub(crate) fn touch(&self, uri: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(uri.to_owned()).or_default() += 1;
    }

    fn touches(&self, uri: &str) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(uri).copied().unwrap_or_default()
    }
}

fn available(server: &Server) -> impl Iterator<Item = &Resource> {
    let resources = server.catalogue().resources.iter();
    resources.filter(|item| server.is_there(item.comes_and_goes, Kind::Resource, &item.uri))
}

/// The first template that makes `uri`, the values it takes and what is there.
fn templated<'a>(server: &'a Server, uri: &str) -> Option<(&'a Template, Body)> {
    let matching = |template: &'a Template| Some((template, template.matches(uri)?));
    let readable = |(template, values): (&'a Template, Variables)| Some((template, (template.read)(&values)?));
    server.catalogue().templates.iter().filter_map(matching).find_map(readable)
}

/// Whether something can be read at `uri`.
pub(crate) fn exists(server: &Server, uri: &str) -> bool {
    available(server).any(|item| item.uri == uri) || templated(server, uri).is_some()
}

/// The contents at `uri`, as one `ResourceContents`.
pub(crate) fn contents(server: &Server, uri: &str) -> Option<Value> {
    let Some(item) = available(server).find(|item| item.uri == uri) else {
        let (template, body) = templated(server, uri)?;
        return Some(body.describe(uri, &template.mime_type));
    };
    Some(match &item.contents {
        Contents::Fixed(body) => body.describe(uri, &item.mime_type),
        Contents::Touches => {
            let text = format!("{}\n", server.state().shelf.touches(uri));
            Body::Text(text.into()).describe(uri, &item.mime_type)
        }
    })
}

/// `resources/list`
pub(crate) fn list(server: &Server, call: &Call) -> Handled {
    let items = available(server).map(|item| item.describe(call.context.revision));
    let body = pagination::page(call, "resources", items, server.state().options.resources_per_page)?;
    Ok(cacheable(server, call, body))
}

/// `resources/templates/list`
pub(crate) fn templates(server: &Server, call: &Call) -> Handled {
    let items = server.catalogue().templates.iter().map(|template| template.describe(call.context.revision));
    let body = pagination::page(call, "resourceTemplates", items, server.state().options.items_per_page)?;
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
    let contents = contents(server, &uri).ok_or_else(|| not_found(call.context.era(), &uri))?;
    Ok(cacheable(server, call, json!({ "contents": [contents] })))
}

/// -32002 until 2025-11-25, -32602 from 2026-07-28 on.
fn not_found(era: Era, uri: &str) -> RpcError {
    let code = if era == Era::Legacy { code::RESOURCE_NOT_FOUND } else { code::INVALID_PARAMS };
    RpcError::new(code, "Resource not found").with_data(json!({ "uri": uri }))
}

/// `resources/subscribe` (legacy era)
pub(crate) fn subscribe(server: &Server, call: &Call) -> Handled {
    params::meta(call)?;
    let Params { uri } = params::read(call)?;
    if !exists(server, &uri) {
        return Err(not_found(Era::Legacy, &uri));
    }
    session(call)?.watched.insert(uri);
    Ok(json!({}))
}

/// `resources/unsubscribe` (legacy era)
pub(crate) fn unsubscribe(call: &Call) -> Handled {
    params::meta(call)?;
    let Params { uri } = params::read(call)?;
    session(call)?.watched.remove(&uri);
    Ok(json!({}))
}

fn session(call: &Call) -> Result<&SessionState, RpcError> {
    let session = call.context.session.as_ref().ok_or_else(|| RpcError::internal("A session is needed"))?;
    Ok(session.state::<SessionState>())
}

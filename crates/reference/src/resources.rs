//! The methods of resources over any catalogue (server/resources).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use net::service::{Call, Reply, RpcError, code};
use serde::Deserialize;
use serde_json::{Value, json};
use wire::Era;

use crate::answer::{self, Handled, cacheable};
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
pub(crate) fn read(server: &Server, call: Call) -> Reply {
    let (delay, handled) = match reading(server, &call) {
        Ok((delay, body)) => (delay, Ok(body)),
        Err((delay, error)) => (delay, Err(error)),
    };
    let answer = match handled {
        Ok(body) => answer::complete(server, &call.context, call.id(), &body),
        Err(error) => answer::error(call.id(), &error),
    };
    if delay.is_zero() {
        return answer.into();
    }
    Reply::later(async move {
        tokio::time::sleep(delay).await;
        answer
    })
}

/// What is read, or why nothing is, and how long it takes.
fn reading(server: &Server, call: &Call) -> Result<(Duration, Value), (Duration, RpcError)> {
    let at_once = |error| (Duration::ZERO, error);
    params::meta(call).map_err(at_once)?;
    let Params { uri } = params::read(call).map_err(at_once)?;
    let (delay, refusal) = manner(server, &uri);
    if let Some(refusal) = refusal {
        return Err((delay, refusal.clone()));
    }
    let contents = contents(server, &uri).ok_or_else(|| at_once(not_found(call.context.era(), &uri)))?;
    Ok((delay, cacheable(server, call, json!({ "contents": [contents] }))))
}

/// How long reading `uri` takes, and what it ends with instead of contents.
fn manner<'a>(server: &'a Server, uri: &str) -> (Duration, Option<&'a RpcError>) {
    if let Some(item) = available(server).find(|item| item.uri == uri) {
        return (item.delay, item.refusal.as_ref());
    }
    let answers = |template: &&Template| {
        let readable = |values| template.refusal.is_some() || (template.read)(&values).is_some();
        template.matches(uri).is_some_and(readable)
    };
    match server.catalogue().templates.iter().find(answers) {
        Some(template) => (template.delay, template.refusal.as_ref()),
        None => (Duration::ZERO, None),
    }
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

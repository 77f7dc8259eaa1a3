//! The methods of resources over any catalogue (server/resources).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use net::service::{Answer, Call, Context, Reply, RpcError, code};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wire::Era;

use crate::answer::{self, Handled, cacheable};
use crate::catalogue::{Body, Contents, Described, Found, Kind, Resource, Template, Variables};
use crate::folder::{self, Entry, Unreadable};
use crate::logging::SessionState;
use crate::{Folder, Server, pagination, params};

/// How often each resource was touched.
#[derive(Default)]
pub(crate) struct TouchCounts(Mutex<HashMap<String, u64>>);

impl TouchCounts {
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

/// The first template that makes `uri`, and what is there for the client of a conversation.
fn templated<'a>(server: &'a Server, uri: &str, context: Option<&Context>) -> Option<(&'a Template, Found)> {
    let matching = |template: &'a Template| Some((template, template.matches(uri)?));
    let readable = |(template, values): (&'a Template, Variables)| Some((template, (template.read)(&values, context)?));
    server.catalogue().templates.iter().filter_map(matching).find_map(readable)
}

/// Whether something can be read at `uri`. Looks into no directory: of files it knows those that are listed.
pub(crate) fn exists(server: &Server, uri: &str, context: Option<&Context>) -> bool {
    let of_catalogue = available(server).any(|item| item.uri == uri) || templated(server, uri, context).is_some();
    of_catalogue || server.folder().is_some_and(|folder| folder.lists(uri))
}

/// What the catalogue has at `uri`, as one `ResourceContents`.
pub(crate) fn contents(server: &Server, uri: &str, context: Option<&Context>) -> Option<Described> {
    let Some(item) = available(server).find(|item| item.uri == uri) else {
        let (template, Found { body, mime_type }) = templated(server, uri, context)?;
        let mime_type = mime_type.unwrap_or_else(|| template.mime_type.clone());
        return Some(Described { uri: uri.to_owned(), mime_type, body });
    };
    let body = match &item.contents {
        Contents::Fixed(body) => body.clone(),
        Contents::Touches => Body::Text(format!("{}\n", server.state().touch_counts.touches(uri)).into()),
    };
    Some(Described { uri: uri.to_owned(), mime_type: item.mime_type.clone(), body })
}

/// The result of `resources/read`, with the caching hints of its era.
#[derive(Serialize)]
struct Contained {
    contents: [Described; 1],
    #[serde(flatten)]
    hints: Value,
}

/// The answer with the contents, if there are any.
fn found(server: &Server, call: &Call, contents: Option<Described>, uri: &str) -> Answer {
    let Some(contents) = contents else { return answer::error(call.id(), &not_found(call.context.era(), uri)) };
    let length = contents.length();
    let result = Contained { contents: [contents], hints: cacheable(server, call, json!({})) };
    answer::complete_with_room(server, call, &result, length)
}

/// The most pages that `resources/list` has, about: a small page shows what pages are, but a directory may have thousands.
const PAGES: usize = 50;

/// What `resources/list` has: the catalogue's first.
enum Listed<'a> {
    Fixed(&'a Resource),
    File(&'a Entry),
}

/// `resources/list`
pub(crate) fn list(server: &Server, call: &Call) -> Handled {
    let revision = call.context.revision;
    let files = server.folder().map(|folder| folder.listing());
    let size = server.state().options.resources_per_page;
    let size = size.max(files.as_ref().map_or(0, |listing| listing.entries.len()).div_ceil(PAGES));
    let files = files.iter().flat_map(|listing| &listing.entries).map(Listed::File);
    let listed = available(server).filter(|resource| !resource.is_unlisted);
    let items = listed.map(Listed::Fixed).chain(files);
    let describe = |item: Listed<'_>| match item {
        Listed::Fixed(resource) => resource.describe(revision),
        Listed::File(file) => file.describe(revision),
    };
    let body = pagination::page(call, "resources", items, describe, size)?;
    Ok(cacheable(server, call, body))
}

/// `resources/templates/list`
pub(crate) fn templates(server: &Server, call: &Call) -> Handled {
    let revision = call.context.revision;
    let fixed = server.catalogue().templates.iter().map(|template| template.describe(revision));
    let items = fixed.chain(server.folder().map(|_| folder::template(revision)));
    let size = server.state().options.items_per_page;
    let body = pagination::page(call, "resourceTemplates", items, |template| template, size)?;
    Ok(cacheable(server, call, body))
}

#[derive(Deserialize)]
struct Params {
    uri: String,
}

/// `resources/read`
pub(crate) fn read(server: &Server, call: Call) -> Reply {
    let uri = match params::meta(&call).and_then(|_| params::read(&call)) {
        Ok(Params { uri }) => uri,
        Err(error) => return answer::error(call.id(), &error).into(),
    };
    if server.catalogue().templates.iter().any(|template| template.apart && template.matches(&uri).is_some()) {
        return read_apart(server, call, uri);
    }
    let file = server.folder().zip(folder::path(&uri));
    let (delay, refusal) = manner(server, &uri, &call.context);
    let answer = match (refusal, contents(server, &uri, Some(&call.context)), file) {
        (Some(refusal), ..) => answer::error(call.id(), refusal),
        (None, None, Some((folder, path))) => return read_file(server, call, Arc::clone(folder), uri, path),
        (None, contents, _) => found(server, &call, contents, &uri),
    };
    if delay.is_zero() {
        return answer.into();
    }
    Reply::later(async move {
        tokio::time::sleep(delay).await;
        answer
    })
}

/// Reads what keeps a thread busy on another one: no other request waits for it.
fn read_apart(server: &Server, call: Call, uri: String) -> Reply {
    let server = server.clone();
    Reply::later(async move {
        let (of, at, context) = (server.clone(), uri.clone(), call.context.clone());
        match tokio::task::spawn_blocking(move || contents(&of, &at, Some(&context))).await {
            Ok(contents) => found(&server, &call, contents, &uri),
            Err(_) => answer::error(call.id(), &RpcError::internal("The resource cannot be read")),
        }
    })
}

fn read_file(server: &Server, call: Call, folder: Arc<Folder>, uri: String, path: String) -> Reply {
    let server = server.clone();
    Reply::later(async move {
        let contents = folder.contents(uri.clone(), path).await;
        let handled = contents.map_err(|why| unreadable(&call, &uri, why)).map(|contents| {
            let mut body = cacheable(&server, &call, json!({ "contents": [contents] }));
            // Nobody is told sooner that a file has changed.
            if let Some(ttl) = body.get_mut("ttlMs") {
                *ttl = json!(folder::POLL.as_millis());
            }
            body
        });
        answer::handled(&server, &call, handled)
    })
}

/// What is not served is not there: neither that it is elsewhere nor what it is, is told.
fn unreadable(call: &Call, uri: &str, why: Unreadable) -> RpcError {
    match why {
        Unreadable::Missing => not_found(call.context.era(), uri),
        Unreadable::TooLarge(size) => {
            let what = format!("The file is too large: {size} bytes, and at most {} are read", folder::LARGEST);
            RpcError::internal(what).with_data(json!({ "uri": uri, "size": size, "limit": folder::LARGEST }))
        }
        Unreadable::Failed(error) => {
            RpcError::internal(format!("The file cannot be read: {}", error.kind())).with_data(json!({ "uri": uri }))
        }
    }
}

/// How long reading `uri` takes, and what it ends with instead of contents.
fn manner<'a>(server: &'a Server, uri: &str, context: &Context) -> (Duration, Option<&'a RpcError>) {
    if let Some(item) = available(server).find(|item| item.uri == uri) {
        return (item.delay, item.refusal.as_ref());
    }
    let answers = |template: &&Template| {
        let readable = |values| template.refusal.is_some() || (template.read)(&values, Some(context)).is_some();
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
    if !exists(server, &uri, Some(&call.context)) {
        return Err(not_found(Era::Legacy, &uri));
    }
    if !session(call)?.watched.insert(uri) {
        return Err(RpcError::internal("This session has as many subscriptions as it can take; end some first"));
    }
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

//! What a resource template is, and which URIs are made of it (server/resources#resource-templates).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use net::service::{Context, RpcError};
use serde_json::{Value, json};
use wire::Revision;
use wire::revision::R2025_06_18;

use super::Text;
use super::prompt::Completer;
use super::resource::Body;

/// The values of a template's variables, by name.
pub type Variables = BTreeMap<String, String>;

/// What is at a URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The contents.
    pub body: Body,
    /// Their media type, if it is not that of the template.
    pub mime_type: Option<Text>,
}

impl From<Body> for Found {
    fn from(body: Body) -> Self {
        Self { body, mime_type: None }
    }
}

/// Gives what is at the URI with these variables, for the client of this conversation. Without one, only what everyone may read.
pub type Read = dyn Fn(&Variables, Option<&Context>) -> Option<Found> + Send + Sync;

/// A URI with variables such as `{name}`, one level of RFC 6570.
#[derive(Clone)]
pub struct Template {
    /// The URI with its variables.
    pub uri_template: Text,
    /// Its name.
    pub name: Text,
    /// For people (2025-06-18).
    pub title: Option<Text>,
    /// What it is.
    pub description: Option<Text>,
    /// Such as `text/plain`.
    pub mime_type: Text,
    /// What its variables may be completed to, by name.
    pub completers: BTreeMap<Text, Completer>,
    /// What is at a URI with these variables, where anything is.
    pub read: Arc<Read>,
    /// How long it takes to read one.
    pub delay: Duration,
    /// What reading one ends with, instead of its contents.
    pub refusal: Option<RpcError>,
    /// Whether reading one keeps a thread busy: it is done on another thread.
    pub apart: bool,
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Template").field("uri_template", &self.uri_template).finish_non_exhaustive()
    }
}

impl Template {
    /// A template.
    pub fn new(
        uri_template: impl Into<Text>,
        name: impl Into<Text>,
        mime_type: impl Into<Text>,
        read: impl Fn(&Variables) -> Option<Body> + Send + Sync + 'static,
    ) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: mime_type.into(),
            completers: BTreeMap::new(),
            read: Arc::new(move |variables, _| read(variables).map(Found::from)),
            delay: Duration::ZERO,
            refusal: None,
            apart: false,
        }
    }

    /// The same, read on a thread that may be busy for long.
    pub fn apart(self) -> Self {
        Self { apart: true, ..self }
    }

    /// With contents that depend on who reads: `read` gets the conversation of the client.
    pub fn personal(mut self, read: impl Fn(&Variables, &Context) -> Option<Found> + Send + Sync + 'static) -> Self {
        self.read = Arc::new(move |variables, context| read(variables, context?));
        self
    }

    /// With a title and a description.
    pub fn told(mut self, title: impl Into<Text>, description: impl Into<Text>) -> Self {
        self.title = Some(title.into());
        self.description = Some(description.into());
        self
    }

    /// With what `variable` may be completed to.
    pub fn completed(mut self, variable: impl Into<Text>, completer: Completer) -> Self {
        self.completers.insert(variable.into(), completer);
        self
    }

    /// The names of its variables, in order.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.uri_template.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0))
    }

    /// The values that make `uri` of the template: unreserved or percent-encoded characters, at least one each.
    pub(crate) fn matches(&self, uri: &str) -> Option<Variables> {
        let mut parts = self.uri_template.split('{');
        let mut rest = uri.strip_prefix(parts.next()?)?;
        let mut variables = Variables::new();
        for part in parts {
            let (name, literal) = part.split_once('}')?;
            let is_value = |c: char| c.is_ascii_alphanumeric() || "-._~%".contains(c);
            let value = &rest[..rest.find(|c| !is_value(c)).unwrap_or(rest.len())];
            // What follows may begin with characters that a value may have, too.
            let end = if literal.is_empty() { value.len() } else { rest.find(literal)?.min(value.len()) };
            if end == 0 {
                return None;
            }
            variables.insert(name.to_owned(), rest[..end].to_owned());
            rest = rest[end..].strip_prefix(literal)?;
        }
        rest.is_empty().then_some(variables)
    }

    /// The template as `resources/templates/list` describes it in `revision`.
    pub(crate) fn describe(&self, revision: Revision) -> Value {
        let mut value = json!({ "uriTemplate": self.uri_template, "name": self.name, "mimeType": self.mime_type });
        if let Some(description) = &self.description {
            value["description"] = json!(description);
        }
        if let Some(title) = self.title.as_deref().filter(|_| revision.at_least(R2025_06_18)) {
            value["title"] = json!(title);
        }
        value
    }
}

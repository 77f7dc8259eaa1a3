//! What a resource is (server/resources).

use std::sync::Arc;
use std::time::Duration;

use net::service::RpcError;
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Value, json};
use wire::Revision;
use wire::revision::R2025_06_18;

use super::Text;

/// A resource.
#[derive(Clone, Debug)]
pub struct Resource {
    /// By which it is read.
    pub uri: Text,
    /// Its name.
    pub name: Text,
    /// For people (2025-06-18).
    pub title: Option<Text>,
    /// What it is.
    pub description: Option<Text>,
    /// Such as `text/plain`.
    pub mime_type: Text,
    /// `annotations`: `audience`, `priority` and, since 2025-06-18, `lastModified`.
    pub annotations: Option<Value>,
    /// Whether only a tool names it: it can be read, and is in no list.
    pub is_unlisted: bool,
    /// Whether it is absent until [`crate::Server::toggle`] brings it in.
    pub comes_and_goes: bool,
    /// What is in it.
    pub contents: Contents,
    /// How long it takes to read it.
    pub delay: Duration,
    /// What reading it ends with, instead of its contents.
    pub refusal: Option<RpcError>,
}

/// What is in a resource.
#[derive(Clone, Debug)]
pub enum Contents {
    /// Always the same.
    Fixed(Body),
    /// How often the resource was touched, as text.
    Touches,
}

/// The contents of a resource as they are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Text.
    Text(Text),
    /// Bytes, Base64.
    Blob(Text),
    /// A large text that others hold, too.
    SharedText(Arc<String>),
    /// The same of bytes, Base64.
    SharedBlob(Arc<String>),
}

impl Body {
    /// As one `ResourceContents`.
    pub(crate) fn describe(&self, uri: &str, mime_type: &str) -> Value {
        let (member, data) = self.member();
        json!({ "uri": uri, "mimeType": mime_type, member: data })
    }

    /// The text or the Base64, and its member of `ResourceContents`.
    fn member(&self) -> (&'static str, &str) {
        match self {
            Self::Text(text) => ("text", text),
            Self::SharedText(text) => ("text", text),
            Self::Blob(data) => ("blob", data),
            Self::SharedBlob(data) => ("blob", data),
        }
    }

    /// In bytes, before any encoding.
    fn size(&self) -> usize {
        match self.member() {
            ("text", text) => text.len(),
            (_, data) => data.trim_end_matches('=').len() * 3 / 4,
        }
    }
}

/// One `ResourceContents`. It is written as it is sent: a large body is copied once.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) uri: String,
    pub(crate) mime_type: Text,
    pub(crate) body: Body,
}

impl Described {
    /// How long its body is as it is sent, about.
    pub(crate) fn length(&self) -> usize {
        self.body.member().1.len()
    }
}

impl Serialize for Described {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (member, data) = self.body.member();
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("uri", &self.uri)?;
        map.serialize_entry("mimeType", &self.mime_type)?;
        map.serialize_entry(member, data)?;
        map.end()
    }
}

impl Resource {
    fn new(uri: impl Into<Text>, name: impl Into<Text>, mime_type: impl Into<Text>, contents: Contents) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: mime_type.into(),
            annotations: None,
            is_unlisted: false,
            comes_and_goes: false,
            contents,
            delay: Duration::ZERO,
            refusal: None,
        }
    }

    /// A text.
    pub fn text(
        uri: impl Into<Text>,
        name: impl Into<Text>,
        mime_type: impl Into<Text>,
        text: impl Into<Text>,
    ) -> Self {
        Self::new(uri, name, mime_type, Contents::Fixed(Body::Text(text.into())))
    }

    /// Bytes, given in Base64.
    pub fn blob(
        uri: impl Into<Text>,
        name: impl Into<Text>,
        mime_type: impl Into<Text>,
        data: impl Into<Text>,
    ) -> Self {
        Self::new(uri, name, mime_type, Contents::Fixed(Body::Blob(data.into())))
    }

    /// A text that counts how often the resource was touched.
    pub fn touches(uri: impl Into<Text>, name: impl Into<Text>) -> Self {
        Self::new(uri, name, "text/plain", Contents::Touches)
    }

    /// With a title and a description.
    pub fn told(mut self, title: impl Into<Text>, description: impl Into<Text>) -> Self {
        self.title = Some(title.into());
        self.description = Some(description.into());
        self
    }

    /// With annotations.
    pub fn annotated(mut self, annotations: Value) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// In no list.
    pub fn unlisted(mut self) -> Self {
        self.is_unlisted = true;
        self
    }

    /// Absent until it is toggled.
    pub fn coming_and_going(mut self) -> Self {
        self.comes_and_goes = true;
        self
    }

    /// The resource as a list, or a link, describes it in `revision`.
    pub(crate) fn describe(&self, revision: Revision) -> Value {
        let mut value = json!({ "uri": self.uri, "name": self.name, "mimeType": self.mime_type });
        if let Some(description) = &self.description {
            value["description"] = json!(description);
        }
        if let Some(annotations) = &self.annotations {
            value["annotations"] = annotations.clone();
        }
        if let Contents::Fixed(body) = &self.contents {
            value["size"] = json!(body.size());
        }
        if revision.at_least(R2025_06_18) {
            if let Some(title) = &self.title {
                value["title"] = json!(title);
            }
        } else if let Some(annotations) = value.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove("lastModified");
        }
        value
    }
}

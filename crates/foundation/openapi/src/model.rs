//! What a description says, in one shape for all its versions. `reading` makes it, everything else uses it.

use std::collections::BTreeMap;

use serde_json::Value;

/// A description, read.
#[derive(Clone, Debug, Default)]
pub struct Api {
    /// `info.title`.
    pub title: String,
    /// `info.version`.
    pub version: String,
    /// Where the API is, as the description says: absolute or relative URLs, variables filled with their defaults.
    pub servers: Vec<String>,
    /// What can be called, in the order of the description.
    pub operations: Vec<Operation>,
    /// What cannot be called, and why.
    pub skipped: Vec<Skipped>,
    /// What could be called, but was not chosen, and why.
    pub left: Vec<Skipped>,
    /// What is read more loosely than it stands, and why: its operation can be called.
    pub notes: Vec<Skipped>,
    /// How requests are authorized, by the name of the scheme.
    pub schemes: BTreeMap<String, Scheme>,
}

/// A part of the description, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Where it is: a JSON pointer into the description.
    pub at: String,
    /// Why.
    pub why: String,
}

/// The HTTP method of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// `GET`
    Get,
    /// `HEAD`
    Head,
    /// `OPTIONS`
    Options,
    /// `PUT`
    Put,
    /// `DELETE`
    Delete,
    /// `POST`
    Post,
    /// `PATCH`
    Patch,
    /// `TRACE`
    Trace,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Where it is: a JSON pointer into the description.
    pub at: String,
    /// How it is requested.
    pub method: Method,
    /// The template of its path, such as `/pets/{petId}`.
    pub path: String,
    /// `operationId`.
    pub id: Option<String>,
    /// `tags`, the first of which is its group.
    pub tags: Vec<String>,
    /// `summary`.
    pub summary: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// Whether it should not be used any more.
    pub deprecated: bool,
    /// Servers of its own (or of its path); empty: those of the API.
    pub servers: Vec<String>,
    /// What goes into path, query, headers and cookies.
    pub parameters: Vec<Parameter>,
    /// What goes into the body.
    pub body: Option<Body>,
    /// The successful answer: of several statuses the lowest.
    pub answer: Option<Answer>,
    /// One of these sets of schemes is needed; empty: none is.
    pub security: Vec<Vec<Requirement>>,
    /// Schemas that parameters and body of this operation refer to as `#/$defs/NAME`: those reached, and no others.
    pub definitions: BTreeMap<String, Value>,
}

/// Where a parameter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Into the path.
    Path,
    /// Behind the question mark.
    Query,
    /// Into a header.
    Header,
    /// Into the header `Cookie`.
    Cookie,
}

/// How arrays and objects are written in a parameter or a member of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `;name=value`
    Matrix,
    /// `.value`
    Label,
    /// `value,value`
    Simple,
    /// `name=value`
    Form,
    /// `name=a%20b`
    SpaceDelimited,
    /// `name=a|b`
    PipeDelimited,
    /// `name[member]=value`
    DeepObject,
    /// `name=a\tb` (Swagger 2 only)
    TabDelimited,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The member of the tool's arguments that holds its value; unique within the operation.
    pub argument: String,
    /// Its name in the request.
    pub name: String,
    /// Where it goes.
    pub place: Place,
    /// Whether a request without it is refused.
    pub required: bool,
    /// What it means.
    pub description: Option<String>,
    /// How arrays and objects are written.
    pub style: Style,
    /// Whether each item has a pair of its own.
    pub explode: bool,
    /// Whether reserved characters stay as they are; in a path, whether the value may have slashes, which are encoded.
    pub allow_reserved: bool,
    /// The media type that the value is written in instead of a style (`content`).
    pub media: Option<String>,
    /// JSON Schema 2020-12.
    pub schema: Value,
}

/// What kind of body a media type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// JSON, also `application/problem+json` and the like.
    Json,
    /// `application/x-www-form-urlencoded`
    Form,
    /// `multipart/form-data`
    Multipart,
    /// Text: passed as a string.
    Text,
    /// Anything else: passed as Base64.
    Bytes,
}

/// The body of a request.
#[derive(Clone, Debug)]
pub struct Body {
    /// The media type that was chosen: JSON, then a form, then multipart, then the first.
    pub media: String,
    /// What it is.
    pub kind: Kind,
    /// Whether a request without it is refused.
    pub required: bool,
    /// What it means.
    pub description: Option<String>,
    /// Where the arguments have it.
    pub arguments: Arguments,
    /// JSON Schema 2020-12 of the whole body.
    pub schema: Value,
    /// Members of a form or of multipart that are written in a way of their own.
    pub encoding: BTreeMap<String, Encoding>,
}

/// Where the arguments of a tool hold the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// One argument is the body.
    Whole(String),
    /// Each member of the body is an argument.
    Members(Vec<Member>),
}

/// A member of the body that is an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The argument.
    pub argument: String,
    /// Its name in the body.
    pub name: String,
}

/// How one member of a form or of multipart is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// Its media type.
    pub media: Option<String>,
    /// How arrays and objects are written.
    pub style: Style,
    /// Whether each item has a pair of its own.
    pub explode: bool,
    /// Whether reserved characters stay as they are.
    pub allow_reserved: bool,
}

/// A successful answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its media type; none: no body.
    pub media: Option<String>,
    /// JSON Schema 2020-12 of the body, where it is JSON and said; with `$defs` of its own. None where it is larger than
    /// [`crate::Limits::answer_bytes`]: [`crate::answer_schema`] makes it.
    pub schema: Option<Value>,
    /// Whether the description gives a schema of it, kept or not.
    pub is_described: bool,
}

/// A scheme that one way to be authorized needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Its name in [`Api::schemes`].
    pub scheme: String,
    /// The scopes that it needs.
    pub scopes: Vec<String>,
}

/// How requests are authorized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// A key in a header, the query or a cookie.
    Key {
        /// Where.
        place: Place,
        /// Under which name.
        name: String,
    },
    /// `Authorization: Basic …`
    Basic,
    /// `Authorization: Bearer …`
    Bearer,
    /// A token from an authorization server.
    OAuth {
        /// Where a client gets a token for itself.
        client_credentials: Option<String>,
        /// Where a user agrees, and where the token is then fetched.
        authorization_code: Option<(String, String)>,
    },
    /// `openIdConnectUrl`.
    OpenId(String),
    /// Anything else, by its name.
    Other(String),
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 8] =
        [Self::Get, Self::Head, Self::Options, Self::Put, Self::Delete, Self::Post, Self::Patch, Self::Trace];

    /// Its name in a request.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Options => "OPTIONS",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Trace => "TRACE",
        }
    }

    /// Whether a second request does no more than the first (RFC 9110, section 9.2.2).
    pub const fn is_idempotent(self) -> bool {
        !matches!(self, Self::Post | Self::Patch)
    }
}

impl Kind {
    /// What kind of body a media type is.
    pub fn of(media: &str) -> Self {
        let media = wire::http::media_type(media);
        let subtype = media.split_once('/').map_or("", |(_, subtype)| subtype);
        // Where any type will do, JSON does.
        if subtype == "json" || subtype.ends_with("+json") || matches!(&*media, "*/*" | "application/*") {
            Self::Json
        } else if media == "application/x-www-form-urlencoded" {
            Self::Form
        } else if media.starts_with("multipart/") {
            Self::Multipart
        } else if media.starts_with("text/") || subtype == "xml" || subtype.ends_with("+xml") || is_text(subtype) {
            Self::Text
        } else {
            Self::Bytes
        }
    }
}

fn is_text(subtype: &str) -> bool {
    const TEXTS: [&str; 8] = ["javascript", "ecmascript", "graphql", "yaml", "x-yaml", "toml", "x-ndjson", "jsonlines"];
    TEXTS.contains(&subtype) || subtype.ends_with("+yaml")
}

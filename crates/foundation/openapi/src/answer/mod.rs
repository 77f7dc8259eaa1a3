//! What of an answer goes back to a model: content blocks, a structured value, or a failure with what to do about it. Must not
//! know how the answer was received.

mod failure;
pub mod paging;
pub mod shape;
mod weight;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use wire::serf::{Category, Details};

use crate::model::Kind;
use crate::request;
use shape::Shape;

pub use failure::{details, phrase};

/// How many bytes an image, a sound or another file may have that is sent inline.
const INLINE_FILE: usize = 1 << 20;
/// How many times longer than what goes inline a body may be to be written again without blanks.
const UNPARSED: usize = 4;
const ASK_FOR_LESS: &str = "Ask for less: a filter, or smaller pages";
/// How many headers of an answer without a body are shown.
const HEADERS: usize = 40;

/// An answer as it came.
#[derive(Clone, Debug)]
pub struct Received<'a> {
    /// The status.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: &'a [(String, String)],
    /// The body. An owned one becomes what is kept, without a copy.
    pub body: Cow<'a, [u8]>,
    /// Whether the body is only the beginning of a longer one.
    pub is_cut: bool,
}

/// How an answer is shown.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Whether the tool has an output schema: every success then has a structured value, which is an object.
    pub structured: bool,
    /// What is left of a JSON body.
    pub shape: &'a Shape,
    /// The argument of the tool that takes a cursor.
    pub cursor: &'a str,
    /// How many bytes of text go inline.
    pub inline: usize,
    /// Whether the request may be sent again without harm.
    pub repeatable: bool,
    /// Now, in seconds since 1970: `Retry-After` may name a date.
    pub now: u64,
    /// The address under which a whole text is kept, if it does not go inline.
    pub uri: &'a str,
    /// The same for bytes.
    pub file_uri: &'a str,
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A text.
    Text(String),
    /// An image.
    Image {
        /// Base64.
        data: String,
        /// Its media type.
        media: String,
    },
    /// A sound.
    Audio {
        /// Base64.
        data: String,
        /// Its media type.
        media: String,
    },
    /// Other bytes.
    Blob {
        /// Base64.
        data: String,
        /// Their media type.
        media: String,
    },
    /// A link to the whole, which is kept.
    Link {
        /// Its address.
        uri: String,
        /// Its media type.
        media: String,
        /// How many bytes it has.
        size: usize,
    },
}

/// What is kept because it does not go inline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its media type.
    pub media: String,
    /// What it is.
    pub body: KeptBody,
}

/// A text or bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptBody {
    /// A text.
    Text(Arc<String>),
    /// Bytes, in Base64.
    Blob(Arc<String>),
}

/// An answer as a model gets it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// Its parts; at least one.
    pub blocks: Vec<Block>,
    /// A value for programs.
    pub structured: Option<Value>,
    /// Why it is a failure, if it is one.
    pub failure: Option<Details>,
    /// What is to be kept under [`View::uri`].
    pub kept: Option<Kept>,
}

impl Answered {
    /// A failure in words.
    pub fn failed(details: Details, text: impl Into<String>) -> Self {
        Self { blocks: vec![Block::Text(text.into())], failure: Some(details), ..Self::default() }
    }
}

impl Received<'_> {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        wire::trace::header(self.headers, name)
    }

    /// The media type without parameters, in lower case.
    pub fn media(&self) -> Option<String> {
        self.header("content-type").map(wire::http::media_type).filter(|media| !media.is_empty())
    }

    /// The body as JSON, where it says that it is, or says nothing and is. None of one with too many values.
    pub fn json(&self) -> Option<Value> {
        let body = self.json_text()?;
        if weight::is_light(body) { serde_json::from_slice(body).ok() } else { None }
    }

    /// The text of a body that may be JSON.
    fn json_text(&self) -> Option<&[u8]> {
        let may_be = self.media().is_none_or(|media| Kind::of(&media) == Kind::Json);
        // A byte order mark is no JSON, but some servers send one.
        may_be.then(|| self.body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.body))
    }

    /// Whether it is a JSON text that is not parsed: its values would take too much memory.
    fn is_heavy(&self) -> bool {
        self.json_text().is_some_and(|text| text.iter().any(|byte| b"[{".contains(byte)) && !weight::is_light(text))
    }

    fn text(&self) -> String {
        if is_latin(self.headers) {
            return self.body.iter().map(|&byte| char::from(byte)).collect();
        }
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The same without a copy, where it can be; without a character that is cut.
    fn into_text(mut self) -> String {
        if let (Cow::Owned(body), true) = (&mut self.body, self.is_cut) {
            body.truncate(whole_characters(body));
        }
        if is_latin(self.headers) {
            return self.text();
        }
        let text = String::from_utf8(self.body.into_owned());
        text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

/// An answer as a model gets it.
pub fn read(received: Received<'_>, view: &View<'_>) -> Answered {
    if !(200..300).contains(&received.status) {
        return failure::read(&received, view);
    }
    if received.body.is_empty() {
        return without_body(&received, view);
    }
    if view.shape.is_nothing() && (received.is_cut || received.body.len() > view.inline.saturating_mul(UNPARSED)) {
        // Only its beginning is shown: no value of it is needed.
    } else if let Some(value) = received.json() {
        return of_json(value, None, view);
    } else if !view.shape.is_nothing() && (received.is_cut || received.is_heavy()) {
        let text = "the answer has more values than can be selected from";
        return Answered::failed(Details::new(Category::ResourceExhausted, ASK_FOR_LESS), text);
    }
    let media = received.media().unwrap_or_else(|| guess(&received.body).to_owned());
    match Kind::of(&media) {
        Kind::Bytes | Kind::Multipart => of_bytes(received, media, view),
        Kind::Json | Kind::Form | Kind::Text => {
            let (status, is_cut) = (received.status, received.is_cut);
            let mut answered = of_text(received.into_text(), is_cut, &media, view);
            if view.structured && answered.structured.is_none() {
                answered.structured = Some(json!({ "status": status, "mediaType": media }));
            }
            answered
        }
    }
}

/// Whether a text has one byte for each character.
fn is_latin(headers: &[(String, String)]) -> bool {
    wire::trace::header(headers, "content-type").is_some_and(|kind| {
        let kind = kind.to_ascii_lowercase();
        kind.contains("charset=iso-8859-1") || kind.contains("charset=latin1")
    })
}

/// How many bytes of a text that is cut are whole characters.
fn whole_characters(text: &[u8]) -> usize {
    match std::str::from_utf8(text) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => text.len(),
    }
}

/// The media type of a body that says none.
fn guess(body: &[u8]) -> &'static str {
    let is_text = std::str::from_utf8(body).is_ok_and(|text| !text.contains('\0'));
    if is_text { "text/plain" } else { "application/octet-stream" }
}

/// A JSON value, and how to go on where it is one page of many.
pub fn of_json(value: Value, next: Option<&str>, view: &View<'_>) -> Answered {
    let (value, mut notes) = view.shape.apply(value);
    let mut answered = of_text(written(&value), false, "application/json", view);
    if let Some(next) = next {
        notes.push(format!("There is more: call again with {} `{next}`", view.cursor));
    }
    answered.blocks.extend(notes.into_iter().map(Block::Text));
    if view.structured {
        let mut object = match (answered.structured.take(), value) {
            (Some(Value::Object(cut)), _) | (None, Value::Object(cut)) => cut,
            (_, value) => Map::from_iter([("result".to_owned(), value)]),
        };
        if let Some(next) = next {
            // What the API says itself fits none of the tool's arguments.
            object.insert("next".to_owned(), json!(next));
        }
        answered.structured = Some(Value::Object(object));
    }
    answered
}

/// A value as compact JSON.
fn written(value: &Value) -> String {
    let mut text = Vec::with_capacity(512);
    let written = wire::json::write(&mut text, value).ok().and_then(|()| String::from_utf8(text).ok());
    written.unwrap_or_else(|| value.to_string())
}

/// A text; of a long one its beginning and a link to the whole, or to as much of it as was read.
fn of_text(text: String, is_cut: bool, media: &str, view: &View<'_>) -> Answered {
    if text.len() <= view.inline && !is_cut {
        return Answered { blocks: vec![Block::Text(text)], ..Answered::default() };
    }
    let mut end = view.inline.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let (size, uri) = (text.len(), view.uri);
    let note = if is_cut {
        format!(
            "The answer is longer than {size} bytes; its first {end} bytes are above, the first {size} are the \
                 resource {uri}, and more was not read. {ASK_FOR_LESS}"
        )
    } else {
        format!("The first {end} of {size} bytes are above; the whole is the resource {uri}")
    };
    let blocks = vec![
        Block::Text(text[..end].to_owned()),
        Block::Text(note),
        Block::Link { uri: view.uri.to_owned(), media: media.to_owned(), size },
    ];
    let structured = view.structured.then(|| {
        let mut cut = json!({ "truncated": true, "bytes": size, "resource": view.uri });
        if is_cut {
            cut["incomplete"] = json!(true);
        }
        cut
    });
    let kept = Some(Kept { media: media.to_owned(), body: KeptBody::Text(Arc::new(text)) });
    Answered { blocks, structured, failure: None, kept }
}

fn of_bytes(received: Received<'_>, media: String, view: &View<'_>) -> Answered {
    let size = received.body.len();
    let structured = view.structured.then(|| json!({ "status": received.status, "mediaType": media, "bytes": size }));
    let data = request::base64(received.body.into_owned());
    if size > INLINE_FILE {
        let note = format!("{size} bytes of {media} are the resource {}", view.file_uri);
        let blocks = vec![Block::Text(note), Block::Link { uri: view.file_uri.to_owned(), media: media.clone(), size }];
        return Answered {
            blocks,
            structured,
            failure: None,
            kept: Some(Kept { media, body: KeptBody::Blob(Arc::new(data)) }),
        };
    }
    let block = match media.split('/').next() {
        Some("image") => Block::Image { data, media },
        Some("audio") => Block::Audio { data, media },
        _ => Block::Blob { data, media },
    };
    Answered { blocks: vec![block], structured, ..Answered::default() }
}

/// An answer whose status and headers are all that it says.
fn without_body(received: &Received<'_>, view: &View<'_>) -> Answered {
    const UNSHOWN: [&str; 5] =
        ["set-cookie", "connection", "keep-alive", "transfer-encoding", "strict-transport-security"];
    let mut text = format!("HTTP {} {}, no body", received.status, phrase(received.status)).replace("  ", " ");
    let shown = received.headers.iter().filter(|(name, _)| !UNSHOWN.contains(&name.as_str()));
    for (name, value) in shown.take(HEADERS) {
        let _ = write!(text, "\n{name}: {}", wire::escape::snippet(value, 500));
    }
    let structured = view.structured.then(|| json!({ "status": received.status }));
    Answered { blocks: vec![Block::Text(text)], structured, ..Answered::default() }
}

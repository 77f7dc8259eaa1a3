//! Content blocks of tools and prompts.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use wire::revision::{R2025_03_26, R2025_06_18};

use super::super::folder::mime_type;
use super::super::model::{Content, Embedded, Link, Media};
use super::super::plan::Block;
use super::{Builder, Scope, Shelved, uri};
use crate::catalogue::Body;
use document::quoted;
use document::{Pattern, size};

/// How long the fixed part of one answer may be, in bytes: a message longer than 4 MiB would not pass everywhere.
const LONGEST: usize = 3 << 20;

impl Builder<'_> {
    /// A block, where nothing is wrong with it.
    pub(super) fn block(&mut self, content: &Content, pointer: &str, scope: &mut Scope) -> Option<Block> {
        match content {
            Content::Text(text) => {
                let text = self.pattern(text, &format!("{pointer}/text"), scope)?;
                let fixed = json!({ "type": "text", "text": "" });
                Some(Block { fixed: Arc::new(fixed), texts: vec![("/text", text)], uris: Vec::new() })
            }
            Content::Image(media) => self.media("image", media, &format!("{pointer}/image")),
            Content::Audio(media) => {
                scope.not_before(R2025_03_26);
                self.media("audio", media, &format!("{pointer}/audio"))
            }
            Content::Resource(embedded) => self.embedded(embedded, &format!("{pointer}/resource"), scope),
            Content::Link(link) => {
                scope.not_before(R2025_06_18);
                self.link(link, &format!("{pointer}/link"), scope)
            }
        }
    }

    fn media(&mut self, kind: &str, media: &Media, pointer: &str) -> Option<Block> {
        if !self.one_of(pointer, &[("data", media.data.is_some()), ("file", media.file.is_some())]) {
            return None;
        }
        let guess = media.file.as_deref().and_then(mime_type).filter(|guess| guess.starts_with(kind));
        let Some(mime_type) = media.mime_type.as_deref().or(guess) else {
            self.error(pointer, format!("what kind of {kind} this is, is not said"), format!("`mimeType: {kind}/…`"));
            return None;
        };
        let data = match (&media.data, &media.file) {
            (Some(data), _) => {
                self.base64(data, &format!("{pointer}/data"));
                data.clone()
            }
            (_, Some(file)) => STANDARD.encode(self.file(file, &format!("{pointer}/file"))?),
            _ => return None,
        };
        Some(Block::whole(Arc::new(json!({ "type": kind, "data": data, "mimeType": mime_type }))))
    }

    fn embedded(&mut self, one: &Embedded, pointer: &str, scope: &Scope) -> Option<Block> {
        if one.text.is_none() && one.blob.is_none() && one.file.is_none() {
            let known = self.shelved(&one.uri, pointer, "`text`, `blob` or `file`")?;
            return Some(Block::whole(known.embedded));
        }
        let uris = self.uri(&one.uri, pointer, scope).map(|uri| vec![("/resource/uri", uri)])?;
        if let (Some(text), None, None) = (&one.text, &one.blob, &one.file) {
            let text = self.pattern(text, &format!("{pointer}/text"), scope)?;
            let mime_type = one.mime_type.as_deref().unwrap_or("text/plain");
            let fixed = json!({ "type": "resource", "resource": { "uri": "", "mimeType": mime_type, "text": "" } });
            return Some(Block { fixed: Arc::new(fixed), texts: vec![("/resource/text", text)], uris });
        }
        let (body, guess) = self.body(one.text.as_deref(), one.blob.as_deref(), one.file.as_deref(), pointer)?;
        let resource = body.describe("", one.mime_type.as_deref().unwrap_or(guess));
        let fixed = Arc::new(json!({ "type": "resource", "resource": resource }));
        Some(Block { fixed, texts: Vec::new(), uris })
    }

    fn link(&mut self, link: &Link, pointer: &str, scope: &Scope) -> Option<Block> {
        let Some(name) = &link.name else {
            return Some(Block::whole(self.shelved(&link.uri, pointer, "`name`")?.link));
        };
        let uris = self.uri(&link.uri, pointer, scope).map(|uri| vec![("/uri", uri)])?;
        let mut fixed = Map::new();
        fixed.insert("type".to_owned(), json!("resource_link"));
        fixed.insert("uri".to_owned(), json!(""));
        fixed.insert("name".to_owned(), json!(name));
        for (key, value) in [("title", &link.title), ("description", &link.description), ("mimeType", &link.mime_type)]
        {
            if let Some(value) = value {
                fixed.insert(key.to_owned(), json!(value));
            }
        }
        Some(Block { fixed: Arc::new(Value::Object(fixed)), texts: Vec::new(), uris })
    }

    /// What is known of a resource of this catalogue that an entry names by its URI alone.
    fn shelved(&mut self, uri: &str, pointer: &str, instead: &str) -> Option<Shelved> {
        let known = self.touch_counts.get(uri).cloned();
        // Where a resource is broken, that is what is told.
        if known.is_none() && !self.gaps {
            let what = format!("no resource of this file has the URI {}", quoted(uri));
            self.error(&format!("{pointer}/uri"), what, format!("the URI of one, or {instead} beside it"));
        }
        known
    }

    /// Says so where the blocks of one answer are too long together.
    pub(super) fn bounded<'b>(&mut self, blocks: impl Iterator<Item = &'b Block>, pointer: &str) {
        if blocks.map(|block| size(&block.fixed)).sum::<usize>() > LONGEST {
            self.error(pointer, "the contents are longer than 3 MiB together", "fewer, or shorter ones");
        }
    }

    fn uri(&mut self, text: &str, pointer: &str, scope: &Scope) -> Option<Pattern> {
        let pointer = format!("{pointer}/uri");
        let pattern = self.pattern(text, &pointer, scope)?;
        // Whatever fills it is percent-encoded.
        let sample = pattern.fill_uri(&Value::Null).unwrap_or_default();
        if !uri::is_uri(&sample) && !uri::is_uri(&format!("{sample}x")) {
            self.error(&pointer, format!("{} is no URI", quoted(text)), "a scheme first; `%20` for a blank");
            return None;
        }
        Some(pattern)
    }

    /// What is in a resource, and the MIME type that goes without saying.
    pub(super) fn body(
        &mut self,
        text: Option<&str>,
        blob: Option<&str>,
        file: Option<&str>,
        pointer: &str,
    ) -> Option<(Body, &'static str)> {
        const BYTES: &str = "application/octet-stream";
        if !self.one_of(pointer, &[("text", text.is_some()), ("blob", blob.is_some()), ("file", file.is_some())]) {
            return None;
        }
        if let Some(text) = text {
            return Some((Body::Text(text.to_owned().into()), "text/plain"));
        }
        if let Some(blob) = blob {
            self.base64(blob, &format!("{pointer}/blob"));
            return Some((Body::Blob(blob.to_owned().into()), BYTES));
        }
        let file = file?;
        let bytes = self.file(file, &format!("{pointer}/file"))?;
        let guess = mime_type(file);
        Some(match String::from_utf8(bytes) {
            Ok(text) => (Body::Text(text.into()), guess.unwrap_or("text/plain")),
            Err(error) => (Body::Blob(STANDARD.encode(error.as_bytes()).into()), guess.unwrap_or(BYTES)),
        })
    }
}

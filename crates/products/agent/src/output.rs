//! What a call returned, in parts that APIs take: texts, images, files. Bounded.

use serde_json::{Map, Value, json};

/// How many bytes of text one result may have for the model.
const MOST_TEXT: usize = 256 << 10;
/// How many bytes of Base64 the images and files of one result may have.
const MOST_DATA: usize = 8 << 20;
/// How many blocks of one result are read: a line of the recording holds the results of 128 calls.
const MOST_BLOCKS: usize = 1000;
/// Types of images that APIs take.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// A result, or why it is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    /// At least one.
    pub(crate) parts: Vec<Part>,
    pub(crate) is_error: bool,
}

/// A part of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Text(String),
    /// `data` is Base64.
    Image {
        media: String,
        data: String,
    },
    File {
        name: String,
        media: String,
        data: String,
    },
}

impl Output {
    /// A text in place of a result.
    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::Text(text.into())], is_error: true }
    }

    /// The text, if there is nothing else.
    pub(crate) fn only_text(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// A result of `tools/call`.
    pub(crate) fn of(result: &Value) -> Self {
        let mut reader = Reader { parts: Vec::new(), text: MOST_TEXT, data: MOST_DATA };
        let blocks = result.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for block in blocks.iter().take(MOST_BLOCKS) {
            reader.block(block);
        }
        if blocks.len() > MOST_BLOCKS {
            reader.text(&format!("[{} more blocks left out]", blocks.len() - MOST_BLOCKS));
        }
        if let Some(structured) = result.get("structuredContent").filter(|_| blocks.is_empty()) {
            reader.text(&structured.to_string());
        }
        if reader.parts.is_empty() {
            reader.text("(no content)");
        }
        Self { parts: reader.parts, is_error: result.get("isError") == Some(&Value::Bool(true)) }
    }

    /// As a line of a recording has it.
    pub(crate) fn to_value(&self, id: &str, name: &str) -> Value {
        let part = |part: &Part| match part {
            Part::Text(text) => json!({ "text": text }),
            Part::Image { media, data } => json!({ "image": media, "data": data }),
            Part::File { name, media, data } => json!({ "file": media, "name": name, "data": data }),
        };
        let parts: Vec<Value> = self.parts.iter().map(part).collect();
        json!({ "id": id, "name": name, "error": self.is_error, "parts": parts })
    }

    /// The id of the call and its output, from a line.
    pub(crate) fn from_value(value: &Value) -> Option<(String, Self)> {
        let id = value.get("id")?.as_str()?.to_owned();
        let text = |part: &Value, name: &str| part.get(name).and_then(Value::as_str).map(str::to_owned);
        let part = |part: &Value| match (text(part, "text"), text(part, "image"), text(part, "file")) {
            (Some(text), ..) => Some(Part::Text(text)),
            (_, Some(media), _) => Some(Part::Image { media, data: text(part, "data")? }),
            (_, _, Some(media)) => Some(Part::File { name: text(part, "name")?, media, data: text(part, "data")? }),
            _ => None,
        };
        let parts: Option<Vec<Part>> = value.get("parts")?.as_array()?.iter().map(part).collect();
        Some((id, Self { parts: parts?, is_error: value.get("error")?.as_bool()? }))
    }
}

struct Reader {
    parts: Vec<Part>,
    text: usize,
    data: usize,
}

impl Reader {
    fn block(&mut self, block: &Value) {
        let of = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
        match of("type") {
            "text" => self.text(of("text")),
            "image" => self.file("image", of("mimeType"), of("data")),
            "audio" => self.left_out("audio", of("mimeType")),
            "resource_link" => self.text(&format!("[link to {} {}]", of("name"), of("uri"))),
            "resource" => match block.get("resource").and_then(Value::as_object) {
                Some(resource) => self.resource(resource),
                None => self.left_out("resource", ""),
            },
            other => self.left_out(other, ""),
        }
    }

    fn resource(&mut self, resource: &Map<String, Value>) {
        let of = |name: &str| resource.get(name).and_then(Value::as_str);
        let uri = of("uri").unwrap_or_default();
        match (of("text"), of("blob")) {
            (Some(text), _) => self.text(&format!("[{uri}]\n{text}")),
            (_, Some(blob)) => {
                let name = uri.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("file");
                self.file(name, of("mimeType").unwrap_or("application/octet-stream"), blob);
            }
            _ => self.left_out("resource", uri),
        }
    }

    /// Parts that are too large are left out, and a text for the model says so.
    fn file(&mut self, name: &str, media: &str, data: &str) {
        let media = media.to_ascii_lowercase();
        let is_base64 = data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
        let is_type = media.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/.+-".contains(&byte));
        if data.len() > self.data || !is_base64 || !is_type {
            return self.left_out("file", &media);
        }
        self.data -= data.len();
        self.parts.push(if IMAGES.contains(&media.as_str()) {
            Part::Image { media, data: data.to_owned() }
        } else {
            Part::File { name: wire::escape::snippet(name, 80), media, data: data.to_owned() }
        });
    }

    fn left_out(&mut self, kind: &str, what: &str) {
        self.text(&format!("[{} left out: {}]", wire::escape::snippet(kind, 40), wire::escape::snippet(what, 80)));
    }

    fn text(&mut self, text: &str) {
        let end = (0..=self.text.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        if end < text.len() && self.text == 0 {
            return;
        }
        self.text -= end;
        let mut kept = text[..end].to_owned();
        if end < text.len() {
            kept.push_str("\n[the rest was cut off]");
            self.text = 0;
        }
        self.parts.push(Part::Text(kept));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_content_becomes_a_part() {
        let result = json!({ "content": [
            { "type": "text", "text": "hi" },
            { "type": "image", "mimeType": "image/png", "data": "AAAA" },
            { "type": "audio", "mimeType": "audio/wav", "data": "AAAA" },
            { "type": "resource", "resource": { "uri": "file:///a/b.pdf", "mimeType": "application/pdf", "blob": "AAAA" } },
            { "type": "resource", "resource": { "uri": "x://y", "text": "t" } },
            { "type": "resource_link", "name": "n", "uri": "x://z" },
            { "type": "image", "mimeType": "image/png\"", "data": "AAAA" },
        ], "isError": true });
        let output = Output::of(&result);
        assert!(output.is_error && output.only_text().is_none());
        assert_eq!(output.parts[1], Part::Image { media: "image/png".to_owned(), data: "AAAA".to_owned() });
        let pdf = Part::File { name: "b.pdf".to_owned(), media: "application/pdf".to_owned(), data: "AAAA".to_owned() };
        assert_eq!(output.parts[3], pdf);
        assert_eq!((output.parts.len(), &output.parts[4]), (7, &Part::Text("[x://y]\nt".to_owned())));
        assert_eq!(Output::from_value(&output.to_value("c", "t")), Some(("c".to_owned(), output)));
        let structured = Output::of(&json!({ "structuredContent": { "a": 1 } }));
        assert_eq!(structured.only_text(), Some(r#"{"a":1}"#));
        assert_eq!(Output::of(&json!({})).only_text(), Some("(no content)"));
    }

    #[test]
    fn results_are_bounded() {
        let text = "x".repeat(MOST_TEXT);
        let output =
            Output::of(&json!({ "content": [{ "type": "text", "text": text }, { "type": "text", "text": "ü" }] }));
        assert_eq!(output.parts.len(), 1);
        let output = Output::of(&json!({ "content": [{ "type": "text", "text": format!("{text}ü") }] }));
        assert!(output.only_text().unwrap().ends_with("x\n[the rest was cut off]"));
        let data = "A".repeat(MOST_DATA + 1);
        let output = Output::of(&json!({ "content": [{ "type": "image", "mimeType": "image/png", "data": data }] }));
        assert_eq!(output.only_text(), Some("[file left out: image/png]"));
        let blocks = vec![json!({ "type": "text", "text": "" }); MOST_BLOCKS + 2];
        let output = Output::of(&json!({ "content": blocks }));
        let last = output.parts.last().cloned();
        assert_eq!((output.parts.len(), last), (1001, Some(Part::Text("[2 more blocks left out]".to_owned()))));
    }
}

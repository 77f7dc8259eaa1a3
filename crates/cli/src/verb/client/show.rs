//! What a server said, for a person: at most 80 columns where that is ours to say, and nothing that a terminal obeys.

use std::fmt::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use client::{Client, Tool, wants};
use schema::{Validator, fits};
use serde_json::Value;
use wire::escape::{self, snippet};

use crate::exit::{Exit, tell};
use crate::format::painted;
use crate::verb::output;
use report::render::text::{Paint, count, wrap};

/// How much of a description is shown.
const DESCRIPTION: usize = 1000;
/// How much of a name is shown.
const NAME: usize = 200;

/// How many lines of instructions are shown.
const LINES: usize = 200;

/// How results are shown.
#[derive(Clone, Copy)]
pub(super) struct Look<'l> {
    pub(super) json: bool,
    pub(super) save: Option<&'l Path>,
}

/// A result as it came, in one line, without what a terminal obeys.
pub(super) fn raw(text: &str) -> String {
    // A line feed can only stand between tokens.
    let line = text.replace(['\n', '\r'], " ");
    format!("{}\n", escape::json(&line))
}

/// A value for people to read.
pub(super) fn pretty(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    format!("{}\n", escape::json(&text))
}

/// A text of several lines, each made harmless.
fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 1);
    for line in text.lines() {
        for (index, part) in line.split('\t').enumerate() {
            out += if index > 0 { "\t" } else { "" };
            out += &escape::line(part);
        }
        out.push('\n');
    }
    out
}

fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// Who the server is.
pub(super) fn server(client: &Client, told: &str, paint: Paint) -> String {
    let result: Value = serde_json::from_str(told).unwrap_or_default();
    let greeting = client.greeting();
    let info = greeting.server_info().cloned().unwrap_or_default();
    let name = text(&info, "title").or_else(|| text(&info, "name")).unwrap_or("a server without a name");
    let version = snippet(text(&info, "version").unwrap_or(""), 60);
    let mut out = format!("{} {version}\n", paint.bold(&snippet(name, NAME)));
    let _ = writeln!(out, "{} over {}", greeting.revision, client.transport());
    if let Some(versions) = result.get("supportedVersions").and_then(Value::as_array) {
        let versions: Vec<_> = versions.iter().filter_map(Value::as_str).map(|v| snippet(v, 40)).collect();
        wrap(&mut out, 0, &format!("it speaks {}", versions.join(", ")));
    }
    let declared = result.get("capabilities").and_then(Value::as_object);
    let declared: Vec<String> = declared.into_iter().flatten().map(|(name, value)| capability(name, value)).collect();
    wrap(
        &mut out,
        0,
        &format!("it declares {}", if declared.is_empty() { "nothing".to_owned() } else { declared.join(", ") }),
    );
    if let Some(instructions) = text(&result, "instructions") {
        out.push('\n');
        for line in instructions.lines().take(LINES) {
            wrap(&mut out, 0, &escape::line(line));
        }
    }
    out
}

fn capability(name: &str, value: &Value) -> String {
    let members = value.as_object().into_iter().flatten();
    let on: Vec<String> =
        members.filter(|(_, v)| **v != Value::Bool(false)).map(|(name, _)| snippet(name, 60)).collect();
    let name = snippet(name, 60);
    if on.is_empty() { name } else { format!("{name} ({})", on.join(", ")) }
}

fn head(out: &mut String, item: &Value, paint: Paint) {
    let name = text(item, "name").unwrap_or("without a name");
    let title = text(item, "title").or_else(|| item.pointer("/annotations/title").and_then(Value::as_str));
    let title = title.filter(|title| *title != name).map(|title| format!(" - {}", snippet(title, NAME)));
    let name = snippet(name, NAME);
    heading(out, &name, &title.unwrap_or_default(), paint);
    if let Some(description) = text(item, "description") {
        wrap(out, 4, &snippet(description, DESCRIPTION));
    }
}

/// A line that begins with a name in bold.
fn heading(out: &mut String, name: &str, rest: &str, paint: Paint) {
    let mut line = String::new();
    wrap(&mut line, 0, &format!("{name}{rest}"));
    *out += &painted::lead(&line, name, |name| paint.bold(name));
}

/// Tools and what they take.
pub(super) fn tools(items: &[Value], paint: Paint) -> String {
    let mut out = String::new();
    for item in items {
        head(&mut out, item, paint);
        let schema = &item["inputSchema"];
        let required: Vec<_> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let must = if required.contains(&name.as_str()) { "" } else { "[optional] " };
            let about = text(property, "description").map(|about| format!("; {}", snippet(about, DESCRIPTION)));
            let wanted = snippet(&wants(property, schema), 300);
            wrap(&mut out, 6, &format!("{}: {must}{wanted}{}", snippet(name, NAME), about.unwrap_or_default()));
        }
    }
    tally(out, items.len(), "tool")
}

/// Prompts and what they take.
pub(super) fn prompts(items: &[Value], paint: Paint) -> String {
    let mut out = String::new();
    for item in items {
        head(&mut out, item, paint);
        for argument in item["arguments"].as_array().into_iter().flatten() {
            let must = if argument["required"] == Value::Bool(true) { "" } else { "[optional] " };
            let about = snippet(text(argument, "description").unwrap_or(""), DESCRIPTION);
            let name = snippet(text(argument, "name").unwrap_or("without a name"), NAME);
            wrap(&mut out, 6, format!("{name}: {must}{about}").trim_end_matches([':', ' ']));
        }
    }
    tally(out, items.len(), "prompt")
}

/// Resources, or templates of them.
pub(super) fn resources(items: &[Value], paint: Paint) -> String {
    let (mut out, mut kind) = (String::new(), "resource");
    for item in items {
        let uri = text(item, "uri").or_else(|| text(item, "uriTemplate")).unwrap_or("without a URI");
        if item.get("uriTemplate").is_some() {
            kind = "template";
        }
        let mime = text(item, "mimeType").map(|mime| format!(" ({})", snippet(mime, 80)));
        heading(&mut out, &snippet(uri, 400), &mime.unwrap_or_default(), paint);
        let name = text(item, "title").or_else(|| text(item, "name")).unwrap_or("");
        let about = text(item, "description").map(|about| format!(": {about}")).unwrap_or_default();
        wrap(&mut out, 4, &snippet(&format!("{name}{about}"), DESCRIPTION));
    }
    tally(out, items.len(), kind)
}

fn tally(mut out: String, number: usize, noun: &str) -> String {
    if number > 0 {
        out.push('\n');
    }
    let _ = writeln!(out, "{}", count(number, noun));
    out
}

/// What a tool gave: its content, and what of its structured content the content does not say.
pub(super) fn output(look: Look<'_>, result: &Value) -> Result<String, Exit> {
    let mut out = String::new();
    let structured = result.get("structuredContent");
    let mut files = Files::new(look.save);
    for block in result["content"].as_array().into_iter().flatten() {
        let same = text(block, "text").and_then(|text| serde_json::from_str::<Value>(text).ok());
        // For clients that know no structured content the same stands there as a text.
        if structured.is_none() || same.as_ref() != structured {
            out += &content(block, &mut files)?;
        }
    }
    if let Some(structured) = structured {
        out += &pretty(structured);
    }
    Ok(out)
}

/// Says that structured output is not what the tool promises.
pub(super) fn warn_about_output(tool: &Tool, result: &Value) {
    let Some(schema) = tool.described.get("outputSchema") else { return };
    match result.get("structuredContent") {
        None => tell("note: the tool promises structured content, and gives none"),
        Some(structured) if Validator::new(schema).is_ok_and(|schema| schema.takes_too_long(structured)) => {
            tell("warning: the structured content was not checked: the tool's outputSchema takes too long for it");
        }
        Some(structured) if !fits(schema, structured) => {
            tell("note: the structured content is not what the tool's outputSchema promises");
        }
        Some(_) => {}
    }
}

/// The contents of a resource.
pub(super) fn contents(look: Look<'_>, result: &Value) -> Result<String, Exit> {
    let (mut out, mut files) = (String::new(), Files::new(look.save));
    let contents: Vec<&Value> = result["contents"].as_array().into_iter().flatten().collect();
    for one in &contents {
        if contents.len() > 1 {
            let _ = writeln!(out, "--- {}", snippet(text(one, "uri").unwrap_or(""), 400));
        }
        out += &resource(one, &mut files)?;
    }
    Ok(out)
}

/// The messages of a prompt.
pub(super) fn messages(look: Look<'_>, result: &Value) -> Result<String, Exit> {
    let (mut out, mut files) = (String::new(), Files::new(look.save));
    for message in result["messages"].as_array().into_iter().flatten() {
        let role = snippet(text(message, "role").unwrap_or("somebody"), 40);
        let blocks = match &message["content"] {
            Value::Array(blocks) => blocks.iter().collect(),
            one => vec![one],
        };
        for block in blocks {
            let _ = write!(out, "{role}: {}", content(block, &mut files)?);
        }
    }
    Ok(out)
}

/// What a value might be.
pub(super) fn values(result: &Value) -> String {
    let completion = &result["completion"];
    let values = completion["values"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut out = String::new();
    for value in values {
        let _ = writeln!(out, "{}", escape::line(value));
    }
    let more = completion["hasMore"] == Value::Bool(true);
    if let Some(total) = completion["total"].as_u64().filter(|_| more) {
        let _ = writeln!(out, "(of {total})");
    } else if more {
        out += "(there are more)\n";
    }
    out
}

/// One block of content.
fn content(block: &Value, files: &mut Files<'_>) -> Result<String, Exit> {
    let mime = snippet(text(block, "mimeType").unwrap_or("of unknown type"), 80);
    Ok(match block["type"].as_str().unwrap_or_default() {
        "text" => lines(block["text"].as_str().unwrap_or_default()),
        kind @ ("image" | "audio") => files.bytes(kind, &mime, block["data"].as_str().unwrap_or_default())?,
        "resource_link" => {
            let name = snippet(text(block, "name").unwrap_or(""), NAME);
            format!("[resource {name}: {}]\n", snippet(text(block, "uri").unwrap_or(""), 400))
        }
        "resource" => resource(&block["resource"], files)?,
        _ => pretty(block),
    })
}

fn resource(one: &Value, files: &mut Files<'_>) -> Result<String, Exit> {
    if let Some(text) = one["text"].as_str() {
        return Ok(lines(text));
    }
    let mime = snippet(text(one, "mimeType").unwrap_or("of unknown type"), 80);
    match one["blob"].as_str() {
        Some(blob) => files.bytes("bytes", &mime, blob),
        None => Ok(pretty(one)),
    }
}

/// Where bytes go that are no text. Names are ours: a server has no say in them.
struct Files<'f> {
    folder: Option<&'f Path>,
    number: usize,
}

impl<'f> Files<'f> {
    const fn new(folder: Option<&'f Path>) -> Self {
        Self { folder, number: 0 }
    }

    /// Tells what there is, and writes it where that is wanted.
    fn bytes(&mut self, kind: &str, mime: &str, base64: &str) -> Result<String, Exit> {
        let Ok(bytes) = BASE64.decode(base64) else { return Ok(format!("[{kind} {mime}: no Base64]\n")) };
        let size = bytes.len();
        let Some(folder) = self.folder else { return Ok(format!("[{kind} {mime}, {size} bytes]\n")) };
        self.number += 1;
        output::folder(folder)?;
        let path = folder.join(format!("{kind}-{}.{}", self.number, ending(mime)));
        std::fs::write(&path, bytes).map_err(|error| output::unwritable(&path, &error.to_string()))?;
        Ok(format!("[{kind} {mime}, {size} bytes: {}]\n", output::shown(&path)))
    }
}

fn ending(mime: &str) -> &'static str {
    match mime.split(';').next().unwrap_or_default().trim() {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/mpeg" => "mp3",
        "audio/ogg" => "ogg",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "text/plain" => "txt",
        _ => "bin",
    }
}

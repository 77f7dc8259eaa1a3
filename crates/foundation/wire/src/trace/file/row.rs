//! The rows of a trace file: what is in each line, and how a frame becomes a row and a row a frame. What makes a file
//! of them is [`super`]'s business.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::FORMAT;
use crate::framing::sse::Block;
use crate::json;
use crate::trace::{Closed, Content, Frame, Header, Headers, Mark, Party};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeaderRow {
    trace: String,
    subject: String,
    transport: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revision: Option<String>,
    #[serde(default)]
    case: String,
}

/// The header's line.
pub fn write_header(header: &Header) -> String {
    let row = HeaderRow {
        trace: FORMAT.to_owned(),
        subject: header.subject.as_str().to_owned(),
        transport: header.transport.as_str().to_owned(),
        revision: header.revision.map(|r| r.as_str().to_owned()),
        case: header.case.clone(),
    };
    serde_json::to_string(&row).unwrap_or_default()
}

/// Reads the header's line.
pub fn read_header(line: &str) -> Result<Header, String> {
    let row: HeaderRow = serde_json::from_str(line).map_err(|e| e.to_string())?;
    if row.trace != FORMAT {
        return Err(format!("the format is `{}`, not `{FORMAT}`", row.trace));
    }
    Ok(Header {
        subject: party(&row.subject)?,
        transport: row.transport.parse()?,
        revision: row
            .revision
            .map(|r| r.parse().map_err(|e: crate::revision::UnknownRevision| e.to_string()))
            .transpose()?,
        case: row.case,
    })
}

fn party(name: &str) -> Result<Party, String> {
    Party::from_name(name).ok_or_else(|| format!("unknown party `{name}`"))
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a member of the file format")]
struct Row {
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<u64>,
    from: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conn: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    xch: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<RequestRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<ResponseRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ws: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sse: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    base64: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    partial: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    binary: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    opened: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<ExitRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
}

/// `Name: value`; a name that holds a colon is written apart.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum HeaderLine {
    Line(String),
    Pair(String, String),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestRow {
    method: String,
    target: String,
    #[serde(default)]
    headers: Vec<HeaderLine>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResponseRow {
    status: u16,
    #[serde(default)]
    headers: Vec<HeaderLine>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExitRow {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SseRow {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    comments: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<Box<RawValue>>,
}

impl Row {
    fn contents(&self) -> usize {
        let there = [
            self.line.is_some(),
            self.request.is_some(),
            self.response.is_some(),
            self.body.is_some(),
            self.sse.is_some(),
            self.ws.is_some(),
            self.stderr.is_some(),
            self.raw.is_some(),
            self.opened,
            self.closed.is_some(),
            self.exit.is_some(),
            self.mark.is_some(),
        ];
        there.into_iter().filter(|&there| there).count()
    }
}

/// A frame's line.
pub fn write_frame(frame: &Frame) -> String {
    let mut row = Row {
        at: frame.at,
        done: (frame.done != frame.at).then_some(frame.done),
        from: frame.from.as_str().to_owned(),
        to: (frame.to != frame.from.peer()).then(|| frame.to.as_str().to_owned()),
        conn: (frame.connection != 1).then_some(frame.connection),
        xch: (frame.exchange != 0).then_some(frame.exchange),
        cause: frame.cause,
        ..Row::default()
    };
    write_content(&frame.content, &mut row);
    serde_json::to_string(&row).unwrap_or_default()
}

fn write_content(content: &Content, row: &mut Row) {
    match content {
        Content::Line { bytes, terminated } => {
            row.line = write_bytes(bytes, &mut row.base64);
            row.partial = !terminated;
        }
        Content::Request { method, target, headers } => {
            let (method, target) = (method.clone(), target.clone());
            row.request = Some(RequestRow { method, target, headers: write_headers(headers) });
        }
        Content::Response { status, headers } => {
            row.response = Some(ResponseRow { status: *status, headers: write_headers(headers) });
        }
        Content::Body { bytes, complete } => {
            row.body = write_bytes(bytes, &mut row.base64);
            row.partial = !complete;
        }
        Content::Sse(block) => row.sse = write_sse(block, &mut row.base64),
        Content::WebSocket { bytes, text } => {
            row.ws = write_bytes(bytes, &mut row.base64);
            row.binary = !text;
        }
        Content::Stderr(bytes) => row.stderr = write_text(bytes, &mut row.base64),
        Content::Raw(bytes) => row.raw = write_text(bytes, &mut row.base64),
        Content::Opened => row.opened = true,
        Content::Closed(how) => row.closed = Some(how.as_str().to_owned()),
        Content::Exit { code, signal } => row.exit = Some(ExitRow { code: *code, signal: *signal }),
        Content::Mark(mark) => {
            row.mark = Some(mark.name().to_owned());
            row.value = Some(mark.value()).filter(|value| !value.is_null());
        }
    }
}

fn write_headers(headers: &Headers) -> Vec<HeaderLine> {
    let line = |(name, value): &(String, String)| {
        if name.contains(':') {
            HeaderLine::Pair(name.clone(), value.clone())
        } else {
            HeaderLine::Line(format!("{name}: {value}"))
        }
    };
    headers.iter().map(line).collect()
}

/// JSON is written as itself where reading it back gives the same bytes.
fn write_bytes(bytes: &[u8], base64: &mut bool) -> Option<Box<RawValue>> {
    let text = std::str::from_utf8(bytes).ok();
    let verbatim = text.filter(|t| t.starts_with(['{', '[']) && t.ends_with(['}', ']']) && !t.contains(['\n', '\r']));
    if let Some(text) = verbatim
        && json::outline(text).is_ok()
        && let Ok(raw) = RawValue::from_string(text.to_owned())
    {
        return Some(raw);
    }
    write_text(bytes, base64)
}

fn write_text(bytes: &[u8], base64: &mut bool) -> Option<Box<RawValue>> {
    let text = if let Ok(text) = std::str::from_utf8(bytes) {
        Value::from(text)
    } else {
        *base64 = true;
        Value::from(BASE64.encode(bytes))
    };
    RawValue::from_string(text.to_string()).ok()
}

/// Fields are written apart where rendering them gives the same bytes; else the block is text.
fn write_sse(block: &[u8], base64: &mut bool) -> Option<Box<RawValue>> {
    let fields = Block::parse(block);
    if fields.bom || fields.render().as_bytes() != block {
        return write_text(block, base64);
    }
    let mut unused = false;
    let data = fields.data.as_deref().and_then(|data| write_bytes(data.as_bytes(), &mut unused));
    let Block { id, event, retry, comments, .. } = fields;
    serde_json::value::to_raw_value(&SseRow { comments, id, event, retry, data }).ok()
}

/// Reads a frame's line.
pub fn read_frame(line: &str) -> Result<Frame, String> {
    let row: Row = serde_json::from_str(line).map_err(|e| e.to_string())?;
    let from = party(&row.from)?;
    let contents = row.contents();
    if contents != 1 {
        return Err(format!("a frame has one content, this has {contents}"));
    }
    Ok(Frame {
        at: row.at,
        done: row.done.unwrap_or(row.at).max(row.at),
        from,
        to: row.to.as_deref().map(party).transpose()?.unwrap_or_else(|| from.peer()),
        connection: row.conn.unwrap_or(1),
        exchange: row.xch.unwrap_or(0),
        cause: row.cause,
        content: read_content(row)?,
    })
}

fn read_content(row: Row) -> Result<Content, String> {
    let bytes = |raw: &RawValue| read_bytes(raw, row.base64);
    let content = if let Some(raw) = &row.line {
        Content::Line { bytes: bytes(raw)?, terminated: !row.partial }
    } else if let Some(request) = row.request {
        let headers = read_headers(request.headers)?;
        Content::Request { method: request.method, target: request.target, headers }
    } else if let Some(response) = row.response {
        Content::Response { status: response.status, headers: read_headers(response.headers)? }
    } else if let Some(raw) = &row.body {
        Content::Body { bytes: bytes(raw)?, complete: !row.partial }
    } else if let Some(raw) = &row.sse {
        Content::Sse(read_sse(raw, row.base64)?)
    } else if let Some(raw) = &row.ws {
        Content::WebSocket { bytes: bytes(raw)?, text: !row.binary }
    } else if let Some(raw) = &row.stderr {
        Content::Stderr(bytes(raw)?)
    } else if let Some(raw) = &row.raw {
        Content::Raw(bytes(raw)?)
    } else if row.opened {
        Content::Opened
    } else if let Some(name) = row.closed {
        let how = Closed::ALL.into_iter().find(|c| c.as_str() == name);
        Content::Closed(how.ok_or_else(|| format!("unknown way of closing `{name}`"))?)
    } else if let Some(exit) = row.exit {
        Content::Exit { code: exit.code, signal: exit.signal }
    } else if let Some(name) = row.mark {
        Content::Mark(Mark::read(&name, row.value.unwrap_or_default()))
    } else {
        return Err("the frame has no content".to_owned());
    };
    Ok(content)
}

fn read_headers(lines: Vec<HeaderLine>) -> Result<Headers, String> {
    let split = |line| match line {
        HeaderLine::Pair(name, value) => Ok((name, value)),
        HeaderLine::Line(line) => match line.split_once(':') {
            Some((name, value)) => Ok((name.to_owned(), value.strip_prefix(' ').unwrap_or(value).to_owned())),
            None => Err(format!("header `{line}` has no colon")),
        },
    };
    lines.into_iter().map(split).collect()
}

fn read_bytes(raw: &RawValue, base64: bool) -> Result<Vec<u8>, String> {
    let text = raw.get();
    if !text.starts_with('"') {
        return Ok(text.as_bytes().to_vec());
    }
    let text: String = serde_json::from_str(text).map_err(|e| e.to_string())?;
    if base64 { BASE64.decode(text).map_err(|e| e.to_string()) } else { Ok(text.into_bytes()) }
}

fn read_sse(raw: &RawValue, base64: bool) -> Result<Vec<u8>, String> {
    if raw.get().starts_with('"') {
        return read_bytes(raw, base64);
    }
    let row: SseRow = serde_json::from_str(raw.get()).map_err(|e| e.to_string())?;
    let data = row.data.map(|data| read_bytes(&data, false)).transpose()?;
    let data = data.map(String::from_utf8).transpose().map_err(|e| e.to_string())?;
    let block = Block { bom: false, id: row.id, event: row.event, retry: row.retry, data, comments: row.comments };
    Ok(block.render().into_bytes())
}

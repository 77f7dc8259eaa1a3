//! Bodies: JSON keeps its form and every byte that is not a secret, an event stream's block its lines, other bytes whatever is
//! no text.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;

use super::names::{self, Position};
use super::{Redactor, text};
use crate::framing::sse::Block;
use crate::json::{self, Token, Tokens};

/// `bytes` with `redact` done to them as one text. Bytes that are not UTF-8 end no word: a secret around one is one secret.
pub(super) fn chunks(bytes: &[u8], redact: impl Fn(&str) -> Cow<'_, str>) -> Vec<u8> {
    match std::str::from_utf8(bytes) {
        Ok(text) => redact(text).into_owned().into_bytes(),
        Err(_) => with_invalid(bytes, redact),
    }
}

/// How many words are tried: a text that holds all of them holds them on purpose, and each is searched for.
const MARKERS: u32 = 64;

/// Redacts with a word in place of each invalid sequence; what is left of the words afterwards becomes the sequences again.
fn with_invalid(bytes: &[u8], redact: impl Fn(&str) -> Cow<'_, str>) -> Vec<u8> {
    // Each part by itself first: joined, a secret may run into the name of the next.
    let bytes = &bytes.utf8_chunks().fold(Vec::with_capacity(bytes.len()), |mut out, chunk| {
        out.extend_from_slice(redact(chunk.valid()).as_bytes());
        out.extend_from_slice(chunk.invalid());
        out
    })[..];
    // Without the invalid bytes a secret may be whole again: then they are left out, but for one that says what this was.
    let (squeezed, invalid) = bytes.utf8_chunks().fold((String::new(), None), |(mut text, invalid), chunk| {
        text.push_str(chunk.valid());
        (text, invalid.or_else(|| chunk.invalid().first()))
    });
    let joined = redact(&squeezed);
    let Some(marker) = (0..MARKERS).map(|n| format!("zq{n}x")).find(|marker| !squeezed.contains(marker)) else {
        return joined.into_owned().into_bytes();
    };
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "{marker}{byte:02x}");
        }
    }
    let redacted = redact(&text);
    let restored = restore(&redacted, &marker);
    let left: String = restored.utf8_chunks().map(|chunk| chunk.valid()).collect();
    if matches!(redact(&left), Cow::Borrowed(_)) || matches!(joined, Cow::Borrowed(_)) {
        return restored;
    }
    let mut out = joined.into_owned().into_bytes();
    out.extend(invalid);
    out
}

fn restore(text: &str, marker: &str) -> Vec<u8> {
    let mut parts = text.split(marker);
    let mut out = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                out.extend_from_slice(&part.as_bytes()[2..]);
            }
            // A pseudonym holds the marker by chance.
            None => out.extend_from_slice(format!("{marker}{part}").as_bytes()),
        }
    }
    out
}

/// A text that may be JSON.
pub(super) fn message<'t>(redactor: &Redactor, text: &'t str) -> Cow<'t, str> {
    if json::outline(text).is_ok() { json_text(redactor, text) } else { text::redact(redactor, text) }
}

/// What the name says about the strings and numbers under it at one level of nesting. Asked once for each name,
/// for either may be long or many.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Level {
    #[default]
    Plain,
    Secret,
    /// Also where it is a number.
    SecretNumber,
    /// Secret if it is an authorization code rather than the name of an error.
    Code,
    /// Connects messages: it must stay the same before and after it is learned.
    Connects,
}

impl Level {
    /// The level under `name`; `is_message` where it is a member of the message itself, not of what it carries.
    fn under(name: &str, is_message: bool) -> Self {
        match name {
            "code" => Self::Code,
            "id" if is_message => Self::Connects,
            "requestId" | "progressToken" | "taskId" | "cursor" | "nextCursor" => Self::Connects,
            _ if !names::is_secret(name, Position::Member) => Self::Plain,
            _ if names::is_secret_number(name) => Self::SecretNumber,
            _ => Self::Secret,
        }
    }
}

fn json_text<'t>(redactor: &Redactor, text: &'t str) -> Cow<'t, str> {
    let mut tokens = Tokens::new(text);
    let mut levels = vec![Level::default()];
    let mut out = String::new();
    let mut copied = 0;
    while let Ok(Some((token, span))) = tokens.next_token() {
        let raw = &text[span.clone()];
        let level = levels.last().copied().unwrap_or_default();
        let new = match token {
            Token::ObjectStart => {
                levels.push(Level::default());
                None
            }
            Token::ArrayStart => {
                // An array's strings stand under its own name.
                levels.push(level);
                None
            }
            Token::ObjectEnd | Token::ArrayEnd => {
                levels.pop();
                None
            }
            Token::Name => {
                let name = json::unquote(raw);
                let new = changed(&name, &text::redact(redactor, &name));
                let is_message = levels.len() == 2;
                if let Some(level) = levels.last_mut() {
                    *level = Level::under(&name, is_message);
                }
                new
            }
            Token::String => string(redactor, level, &json::unquote(raw)),
            Token::Number => number(redactor, level, raw),
            Token::Bool | Token::Null => None,
        };
        if let Some(new) = new {
            out.push_str(&text[copied..span.start]);
            out.push_str(&new);
            copied = span.end;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

fn changed(old: &str, new: &str) -> Option<String> {
    (old != new).then(|| Value::from(new).to_string())
}

/// The JSON of a string that has a secret replaced, if it has.
fn string(redactor: &Redactor, level: Level, value: &str) -> Option<String> {
    if level == Level::Connects && redactor.learned.is_some() {
        return string(&Redactor { learned: None, ..redactor.clone() }, level, value);
    }
    let is_secret = matches!(level, Level::Secret | Level::SecretNumber);
    if is_secret {
        redactor.watch(|seen| seen.value(value));
    }
    let known = redactor.redact_known(value);
    let secret = is_secret || (level == Level::Code && names::is_code(&known));
    let new = if secret { Cow::Owned(redactor.value(&known)) } else { message(redactor, &known) };
    changed(value, &new)
}

/// A number that is a password stays a number.
fn number(redactor: &Redactor, level: Level, raw: &str) -> Option<String> {
    let secret = level == Level::SecretNumber || matches!(redactor.redact_known(raw), Cow::Owned(_));
    if !secret || !raw.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let digits = redactor.pseudonym(raw);
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return changed_number(raw);
    }
    let digits = digits.trim_start_matches('0');
    Some(format!("{}{digits}", "1".repeat(raw.len() - digits.len())))
}

/// A mask is no number: zero stands for it.
fn changed_number(raw: &str) -> Option<String> {
    (raw != "0").then(|| "0".to_owned())
}

/// One block of an event stream. Data lines are one text, even with other lines between them; every other line is its own.
pub(super) fn sse(redactor: &Redactor, block: &[u8]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(block) else { return chunks(block, |text| redactor.redact_message(text)) };
    let Block { data, event, .. } = Block::parse(block);
    let data = data.unwrap_or_default();
    let redacted =
        if event.as_deref() == Some("endpoint") { redactor.target(&data).into() } else { message(redactor, &data) };
    let count = |text: &str| text.split('\n').count();
    let mut data_lines = if count(&redacted) == count(&data) { redacted.split('\n') } else { "".split('\n') };
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive(['\n', '\r']) {
        let end = line.trim_end_matches(['\n', '\r']).len();
        let (line, line_end) = line.split_at(end);
        match field(line) {
            Some((head, _)) => {
                out.push_str(head);
                out.push_str(data_lines.next().unwrap_or_default());
            }
            None => out.push_str(&text::redact(redactor, line)),
        }
        out.push_str(line_end);
    }
    out.into_bytes()
}

/// The part before the value of a `data` line, and the value.
fn field(line: &str) -> Option<(&str, &str)> {
    let bare = line.strip_prefix('\u{feff}').unwrap_or(line);
    let rest = bare.strip_prefix("data")?;
    let value = match rest.strip_prefix(':') {
        Some(value) => value.strip_prefix(' ').unwrap_or(value),
        None if rest.is_empty() => rest,
        None => return None,
    };
    Some(line.split_at(line.len() - value.len()))
}

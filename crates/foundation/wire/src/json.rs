//! A strict, iterative reader of JSON text that keeps byte positions.
//!
//! `serde_json` gives values; this gives *where*: faults with an offset, the span of a member for the caret in a report,
//! duplicate names. It never recurses, so hostile nesting costs memory proportional to its depth limit and no stack.

mod canonical;
mod duplicates;
mod plain;
mod write;

use crate::pointer;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

use duplicates::Names;
use plain::plain_length;

pub use canonical::{canonical, order, same};
pub use duplicates::{Duplicate, duplicate_name};
pub use write::{Unwritable, write, write_string};

/// How deep a text may nest before we refuse to read it: `serde_json`'s own limit, so that both readers agree.
pub const DEPTH_LIMIT: usize = 127;

/// Why a text is not JSON that we read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Byte offset into the text.
    pub at: usize,
    /// What is wrong there.
    pub why: Why,
}

/// What is wrong with a JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The text ends inside a value.
    Ends,
    /// A character that is not allowed here.
    Unexpected,
    /// Something follows the value.
    Trailing,
    /// A control character, unescaped, inside a string.
    Control,
    /// An escape sequence JSON does not have.
    Escape,
    /// A number not written as JSON writes numbers.
    Number,
    /// Nested deeper than [`DEPTH_LIMIT`]: our limit, not the sender's fault.
    TooDeep,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ends => "the text ends inside a value",
            Self::Unexpected => "unexpected character",
            Self::Trailing => "something follows the value",
            Self::Control => "unescaped control character in a string",
            Self::Escape => "invalid escape sequence",
            Self::Number => "invalid number",
            Self::TooDeep => "nested too deep to be read",
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.why, self.at)
    }
}

impl std::error::Error for Fault {}

/// A piece of JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// `{`
    ObjectStart,
    /// `}`
    ObjectEnd,
    /// `[`
    ArrayStart,
    /// `]`
    ArrayEnd,
    /// A member's name, quotes included in the span.
    Name,
    /// A string value, quotes included in the span.
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Bool,
    /// `null`
    Null,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    ValueOrEnd,
    NameOrEnd,
    Name,
    CommaOrEnd,
    Nothing,
}

/// The tokens of one JSON text, in order, each with its byte span.
pub struct Tokens<'t> {
    text: &'t [u8],
    at: usize,
    nesting: Vec<Token>,
    expect: Expect,
}

impl<'t> Tokens<'t> {
    /// Reads `text` from its first byte.
    pub fn new(text: &'t str) -> Self {
        Self { text: text.as_bytes(), at: 0, nesting: Vec::new(), expect: Expect::Value }
    }

    /// How many objects and arrays are open.
    pub fn depth(&self) -> usize {
        self.nesting.len()
    }

    /// The next token and its span; `None` after a complete value and nothing but white space.
    pub fn next_token(&mut self) -> Result<Option<(Token, Range<usize>)>, Fault> {
        loop {
            self.skip_space();
            let Some(&byte) = self.text.get(self.at) else {
                return if self.expect == Expect::Nothing { Ok(None) } else { Err(self.fault(Why::Ends)) };
            };
            match (self.expect, byte) {
                (Expect::Nothing, _) => return Err(self.fault(Why::Trailing)),
                (Expect::CommaOrEnd, b',') => {
                    self.at += 1;
                    let in_object = self.nesting.last() == Some(&Token::ObjectStart);
                    self.expect = if in_object { Expect::Name } else { Expect::Value };
                }
                (Expect::NameOrEnd | Expect::CommaOrEnd, b'}') => return self.close(Token::ObjectStart).map(Some),
                (Expect::ValueOrEnd | Expect::CommaOrEnd, b']') => return self.close(Token::ArrayStart).map(Some),
                (Expect::NameOrEnd | Expect::Name, b'"') => return self.name().map(Some),
                (Expect::Value | Expect::ValueOrEnd, _) => return self.value(byte).map(Some),
                _ => return Err(self.fault(Why::Unexpected)),
            }
        }
    }

    fn fault(&self, why: Why) -> Fault {
        Fault { at: self.at, why }
    }

    fn skip_space(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn after_value(&mut self) {
        self.expect = if self.nesting.is_empty() { Expect::Nothing } else { Expect::CommaOrEnd };
    }

    fn close(&mut self, opened_by: Token) -> Result<(Token, Range<usize>), Fault> {
        if self.nesting.last() != Some(&opened_by) {
            return Err(self.fault(Why::Unexpected));
        }
        self.nesting.pop();
        self.at += 1;
        self.after_value();
        let token = if opened_by == Token::ObjectStart { Token::ObjectEnd } else { Token::ArrayEnd };
        Ok((token, self.at - 1..self.at))
    }

    fn open(&mut self, token: Token, expect: Expect) -> Result<(Token, Range<usize>), Fault> {
        if self.nesting.len() >= DEPTH_LIMIT {
            return Err(self.fault(Why::TooDeep));
        }
        self.nesting.push(token);
        self.at += 1;
        self.expect = expect;
        Ok((token, self.at - 1..self.at))
    }

    fn name(&mut self) -> Result<(Token, Range<usize>), Fault> {
        let span = self.string()?;
        self.skip_space();
        match self.text.get(self.at) {
            Some(b':') => self.at += 1,
            Some(_) => return Err(self.fault(Why::Unexpected)),
            None => return Err(self.fault(Why::Ends)),
        }
        self.expect = Expect::Value;
        Ok((Token::Name, span))
    }

    fn value(&mut self, byte: u8) -> Result<(Token, Range<usize>), Fault> {
        let (token, span) = match byte {
            b'{' => return self.open(Token::ObjectStart, Expect::NameOrEnd),
            b'[' => return self.open(Token::ArrayStart, Expect::ValueOrEnd),
            b'"' => (Token::String, self.string()?),
            b't' => (Token::Bool, self.word("true")?),
            b'f' => (Token::Bool, self.word("false")?),
            b'n' => (Token::Null, self.word("null")?),
            b'-' | b'0'..=b'9' => (Token::Number, self.number()?),
            _ => return Err(self.fault(Why::Unexpected)),
        };
        self.after_value();
        Ok((token, span))
    }

    fn word(&mut self, word: &str) -> Result<Range<usize>, Fault> {
        let start = self.at;
        for expected in word.bytes() {
            match self.text.get(self.at) {
                Some(&byte) if byte == expected => self.at += 1,
                Some(_) => return Err(self.fault(Why::Unexpected)),
                None => return Err(self.fault(Why::Ends)),
            }
        }
        Ok(start..self.at)
    }

    fn string(&mut self) -> Result<Range<usize>, Fault> {
        let start = self.at;
        self.at += 1;
        loop {
            self.at += plain_length(&self.text[self.at..]);
            match self.text.get(self.at) {
                None => return Err(self.fault(Why::Ends)),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(start..self.at);
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(self.fault(Why::Control)),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        self.at += 1;
        match self.text.get(self.at) {
            None => return Err(self.fault(Why::Ends)),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                let digits = self.text[self.at + 1..].iter().take(4);
                let missing = 4 - digits.len();
                if !digits.clone().all(u8::is_ascii_hexdigit) {
                    return Err(self.fault(Why::Escape));
                }
                self.at += 5 - missing;
                if missing > 0 {
                    return Err(self.fault(Why::Ends));
                }
            }
            Some(_) => return Err(self.fault(Why::Escape)),
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        if start < self.at { Ok(()) } else { Err(self.fault(Why::Number)) }
    }

    fn number(&mut self) -> Result<Range<usize>, Fault> {
        let start = self.at;
        if self.text[self.at] == b'-' {
            self.at += 1;
        }
        if self.text.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.text.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        if self.text.get(self.at).is_some_and(|b| b.is_ascii_alphanumeric()) {
            return Err(self.fault(Why::Number));
        }
        Ok(start..self.at)
    }
}

/// Reads to the end of the value whose first token is `first`; gives the whole span.
fn finish(
    tokens: &mut Tokens<'_>,
    first: (Token, Range<usize>),
    mut names: Option<&mut Names<'_>>,
) -> Result<Range<usize>, Fault> {
    let (token, span) = first;
    if !matches!(token, Token::ObjectStart | Token::ArrayStart) {
        return Ok(span);
    }
    if let Some(names) = &mut names {
        names.note(token, &span);
    }
    let outside = tokens.depth() - 1;
    loop {
        let Some((token, at)) = tokens.next_token()? else { return Err(Fault { at: span.start, why: Why::Ends }) };
        if let Some(names) = &mut names {
            names.note(token, &at);
        }
        if matches!(token, Token::ObjectEnd | Token::ArrayEnd) && tokens.depth() == outside {
            return Ok(span.start..at.end);
        }
    }
}

/// A member of the outermost object: spans of its name (with quotes) and of its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name, quotes included.
    pub name: Range<usize>,
    /// The first token of the value tells its type.
    pub kind: Token,
    /// The whole value.
    pub value: Range<usize>,
    /// Where the value is an object, its own members; none of theirs.
    pub members: Vec<Member>,
}

/// What a JSON text is: an array one level deep, an object two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outline {
    /// An object and its members, in order, duplicates included.
    Object(Vec<Member>),
    /// An array and the spans of its elements.
    Array(Vec<Range<usize>>),
    /// Anything else.
    Scalar(Token),
}

/// Reads the whole of `text` strictly and gives its outermost levels.
pub fn outline(text: &str) -> Result<Outline, Fault> {
    read(text, None)
}

/// The same, and the first name repeated within any one object of the member `watched`.
pub fn outline_watching(text: &str, watched: &str) -> Result<(Outline, Option<Duplicate>), Fault> {
    let mut names = Names::new(text);
    let outline = read(text, Some((watched, &mut names)))?;
    Ok((outline, names.repeated))
}

/// A member of the outermost object, and who looks at the names in it.
type Watched<'w, 't> = (&'w str, &'w mut Names<'t>);

fn read<'t>(text: &'t str, watched: Option<Watched<'_, 't>>) -> Result<Outline, Fault> {
    let mut tokens = Tokens::new(text);
    let first = tokens.next_token()?.map(|(token, _)| token);
    let outline = match first {
        Some(Token::ObjectStart) => Outline::Object(outermost(&mut tokens, text, watched)?),
        Some(Token::ArrayStart) => Outline::Array(elements(&mut tokens)?),
        Some(token) => Outline::Scalar(token),
        None => return Err(Fault { at: 0, why: Why::Ends }),
    };
    match tokens.next_token()? {
        None => Ok(outline),
        Some((_, span)) => Err(Fault { at: span.start, why: Why::Trailing }),
    }
}

/// The members of the outermost object, which has just been opened, and theirs.
fn outermost<'t>(
    tokens: &mut Tokens<'t>,
    text: &'t str,
    mut watched: Option<Watched<'_, 't>>,
) -> Result<Vec<Member>, Fault> {
    let mut found = Vec::with_capacity(4);
    while let Some((Token::Name, name)) = tokens.next_token()? {
        let Some(first) = tokens.next_token()? else { break };
        let mut names = match &mut watched {
            Some((watched, names)) if says(&text[name.clone()], watched) => Some(&mut **names),
            _ => None,
        };
        let kind = first.0;
        let (value, members) = if kind == Token::ObjectStart {
            let start = first.1.start;
            if let Some(names) = &mut names {
                names.note(kind, &first.1);
            }
            let members = members(tokens, names)?;
            (start..tokens.at, members)
        } else {
            (finish(tokens, first, names)?, Vec::new())
        };
        found.push(Member { name, kind, value, members });
    }
    Ok(found)
}

/// The members of the object that has just been opened, to its end.
fn members(tokens: &mut Tokens<'_>, mut names: Option<&mut Names<'_>>) -> Result<Vec<Member>, Fault> {
    let mut found = Vec::with_capacity(4);
    while let Some((token, name)) = tokens.next_token()? {
        if let Some(names) = &mut names {
            names.note(token, &name);
        }
        if token != Token::Name {
            break;
        }
        let Some(first) = tokens.next_token()? else { break };
        let kind = first.0;
        let value = finish(tokens, first, names.as_deref_mut())?;
        found.push(Member { name, kind, value, members: Vec::new() });
    }
    Ok(found)
}

fn elements(tokens: &mut Tokens<'_>) -> Result<Vec<Range<usize>>, Fault> {
    let mut elements = Vec::new();
    loop {
        match tokens.next_token()? {
            None | Some((Token::ArrayEnd, _)) => return Ok(elements),
            Some(first) => elements.push(finish(tokens, first, None)?),
        }
    }
}

/// The text of a string token (quotes included) with its escapes resolved; a lone surrogate becomes U+FFFD.
pub fn unquote(quoted: &str) -> Cow<'_, str> {
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    // Most are names of a few bytes: a search for one byte takes longer to begin than that.
    let is_plain = if inner.len() < 32 {
        inner.bytes().all(|byte| byte != b'\\')
    } else {
        memchr::memchr(b'\\', inner.as_bytes()).is_none()
    };
    if is_plain {
        return Cow::Borrowed(inner);
    }
    match serde_json::from_str::<String>(quoted) {
        Ok(text) => Cow::Owned(text),
        Err(_) => Cow::Owned(serde_json::from_str(&repair_surrogates(quoted)).unwrap_or_else(|_| inner.to_owned())),
    }
}

/// Whether a string token (quotes included) says `text`, escapes resolved.
pub fn says(quoted: &str, text: &str) -> bool {
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    let has_escapes = || inner.bytes().any(|byte| byte == b'\\');
    // An escape is longer than what it stands for.
    match inner.len().cmp(&text.len()) {
        Ordering::Less => false,
        Ordering::Equal => inner == text && !has_escapes(),
        Ordering::Greater => has_escapes() && unquote(quoted) == text,
    }
}

/// Whether `part` stands anywhere in a text.
pub fn mentions(text: &[u8], part: &str) -> bool {
    memchr::memmem::find(text, part.as_bytes()).is_some()
}

/// Replaces every escaped surrogate that has no partner by `\ufffd`, so that a strict reader takes the rest.
pub fn repair_surrogates(text: &str) -> String {
    let bytes = text.as_bytes();
    let unit = |at: usize| -> Option<u32> {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut copied = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => {
                out.push_str(&text[copied..at]);
                out.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            Some(_) => at += 6,
            None => at += 2,
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// A value even where a strict reader balks at a lone surrogate or a number beyond all doubles; `None` for other faults.
pub fn lenient(text: &str) -> Option<serde_json::Value> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&repair(text))).ok()
}

/// Makes a text that is JSON into one that a strict reader of values takes as well: [`repair_surrogates`], and a number that
/// is too large for a double becomes the largest one. Without it, one such number would hide the whole text.
pub fn repair(text: &str) -> String {
    const LARGEST: &str = "1.7976931348623157e308";
    let text = repair_surrogates(text);
    let mut out = String::with_capacity(text.len());
    let mut tokens = Tokens::new(&text);
    let mut copied = 0;
    while let Ok(Some((token, span))) = tokens.next_token() {
        if token == Token::Number && text[span.clone()].parse::<f64>().is_ok_and(f64::is_infinite) {
            out.push_str(&text[copied..span.start]);
            out.push_str(if text[span.clone()].starts_with('-') { "-" } else { "" });
            out.push_str(LARGEST);
            copied = span.end;
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// The byte span of the value that an RFC 6901 `pointer` names in `text`; where a name is repeated, the last one, as
/// `serde_json` reads it.
pub fn locate(text: &str, pointer: &str) -> Option<Range<usize>> {
    let mut span = span_of_all(text)?;
    let mut steps = pointer.split('/');
    if steps.next() != Some("") {
        return None;
    }
    for step in steps {
        let step = pointer::unescape(step);
        let inner = &text[span.clone()];
        let base = span.start;
        let found = match outline(inner).ok()? {
            Outline::Object(members) => {
                members.into_iter().rev().find(|m| says(&inner[m.name.clone()], &step)).map(|m| m.value)?
            }
            Outline::Array(elements) => elements.into_iter().nth(index(&step)?)?,
            Outline::Scalar(_) => return None,
        };
        span = base + found.start..base + found.end;
    }
    Some(span)
}

/// An array index as RFC 6901 writes it: digits, no leading zero.
fn index(step: &str) -> Option<usize> {
    let plain = step == "0" || step.starts_with(|c: char| matches!(c, '1'..='9'));
    if plain { step.parse().ok() } else { None }
}

fn span_of_all(text: &str) -> Option<Range<usize>> {
    let space = [' ', '\t', '\n', '\r'];
    let start = text.len() - text.trim_start_matches(space).len();
    let end = text.trim_end_matches(space).len();
    (start < end).then_some(start..end)
}

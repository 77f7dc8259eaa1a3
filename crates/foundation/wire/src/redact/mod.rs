//! Secrets never reach a file, a report or a log: here each is replaced by a pseudonym before anything is written.
//!
//! A secret is known by its name ([`names`]), by its shape ([`shapes`]), or because the user handed it in
//! ([`Secrets`]). Its pseudonym ([`pseudonym`])
//! keeps what rules judge by: equality within one run, the scheme word, the length, the class of each character. All
//! bytes around a secret stay as they were, and JSON stays JSON. What is lost: a pseudonym is not a preimage (the challenge of
//! a PKCE verifier no longer matches it) and no signature. The key comes from outside and must not be written anywhere.

mod body;
mod given;
mod known;
mod learned;
mod names;
mod pseudonym;
mod shapes;
mod text;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::http::{PARAM_PREFIX, decode_value, encode_value};
use crate::trace::{Content, Frame, Header, Headers, Mark, Trace};

pub use given::Secrets;

use known::Known;
use learned::{Learned, Source};
use names::Position;

/// Replaces secrets, with one key for one run.
#[derive(Clone)]
pub struct Redactor {
    /// `None` for one mask in place of all pseudonyms.
    key: Option<[u8; 32]>,
    known: Option<Arc<Known>>,
    /// Shared by all clones.
    learned: Option<Arc<Learned>>,
    /// Whether what peers use under secret names is learned.
    watches: bool,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

impl Redactor {
    /// A redactor whose pseudonyms nobody can recompute without `key`. A key must be random and serve one run.
    pub const fn new(key: [u8; 32]) -> Self {
        Self { key: Some(key), known: None, learned: None, watches: false }
    }

    /// A redactor that replaces every secret with the same word. For files that are compared with those of other runs: they
    /// neither differ by the run's key nor tell which secrets are equal.
    pub const fn masking() -> Self {
        Self { key: None, known: None, learned: None, watches: false }
    }

    /// The same, with room for secrets that turn up later: this redactor and all clones of it replace what one of them
    /// [learns](Self::learn).
    pub fn remembering(self) -> Self {
        Self { learned: Some(Arc::new(Learned::new(self.key))), ..self }
    }

    /// The same, learning what peers use under secret names in the frames that it redacts: it replaces these values wherever
    /// they are later. Only for frames in their order.
    pub fn watching(self) -> Self {
        Self { watches: true, ..self }
    }

    /// The same, replacing every secret with the word of [`Self::masking`].
    pub fn masked(self) -> Self {
        let known = self.known.as_ref().map(|known| Arc::new(Known::new(None, known.secrets())));
        Self { key: None, known, ..self }
    }

    /// Learns a secret that the program got for itself. Without [`Self::remembering`], nothing is learned.
    pub fn learn(&self, secret: &str) {
        let Some(learned) = &self.learned else { return };
        let mut secrets = Secrets::default();
        secrets.add(secret);
        for secret in secrets.iter() {
            learned.add(Source::Own, secret);
        }
    }

    /// The same, replacing these secrets too, wherever and in whatever usual encoding they stand.
    pub fn knowing(self, secrets: &Secrets) -> Self {
        Self { known: Some(Arc::new(Known::new(self.key.as_ref(), secrets))), ..self }
    }

    /// A whole trace without its secrets.
    pub fn redact_trace(&self, trace: &Trace) -> Trace {
        Trace {
            header: self.redact_header(&trace.header),
            frames: trace.frames.iter().map(|frame| self.redact_frame(frame)).collect(),
        }
    }

    /// A trace's header without its secrets.
    pub fn redact_header(&self, header: &Header) -> Header {
        Header { case: self.redact_text(&header.case).into_owned(), ..header.clone() }
    }

    /// A frame without its secrets. Its kind, parties and times stay.
    pub fn redact_frame(&self, frame: &Frame) -> Frame {
        let learned = |redactor: &Self| redactor.learned.as_ref().map_or(0, |learned| learned.count());
        let before = learned(self);
        let redacted = self.redact_frame_once(frame);
        // What the frame's end taught may be at its beginning, too.
        if self.watches && learned(self) != before { self.redact_frame_once(frame) } else { redacted }
    }

    fn redact_frame_once(&self, frame: &Frame) -> Frame {
        let content = match &frame.content {
            Content::Line { bytes, terminated } => {
                Content::Line { bytes: self.message_bytes(bytes), terminated: *terminated }
            }
            Content::Request { method, target, headers } => Content::Request {
                method: method.clone(),
                target: self.target(target),
                headers: self.redact_headers(headers),
            },
            Content::Response { status, headers } => {
                Content::Response { status: *status, headers: self.redact_headers(headers) }
            }
            Content::Body { bytes, complete } => {
                Content::Body { bytes: self.message_bytes(bytes), complete: *complete }
            }
            Content::Sse(block) => Content::Sse(body::sse(self, block)),
            Content::WebSocket { bytes, text } => Content::WebSocket { bytes: self.message_bytes(bytes), text: *text },
            Content::Stderr(bytes) => Content::Stderr(body::chunks(bytes, |text| self.log_line(text))),
            Content::Raw(bytes) => Content::Raw(self.message_bytes(bytes)),
            Content::Mark(mark) => Content::Mark(self.redact_mark(mark)),
            Content::Opened | Content::Closed(_) | Content::Exit { .. } => frame.content.clone(),
        };
        Frame { content, ..frame.clone() }
    }

    /// A message or any other text that may be JSON, without its secrets; JSON stays JSON.
    pub fn redact_message<'t>(&self, text: &'t str) -> Cow<'t, str> {
        body::message(self, text)
    }

    /// Running text without its secrets: log lines, request targets, error messages.
    pub fn redact_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        text::redact(self, text)
    }

    /// Headers without their secrets, names and order kept.
    pub fn redact_headers(&self, headers: &Headers) -> Headers {
        headers.iter().map(|(name, value)| (name.clone(), self.header_value(name, value).into_owned())).collect()
    }

    /// The pseudonym of `secret`: the same for the same secret, wherever it occurred.
    pub fn pseudonym(&self, secret: &str) -> String {
        let secret = self.redact_known(secret);
        let known = self.known.as_ref().is_some_and(|known| known.stands_for_one(&secret));
        if known || self.learned.as_ref().is_some_and(|learned| learned.stands_for_one(&secret)) {
            return secret.into_owned();
        }
        pseudonym::or_mask(self.key.as_ref(), &secret)
    }

    /// A text without the secrets that were handed in or learned; all else stays.
    pub fn redact_known<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mask = self.key.is_none();
        let learned = self.learned.as_ref().map(|learned| learned.found(text, mask)).unwrap_or_default();
        let out = match &self.known {
            Some(known) => known.replace(text, &learned),
            None => known::replace_all(text, std::iter::empty(), &learned),
        };
        let Some(learned) = self.learned.as_ref().filter(|_| known::may_be_cut(&out)) else { return out };
        let forms = learned.own_forms(mask);
        known::without_beginnings(out, || forms.iter().map(|(text, with)| (text.as_str(), with.as_str())).collect())
    }

    /// A JSON value without its secrets.
    pub fn redact_value(&self, value: &Value) -> Value {
        let text = value.to_string();
        match self.redact_message(&text) {
            Cow::Borrowed(_) => value.clone(),
            Cow::Owned(text) => serde_json::from_str(&text).unwrap_or_default(),
        }
    }

    /// The target of a request, or the endpoint of HTTP+SSE: what looks random in it names a session or its owner.
    fn target(&self, target: &str) -> String {
        let redacted = self.redact_text(target);
        // An authorization request names no session of MCP, and what is secret in it has a name.
        if target.contains("response_type=") || target.contains("client_id=") {
            return redacted.into_owned();
        }
        let origin = redacted
            .find("://")
            .map_or(0, |at| redacted[at + 3..].find('/').map_or(redacted.len(), |end| at + 3 + end));
        let (origin, rest) = redacted.split_at(origin);
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '%');
        let mut out = origin.to_owned();
        for part in rest.split_inclusive(|c| !plain(c)) {
            let (word, end) = part.split_at(part.trim_end_matches(|c| !plain(c)).len());
            // A word of the path is shorter; what is not in the original was replaced already.
            let least = if out.contains('?') { 8 } else { 16 };
            let random = word.len() >= least && names::is_code(word) && target.contains(word);
            out.push_str(&if random { Cow::Owned(self.pseudonym(word)) } else { Cow::Borrowed(word) });
            out.push_str(end);
        }
        out
    }

    fn message_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        body::chunks(bytes, |text| self.redact_message(text))
    }

    fn log_line<'t>(&self, line: &'t str) -> Cow<'t, str> {
        // The lines of a private key come one by one.
        if shapes::is_armour(line) { Cow::Owned(self.pseudonym(line)) } else { self.redact_message(line) }
    }

    fn redact_mark(&self, mark: &Mark) -> Mark {
        match self.redact_message(&mark.value().to_string()) {
            Cow::Borrowed(_) => mark.clone(),
            Cow::Owned(text) => Mark::read(mark.name(), serde_json::from_str(&text).unwrap_or_default()),
        }
    }

    /// Learns the value of a secret name in a frame, if the redactor watches.
    fn watch(&self, seen: impl FnOnce(&mut Secrets)) {
        let Some(learned) = self.learned.as_ref().filter(|_| self.watches) else { return };
        let mut secrets = Secrets::default();
        seen(&mut secrets);
        for secret in secrets.iter().filter(|secret| is_telling(secret) && self.redact_given(secret) == **secret) {
            learned.add(Source::Peer, secret);
        }
    }

    fn watch_header(&self, name: &str, value: &str) {
        let lower = name.to_ascii_lowercase();
        if is_secret_header(name, &lower) && !lower.starts_with("access-control-") {
            let value = decode_value(value).unwrap_or(Cow::Borrowed(value));
            self.watch(|seen| seen.header(if lower.ends_with("cookie") { &lower } else { "authorization" }, &value));
        }
    }

    /// A text without the secrets that were handed in.
    fn redact_given<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.known.as_ref().map_or(Cow::Borrowed(text), |known| known.replace(text, &[]))
    }

    fn header_value<'t>(&self, name: &str, value: &'t str) -> Cow<'t, str> {
        self.watch_header(name, value);
        match self.redact_known(value) {
            Cow::Borrowed(value) => self.header_value_by_name(name, value),
            Cow::Owned(value) => Cow::Owned(self.header_value_by_name(name, &value).into_owned()),
        }
    }

    fn header_value_by_name<'t>(&self, name: &str, value: &'t str) -> Cow<'t, str> {
        let lower = name.to_ascii_lowercase();
        match lower.as_str() {
            "cookie" => Cow::Owned(value.split(';').map(|pair| self.cookie(pair)).collect::<Vec<_>>().join(";")),
            "set-cookie" => {
                let (pair, attributes) = value.split_once(';').map_or((value, None), |(p, a)| (p, Some(a)));
                let pair = self.cookie(pair);
                Cow::Owned(attributes.map_or(pair.clone(), |attributes| format!("{pair};{attributes}")))
            }
            _ if self.known.as_ref().is_some_and(|known| known.is_header(&lower)) => {
                Cow::Owned(self.without_scheme(value))
            }
            _ if lower.starts_with("access-control-") => Cow::Borrowed(value),
            _ if is_secret_header(name, &lower) => {
                let decoded = decode_value(value).unwrap_or(Cow::Borrowed(value));
                let secret = self.value(&decoded);
                if decoded == value { Cow::Owned(secret) } else { Cow::Owned(encode_value(&secret).into_owned()) }
            }
            _ => self.redact_text(value),
        }
    }

    fn cookie(&self, pair: &str) -> String {
        match pair.split_once('=') {
            Some((name, value)) => format!("{name}={}", self.pseudonym(value)),
            None => self.pseudonym(pair),
        }
    }

    /// The value of something secret: a scheme word before it stays, as does what can be no secret.
    fn value(&self, value: &str) -> String {
        if names::is_harmless(value) { value.to_owned() } else { self.without_scheme(value) }
    }

    fn without_scheme(&self, value: &str) -> String {
        match value.split_once(' ') {
            Some((scheme, secret)) if names::is_scheme(scheme) => {
                let space = secret.len() - secret.trim_start().len();
                format!("{scheme} {}{}", &secret[..space], self.pseudonym(&secret[space..]))
            }
            _ => self.pseudonym(value),
        }
    }
}

/// How long a value under a secret name must be to be looked for elsewhere.
const TELLING: usize = 8;

/// Whether a value is so much its own that it is the same secret wherever it is. A word may be in any text by chance.
fn is_telling(value: &str) -> bool {
    value.len() >= TELLING && names::looks_random(value) && !value.contains("://")
}

/// A mirrored parameter has the name of a JSON member.
fn is_secret_header(name: &str, lower: &str) -> bool {
    match name.get(PARAM_PREFIX.len()..) {
        Some(parameter) if lower.starts_with(&PARAM_PREFIX.to_ascii_lowercase()) => {
            names::is_secret(parameter, Position::Member)
        }
        _ => names::is_secret(name, Position::Header),
    }
}

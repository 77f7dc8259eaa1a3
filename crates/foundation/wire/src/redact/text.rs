//! Running text: one pass that stops at every word and asks whether it is a secret, or the name of one that follows.

use std::borrow::Cow;
use std::ops::Range;

use super::names::{self, Position};
use super::{Redactor, shapes};

/// `text` without its secrets.
pub(super) fn redact<'t>(redactor: &Redactor, text: &'t str) -> Cow<'t, str> {
    // First: what is left of a secret once a part of it was replaced would not be found.
    match redactor.redact_known(text) {
        Cow::Borrowed(text) => by_name_and_shape(redactor, text),
        Cow::Owned(text) => Cow::Owned(by_name_and_shape(redactor, &text).into_owned()),
    }
}

fn by_name_and_shape<'t>(redactor: &Redactor, text: &'t str) -> Cow<'t, str> {
    let mut out = Output { text, written: String::new(), copied: 0, form: (0, false) };
    let mut at = 0;
    while at < text.len() {
        let Some(start) = text.as_bytes()[at..].iter().position(|byte| is_name_byte(*byte)) else { break };
        at += start;
        at = word(redactor, &mut out, at);
    }
    out.finish()
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// How long the name is that `text` begins with. All its characters are ASCII.
fn name_length(text: &str) -> usize {
    text.bytes().position(|byte| !is_name_byte(byte)).unwrap_or(text.len())
}

fn is_token_char(c: char) -> bool {
    c.is_ascii() && (is_name_byte(c as u8) || matches!(c, '~' | '+' | '/' | '='))
}

/// The text so far with replacements; what is not replaced is copied late and at once.
struct Output<'t> {
    text: &'t str,
    written: String,
    copied: usize,
    /// How far the value reaches that was last looked at for a form, and whether it was one: all names within it share the
    /// answer, and nothing is looked through twice.
    form: (usize, bool),
}

impl<'t> Output<'t> {
    fn replace(&mut self, span: Range<usize>, with: &str) {
        if &self.text[span.clone()] == with {
            return;
        }
        self.written.push_str(&self.text[self.copied..span.start]);
        self.written.push_str(with);
        self.copied = span.end;
    }

    fn finish(mut self) -> Cow<'t, str> {
        if self.copied == 0 && self.written.is_empty() {
            return Cow::Borrowed(self.text);
        }
        self.written.push_str(&self.text[self.copied..]);
        Cow::Owned(self.written)
    }
}

/// How many bytes of `text` satisfy `is`.
fn run(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is(c)).unwrap_or(text.len())
}

/// Deals with the word at `at`; where to continue.
fn word(redactor: &Redactor, out: &mut Output<'_>, at: usize) -> usize {
    let text = out.text;
    if let Some(body) = shapes::private_key(&text[at..]) {
        let body = at + body.start..at + body.end;
        out.replace(body.clone(), &redactor.pseudonym(&text[body.clone()]));
        return body.end;
    }
    let end = at + name_length(&text[at..]);
    let name = &text[at..end];
    if let Some(end) = user(redactor, out, end) {
        return end;
    }
    if let Some(end) = scheme(redactor, out, name, end) {
        return end;
    }
    let place = match text[..at].chars().next_back() {
        Some('?' | '&' | '#') => Position::Query,
        _ if is_form(out, end) => Position::Query,
        _ if text[end..].starts_with(':') && name.contains('-') => Position::Header,
        _ if names::is_variable(name) => Position::Variable,
        _ => Position::Text,
    };
    // Few words are given a value: that is asked first.
    if separator(text, end).is_some()
        && names::is_secret(name, place)
        && let Some(end) = assigned(redactor, out, name, end, place)
    {
        return end;
    }
    tokens(redactor, out, at..end);
    end
}

/// Whether what follows the name that ends at `end` makes it the first of a form: `=value&name=`.
fn is_form(out: &mut Output<'_>, end: usize) -> bool {
    let Some(value) = out.text[end..].strip_prefix('=') else { return false };
    let start = end + 1;
    if start >= out.form.0 {
        let next = run(value, |c| c.is_ascii_graphic() && !matches!(c, '&' | '"' | '\'' | '<' | '>' | '\\'));
        let after = value[next..].strip_prefix('&');
        out.form = (start + next, after.is_some_and(|after| after[name_length(after)..].starts_with('=')));
    }
    out.form.1
}

/// `//user:password@` after the colon of a URL's scheme.
fn user(redactor: &Redactor, out: &mut Output<'_>, end: usize) -> Option<usize> {
    let text = out.text;
    let authority = text[end..].strip_prefix("://")?;
    let start = end + 3;
    let length =
        run(authority, |c| !c.is_whitespace() && !matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>' | '\\'));
    let user = start..start + authority[..length].rfind('@')?;
    redactor
        .watch(|seen| text[user.clone()].split_once(':').into_iter().for_each(|(_, password)| seen.value(password)));
    let parts: Vec<String> = text[user.clone()].splitn(2, ':').map(|part| redactor.pseudonym(part)).collect();
    out.replace(user.clone(), &parts.join(":"));
    Some(user.end)
}

/// `Bearer` or `Basic` and what follows.
fn scheme(redactor: &Redactor, out: &mut Output<'_>, name: &str, end: usize) -> Option<usize> {
    let text = out.text;
    if !names::is_scheme(name) {
        return None;
    }
    let start = end + run(&text[end..], |c| c == ' ');
    if start == end {
        return None;
    }
    let token = &text[start..start + run(&text[start..], is_token_char)];
    let secret = match name.len() {
        _ if token.ends_with('=') && token.trim_end_matches('=').len() < 8 => false,
        _ if name.eq_ignore_ascii_case("basic") => shapes::is_basic(token),
        _ if name.eq_ignore_ascii_case("token") => shapes::is_token(token),
        _ => names::looks_random(token),
    };
    secret.then(|| {
        out.replace(start..start + token.len(), &redactor.pseudonym(token));
        start + token.len()
    })
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '\\')
}

/// What separates the name that ends at `end` from its value, and where that may begin.
fn separator(text: &str, end: usize) -> Option<(char, usize)> {
    let closed = end + run(&text[end..], is_quote);
    let at = closed + run(&text[closed..], |c| c == ' ');
    text[at..].chars().next().filter(|c| matches!(c, '=' | ':')).map(|separator| (separator, at + 1))
}

/// What a secret name is given: `=value`, `: value`, `": "value"`, quotes escaped or not.
fn assigned(redactor: &Redactor, out: &mut Output<'_>, name: &str, end: usize, place: Position) -> Option<usize> {
    let text = out.text;
    let closing = run(&text[end..], is_quote);
    let (separator, mut at) = separator(text, end)?;
    if separator == ':' && text[at..].starts_with("//") {
        return None;
    }
    if separator == ':' && closing == 0 && is_header(name) {
        let line = at..at + run(&text[at..], |c| !matches!(c, '\r' | '\n'));
        let start = line.start + run(&text[line.clone()], |c| c == ' ');
        out.replace(start..line.end, &redactor.header_value(name, &text[start..line.end]));
        return Some(line.end);
    }
    at += run(&text[at..], |c| c == ' ');
    if separator == ':'
        && closing == 0
        && place == Position::Header
        && let Some(value) = header_word(text, name, at)
    {
        out.replace(value.clone(), &redactor.value(&text[value.clone()]));
        return Some(value.end);
    }
    let opening = run(&text[at..], is_quote);
    let quoted = opening > 0;
    let value = if quoted { in_quotes(text, at, opening) } else { bare(text, at, place) };
    let raw = &text[value.clone()];
    if raw.is_empty() || (separator == ':' && !quoted && !names::looks_random(raw)) {
        return None;
    }
    // `Bearer abc` is two words, and the second is the secret.
    if !quoted && names::is_scheme(raw) {
        let given = separator == '=';
        return scheme(redactor, out, raw, value.end)
            .or_else(|| if given { second_word(redactor, out, value.end) } else { None })
            .or(Some(value.end));
    }
    if place == Position::Query && names::is_secret(name, Position::Member) {
        let value = percent_decoded(raw);
        redactor.watch(|seen| seen.value(value.as_deref().unwrap_or(raw)));
    }
    let new = if place == Position::Query { query_value(redactor, raw) } else { redactor.value(raw) };
    out.replace(value.clone(), &new);
    Some(value.end)
}

/// The word after the scheme that a secret name was given: secret by that name, random or not.
fn second_word(redactor: &Redactor, out: &mut Output<'_>, end: usize) -> Option<usize> {
    let text = out.text;
    let start = end + run(&text[end..], |c| c == ' ');
    let token = &text[start..start + run(&text[start..], is_token_char)];
    (start > end && token.len() >= 8).then(|| {
        out.replace(start..start + token.len(), &redactor.pseudonym(token));
        start + token.len()
    })
}

/// The value of a header that running text quotes: the rest of its line, where that is one word, or the next word after a name
/// that is written as headers are. `max-token: five of them` is neither.
fn header_word(text: &str, name: &str, at: usize) -> Option<Range<usize>> {
    // No further than the next word: there may be many in one line.
    let rest = &text[at..];
    let word = run(rest, |c| !c.is_whitespace() && !matches!(c, '"' | '\'' | ',' | ';' | '\\'));
    let after = rest[word..].trim_start_matches(|c: char| c.is_whitespace() && !matches!(c, '\r' | '\n'));
    let capital = |part: &str| part.starts_with(|c: char| c.is_ascii_uppercase());
    let alone = after.is_empty() || after.starts_with(['\r', '\n']) || !rest[word..].starts_with(' ');
    let value = &rest[..word];
    let quoted = alone || name.split('-').all(capital);
    (quoted && !value.is_empty() && !names::is_harmless(value)).then_some(at..at + word)
}

fn is_header(name: &str) -> bool {
    ["authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "mcp-session-id"]
        .iter()
        .any(|header| name.eq_ignore_ascii_case(header))
}

/// The value between the quotes that open at `at`: to the same quotes again, or to the end of the line.
fn in_quotes(text: &str, at: usize, opening: usize) -> Range<usize> {
    let start = at + opening;
    let quote = &text[at..start];
    let rest = &text[start..];
    let mut from = 0;
    // No further than the value: there may be many.
    for (end, c) in rest.char_indices() {
        if c == '\n' {
            return start..start + end;
        }
        if end < from || !rest[end..].starts_with(quote) {
            continue;
        }
        // A quote that is escaped belongs to the value.
        if !rest[..end].ends_with('\\') {
            return start..start + end;
        }
        from = end + quote.len();
    }
    start..text.len()
}

fn bare(text: &str, at: usize, place: Position) -> Range<usize> {
    let ends = |c: char| match place {
        Position::Query => c.is_whitespace() || matches!(c, '&' | '#' | '"' | '\'' | '<' | '>' | '\\'),
        _ => c.is_whitespace() || matches!(c, '&' | '"' | '\'' | '<' | '>' | '\\' | ',' | ';' | ')' | ']' | '}'),
    };
    at..at + run(&text[at..], |c| !ends(c))
}

/// A parameter's value has the pseudonym of what it encodes, so that it equals the same secret elsewhere.
fn query_value(redactor: &Redactor, raw: &str) -> String {
    let Some(decoded) = percent_decoded(raw) else { return redactor.value(raw) };
    let mut out = String::new();
    for byte in redactor.value(&decoded).bytes() {
        let plain = byte.is_ascii_alphanumeric()
            || b"-_.~".contains(&byte)
            || (byte.is_ascii_graphic() && raw == decoded && !b"&#%+<>".contains(&byte));
        if plain {
            out.push(char::from(byte));
        } else {
            let digit = |half: u8| char::from(b"0123456789ABCDEF"[usize::from(half)]);
            out.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    out
}

pub(super) fn percent_decoded(raw: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |b: u8| char::from(b).to_digit(16);
                bytes.push(u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?);
                rest = after;
            }
            (b'%', _) => return None,
            _ => bytes.push(*first),
        }
    }
    String::from_utf8(bytes).ok()
}

/// Secrets by shape within a run of name characters, wherever a word begins in it.
fn tokens(redactor: &Redactor, out: &mut Output<'_>, span: Range<usize>) {
    let text = out.text;
    let whole = text[span.clone()].trim_end_matches(['.', '-']);
    if whole.len() < shapes::SHORTEST {
        return;
    }
    // Without a digit nothing is a token but a JWT. Asked once, for a long run may have many beginnings.
    let last_digit = whole.bytes().rposition(|byte| byte.is_ascii_digit());
    if last_digit.is_none() && !whole.contains(shapes::JWT) {
        return;
    }
    // Where the next dot is: a JWT has one. Looked for once, however many beginnings there are before it.
    let (mut before, mut dot) = (None, None);
    for (offset, c) in whole.char_indices() {
        let begins = c.is_ascii_alphanumeric() && !before.is_some_and(|b: char| b.is_ascii_alphanumeric() || b == '_');
        before = Some(c);
        if !begins {
            continue;
        }
        let word = &whole[offset..];
        let next = || word.find('.').map_or(whole.len(), |at| offset + at);
        let end = dot.filter(|dot| *dot >= offset).unwrap_or_else(next);
        dot = Some(end);
        let has_beginning = last_digit.is_some_and(|digit| digit >= offset) && shapes::has_beginning(word);
        if has_beginning || shapes::is_jwt_to(word, end - offset) {
            let start = span.start + offset;
            out.replace(start..start + word.len(), &redactor.pseudonym(word));
            return;
        }
    }
}

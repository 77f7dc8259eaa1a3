//! Texts: of a format, of a length, and such as a regular expression asks for.

use regex_syntax::hir::{Class, Hir, HirKind, Look};
use serde_json::Value;

use crate::rng::Rng;
use crate::views::View;

/// How long a text is at most that is made for a pattern, or to be too long or too short.
pub(crate) const LONGEST: usize = 2000;
/// How long a text is at most that a schema demands to be long.
const LONG: usize = 4096;
/// How much longer than it must be a drawn text is at most.
const LONGER: u64 = 12;

/// How many parts of a regular expression are looked at: repetitions of nothing have no end that the length tells.
const STEPS: usize = 50_000;
/// How long a regular expression may be, in bytes: its classes are expanded.
const PATTERN: usize = 4096;

/// A text that a view may admit. Whether it does is for the validator to say.
pub(super) fn text(view: &View<'_>, rng: &mut Rng) -> Option<String> {
    let bound = |name: &str| view.get(name).and_then(Value::as_u64);
    let least = bound("minLength").unwrap_or(0) as usize;
    let most = (bound("maxLength").unwrap_or(u64::MAX) as usize).min(LONG);
    if let Some(pattern) = view.get("pattern").and_then(Value::as_str) {
        return fitting(pattern, least);
    }
    if let Some(format) = view.get("format").and_then(Value::as_str)
        && let Some(plain) = of_format(format)
    {
        return Some(drawn_format(format, rng).unwrap_or_else(|| plain.to_owned()));
    }
    if view.contains_key("contentEncoding") {
        return Some("cHJvb2Y=".to_owned());
    }
    if least > LONG {
        return None;
    }
    if !rng.is_plain() {
        let shortest = least.max(1).min(most) as u64;
        let length = shortest + rng.below((most as u64).saturating_sub(shortest).min(LONGER) + 1);
        return Some(word(length, rng));
    }
    Some(of_length("proof".len().max(least).min(most)))
}

/// A text of exactly so many characters.
pub(crate) fn of_length(length: usize) -> String {
    "proof".chars().cycle().take(length).collect()
}

fn word(length: u64, rng: &mut Rng) -> String {
    (0..length).map(|_| char::from(b'a' + rng.below(26) as u8)).collect()
}

/// A text of a `format` of JSON Schema, where it is one that we know.
fn of_format(name: &str) -> Option<&'static str> {
    Some(match name {
        "uri" | "uri-reference" | "url" | "iri" | "iri-reference" | "uri-template" => "https://example.com/",
        "email" | "idn-email" => "proof@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "127.0.0.1",
        "ipv6" => "::1",
        "date" => "2025-01-31",
        "date-time" => "2025-01-31T12:00:00Z",
        "time" => "12:00:00Z",
        "duration" => "PT1S",
        // Of version 4: some accept no other.
        "uuid" => "7d444840-9dc0-41d1-b245-5ffdce74fad2",
        "json-pointer" => "/proof",
        "relative-json-pointer" => "0",
        _ => return None,
    })
}

/// A drawn text of a format, where there is anything to draw.
fn drawn_format(name: &str, rng: &mut Rng) -> Option<String> {
    if rng.is_plain() {
        return None;
    }
    Some(match name {
        "uri" | "uri-reference" | "url" | "iri" | "iri-reference" => format!("https://example.com/{}", word(6, rng)),
        "email" | "idn-email" => format!("{}@example.com", word(6, rng)),
        "hostname" | "idn-hostname" => format!("{}.example.com", word(6, rng)),
        "ipv4" => format!("127.0.0.{}", 1 + rng.below(254)),
        "date" => format!("2025-01-{:02}", 1 + rng.below(28)),
        "date-time" => format!("2025-01-{:02}T12:00:{:02}Z", 1 + rng.below(28), rng.below(60)),
        "time" => format!("12:00:{:02}Z", rng.below(60)),
        "duration" => format!("PT{}S", 1 + rng.below(9)),
        "json-pointer" => format!("/{}", word(6, rng)),
        _ => return None,
    })
}

/// A text that a regular expression finds itself in, of at least so many characters where it can be stretched. The
/// dialects differ: the validator has the last word.
fn fitting(pattern: &str, least: usize) -> Option<String> {
    if pattern.len() > PATTERN {
        return None;
    }
    let parsed = regex_syntax::parse(pattern).ok()?;
    let mut steps = STEPS;
    (0..=least.min(LONGEST)).find_map(|more| {
        let mut text = String::new();
        written(&parsed, more, &mut text, &mut steps).then_some(text).filter(|text| text.chars().count() >= least)
    })
}

/// Writes something that `hir` matches; repetitions get up to `more` rounds beyond the least.
fn written(hir: &Hir, more: usize, text: &mut String, steps: &mut usize) -> bool {
    let Some(left) = steps.checked_sub(1) else { return false };
    *steps = left;
    if text.len() > LONGEST {
        return false;
    }
    match hir.kind() {
        HirKind::Empty => true,
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(part) => {
                text.push_str(part);
                true
            }
            Err(_) => false,
        },
        HirKind::Class(Class::Unicode(class)) => {
            let friendly = ['p', 'P', 'a', 'A', '1', '0', '-', '_', ' '];
            let holds = |c: char| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&c));
            let chosen = friendly.into_iter().find(|c| holds(*c));
            let chosen = chosen.or_else(|| class.ranges().first().map(|range| range.start()));
            text.extend(chosen);
            chosen.is_some()
        }
        HirKind::Class(Class::Bytes(_)) => false,
        HirKind::Look(look) => matches!(look, Look::Start | Look::End | Look::StartLF | Look::EndLF),
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX);
            let rounds = repetition.min.saturating_add(more as u32).min(most);
            (0..rounds).all(|_| written(&repetition.sub, more, text, steps))
        }
        HirKind::Capture(capture) => written(&capture.sub, more, text, steps),
        HirKind::Concat(parts) => parts.iter().all(|part| written(part, more, text, steps)),
        HirKind::Alternation(ways) => ways.iter().any(|way| {
            let before = text.len();
            let done = written(way, more, text, steps);
            if !done {
                text.truncate(before);
            }
            done
        }),
    }
}

//! The page `basic`, section "_meta": trace context in the formats of the W3C.

use serde_json::Value;
use wire::revision::R2026_07_28;

use super::meta::metas;
use crate::rule::{Anchor, Rule, at, both};
use crate::verdict::{Breach, Verdict};
use crate::view::View;

const META: Anchor = at("basic/index", "_meta");

/// The rules on trace context.
pub(crate) const RULES: &[Rule] = &[
    both("meta.traceparent")
        .says(R2026_07_28, META, "A `traceparent` in `_meta` MUST have the format of W3C Trace Context.")
        .how("Reads every `traceparent` the judged party sends.")
        .fix("Send version, trace id, parent id and flags in lower-case hex: `00-<32>-<16>-<2>`, ids not all zero.")
        .judge(traceparent),
    both("meta.tracestate")
        .says(R2026_07_28, META, "A `tracestate` in `_meta` MUST have the format of W3C Trace Context.")
        .how("Reads every `tracestate` the judged party sends.")
        .fix("Send at most 32 members `key=value` joined by commas, keys in lower case.")
        .judge(tracestate),
    both("meta.baggage")
        .says(R2026_07_28, META, "A `baggage` in `_meta` MUST have the format of W3C Baggage.")
        .how("Reads every `baggage` the judged party sends.")
        .fix("Send members `key=value;property` joined by commas; percent-encode what else values hold.")
        .judge(baggage),
];

fn traceparent(view: &View<'_>) -> Verdict {
    well_formed(view, "traceparent", is_traceparent)
}

fn tracestate(view: &View<'_>) -> Verdict {
    well_formed(view, "tracestate", is_tracestate)
}

fn baggage(view: &View<'_>) -> Verdict {
    well_formed(view, "baggage", is_baggage)
}

fn well_formed(view: &View<'_>, key: &str, fits: fn(&str) -> bool) -> Verdict {
    let values = metas(view)
        .into_iter()
        .filter_map(|(event, pointer, members)| Some((event, (format!("{pointer}/{key}"), members.get(key)?))));
    Verdict::every(
        values.collect::<Vec<_>>(),
        format!("the judged party sent no `{key}`"),
        |(event, (pointer, value))| match value {
            Value::String(text) if fits(text) => Ok(()),
            Value::String(text) => {
                let shown: String = text.chars().take(80).collect();
                Err(Breach::at(*event, pointer, format!("`{}` is no {key}", shown.escape_debug())))
            }
            _ => Err(Breach::at(*event, pointer, format!("the {key} is not a string"))),
        },
    )
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_traceparent(text: &str) -> bool {
    let parts: Vec<_> = text.split('-').collect();
    let [version, trace, parent, flags, rest @ ..] = &parts[..] else { return false };
    let zero = |id: &str| id.bytes().all(|b| b == b'0');
    is_hex(version, 2)
        && *version != "ff"
        && is_hex(trace, 32)
        && !zero(trace)
        && is_hex(parent, 16)
        && !zero(parent)
        && is_hex(flags, 2)
        && (*version != "00" || rest.is_empty())
}

/// Keys as the second edition has them, which takes all of the first edition's.
fn is_tracestate(text: &str) -> bool {
    let key = |key: &str| {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-' | '*' | '/' | '@');
        key.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
            && key.len() <= 256
            && key.chars().all(inner)
    };
    let value = |value: &str| {
        let inner = |b: u8| matches!(b, 0x20..=0x7e) && b != b',' && b != b'=';
        !value.is_empty() && value.len() <= 256 && value.bytes().all(inner)
    };
    let members: Vec<_> = text.split(',').map(|m| m.trim_matches([' ', '\t'])).filter(|m| !m.is_empty()).collect();
    members.len() <= 32 && members.iter().all(|m| m.split_once('=').is_some_and(|(k, v)| key(k) && value(v)))
}

fn is_baggage(text: &str) -> bool {
    let token = |key: &str| {
        let inner = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        !key.is_empty() && key.chars().all(inner)
    };
    let octets =
        |value: &str| value.bytes().all(|b| matches!(b, 0x21 | 0x23..=0x2b | 0x2d..=0x3a | 0x3c..=0x5b | 0x5d..=0x7e));
    let space = [' ', '\t'];
    let pair = |text: &str| {
        text.split_once('=').is_some_and(|(k, v)| token(k.trim_matches(space)) && octets(v.trim_matches(space)))
    };
    text.split(',').all(|member| {
        let mut parts = member.split(';').map(|p| p.trim_matches(space));
        parts.next().is_some_and(pair) && parts.all(|p| token(p) || pair(p))
    })
}

//! Media types and the `Accept` header (RFC 9110, sections 8.3.1 and 12.5.1).

/// The media type a `Content-Type` value names, lower case, without parameters.
pub fn media_type(content_type: &str) -> String {
    essence(content_type).to_ascii_lowercase()
}

fn essence(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

/// Whether a `Content-Type` value names `expected`, parameters and case aside.
pub fn has_media_type(content_type: &str, expected: &str) -> bool {
    // Mostly it is the type alone.
    content_type.eq_ignore_ascii_case(expected) || essence(content_type).eq_ignore_ascii_case(expected)
}

/// Whether an `Accept` value allows an answer of `media_type`: of the ranges that match, the most specific decides, and a
/// quality of 0 forbids. An empty value allows nothing.
pub fn accepts(accept: &str, media_type: &str) -> bool {
    ranges(accept)
        .filter_map(|range| Some((range.specificity(media_type)?, range.allowed)))
        .max()
        .is_some_and(|(_, allowed)| allowed)
}

/// Whether an `Accept` value names `media_type` itself, wildcards not counted, and does not forbid it.
pub fn lists(accept: &str, media_type: &str) -> bool {
    ranges(accept).any(|range| range.allowed && range.specificity(media_type) == Some(2))
}

struct Range<'a> {
    name: &'a str,
    allowed: bool,
}

impl Range<'_> {
    fn specificity(&self, media_type: &str) -> Option<u8> {
        if self.name.eq_ignore_ascii_case(media_type) {
            return Some(2);
        }
        let (kind, _) = media_type.split_once('/')?;
        match self.name.strip_suffix("/*")? {
            "*" => Some(0),
            this => this.eq_ignore_ascii_case(kind).then_some(1),
        }
    }
}

fn ranges(accept: &str) -> impl Iterator<Item = Range<'_>> {
    split(accept, b',').map(|range| {
        let mut parts = split(range, b';');
        let name = parts.next().unwrap_or_default().trim();
        let refused = |part: &str| {
            part.trim().split_once('=').is_some_and(|(name, q)| {
                name.trim().eq_ignore_ascii_case("q") && q.trim().parse::<f32>().is_ok_and(|q| q <= 0.0)
            })
        };
        Range { name, allowed: !parts.any(refused) }
    })
}

/// Splits at `separator`, but not inside a quoted string.
fn split(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = unquoted(text.as_bytes(), separator);
        rest = end.map(|end| &text[end + 1..]);
        Some(&text[..end.unwrap_or(text.len())])
    })
}

/// Where the first `separator` outside a quoted string is.
fn unquoted(text: &[u8], separator: u8) -> Option<usize> {
    // A server asks this of every request, and hardly any header has a quoted string.
    let first = memchr::memchr2(separator, b'"', text)?;
    if text[first] == separator {
        return Some(first);
    }
    let mut quoted = false;
    let mut escaped = false;
    text.iter().position(|&byte| {
        let ends = byte == separator && !quoted;
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ => {}
        }
        ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{EVENT_STREAM, JSON};

    #[test]
    fn media_types_compare_without_parameters_and_case() {
        assert!(has_media_type("Application/JSON; charset=utf-8", JSON));
        assert!(has_media_type(" text/event-stream", EVENT_STREAM));
        assert!(!has_media_type("application/jsonl", JSON));
        assert!(!has_media_type("", JSON));
    }

    #[test]
    fn the_most_specific_range_decides() {
        let both = "application/json, text/event-stream";
        for (accept, json, stream) in [
            (both, true, true),
            ("*/*", true, true),
            ("text/*", false, true),
            ("*/*;q=0.1, application/json;q=0", false, true),
            ("application/*; q=0.000 , */*", false, true),
            ("APPLICATION/JSON;q=0.5;x=\"a,b;q=0\"", true, false),
            ("application/json;q=1;profile=\"\\\", text/event-stream\"", true, false),
            ("text/html", false, false),
            ("", false, false),
            ("*", false, false),
        ] {
            assert_eq!((accepts(accept, JSON), accepts(accept, EVENT_STREAM)), (json, stream), "{accept}");
        }
    }

    #[test]
    fn a_wildcard_lists_nothing() {
        assert!(lists("text/html, Text/Event-Stream;q=0.2", EVENT_STREAM));
        assert!(!lists("*/*, text/*", EVENT_STREAM));
        assert!(!lists("text/event-stream;q=0", EVENT_STREAM));
    }
}

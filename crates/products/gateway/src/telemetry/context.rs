//! What a request says of its trace: `traceparent` and `tracestate` (W3C Trace Context) and `baggage` (W3C Baggage), in `_meta`
//! (2026-07-28, basic#meta) or in the headers of HTTP. What is not well formed counts as absent.

use net::server::http::HeaderMap;
use net::service::Call;
use serde_json::Value;

use crate::ids::hex;

/// The longest `tracestate` and `baggage` that are passed on, in bytes.
const LONGEST_STATE: usize = 4 << 10;
const LONGEST_BAGGAGE: usize = 8 << 10;
/// The most members of a `tracestate`, and of a `baggage`.
const MOST_STATES: usize = 32;
const MOST_BAGGAGE: usize = 64;
/// The longest `traceparent` of a later version, in bytes.
const LONGEST_PARENT: usize = 256;

/// The members of `_meta`, and the headers.
const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";
const BAGGAGE: &str = "baggage";
pub(crate) const NAMES: [&str; 3] = [PARENT, STATE, BAGGAGE];

/// A span, as others name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SpanContext {
    pub(super) trace: [u8; 16],
    pub(super) span: [u8; 8],
    pub(super) sampled: bool,
}

/// What a request says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Incoming {
    pub(super) parent: Option<SpanContext>,
    /// The trace of the HTTP request, where `_meta` names another span.
    pub(super) link: Option<SpanContext>,
    pub(super) state: Option<String>,
    pub(super) baggage: Option<String>,
}

/// What the request to an upstream says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(super) context: SpanContext,
    pub(super) state: Option<String>,
    pub(super) baggage: Option<String>,
}

impl Incoming {
    pub(super) fn of(call: &Call) -> Self {
        Self::read(call.message.meta(), call.context.headers.as_ref())
    }

    fn read(meta: Option<&Value>, headers: Option<&HeaderMap>) -> Self {
        let member = |name: &str| meta.and_then(|meta| meta.get(name)?.as_str()).map(str::to_owned);
        let header = |name: &str| {
            let values: Option<Vec<_>> = headers?.get_all(name).iter().map(|value| value.to_str().ok()).collect();
            values.filter(|values| !values.is_empty()).map(|values| values.join(","))
        };
        let (own, outer) = (member(PARENT), header(PARENT));
        let (own, outer) = (own.as_deref().and_then(parent), outer.as_deref().and_then(parent));
        // A state belongs to the parent that came with it.
        let state = match (own, outer) {
            (Some(_), _) => member(STATE),
            (None, Some(_)) => header(STATE),
            (None, None) => None,
        };
        let baggage = member(BAGGAGE).filter(|text| is_baggage(text));
        Self {
            parent: own.or(outer),
            link: outer.filter(|outer| own.is_some_and(|own| own != *outer)),
            state: state.filter(|text| is_state(text)),
            baggage: baggage.or_else(|| header(BAGGAGE).filter(|text| is_baggage(text))),
        }
    }
}

impl SpanContext {
    fn header(self) -> String {
        format!("00-{}-{}-{}", hex(&self.trace), hex(&self.span), if self.sampled { "01" } else { "00" })
    }
}

impl Outgoing {
    /// The members of `_meta`, each with its JSON text.
    pub(crate) fn members(&self) -> Vec<(&'static str, String)> {
        let text = |text: &str| Value::from(text).to_string();
        let mut members = vec![(PARENT, text(&self.context.header()))];
        members.extend(self.state.as_deref().map(|state| (STATE, text(state))));
        members.extend(self.baggage.as_deref().map(|baggage| (BAGGAGE, text(baggage))));
        members
    }
}

/// Bytes of lower-case hexadecimal digits.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    if pairs.len() != N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

/// The id of the trace that a `traceparent` names, as it stands there.
pub(crate) fn trace_of(text: &str) -> Option<String> {
    parent(text).map(|parent| hex(&parent.trace))
}

fn parent(text: &str) -> Option<SpanContext> {
    if text.len() > LONGEST_PARENT {
        return None;
    }
    let mut parts = text.split('-');
    let [version] = bytes(parts.next()?)?;
    let (trace, span) = (bytes(parts.next()?)?, bytes(parts.next()?)?);
    let [flags] = bytes(parts.next()?)?;
    let is_whole = version != 0xff && (version != 0 || parts.next().is_none());
    let is_one = trace != [0; 16] && span != [0; 8];
    (is_whole && is_one).then_some(SpanContext { trace, span, sampled: flags & 1 == 1 })
}

fn is_state(text: &str) -> bool {
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
    let pairs: Option<Vec<_>> = members.iter().map(|member| member.split_once('=')).collect();
    let Some(mut pairs) = pairs.filter(|pairs| (1..=MOST_STATES).contains(&pairs.len())) else { return false };
    let well_formed = text.len() <= LONGEST_STATE && pairs.iter().all(|(k, v)| key(k) && value(v));
    pairs.sort_unstable();
    well_formed && !pairs.windows(2).any(|two| matches!(two, [(a, _), (b, _)] if a == b))
}

fn is_baggage(text: &str) -> bool {
    let space = [' ', '\t'];
    let token = |key: &str| {
        let inner = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        !key.is_empty() && key.chars().all(inner)
    };
    let octets =
        |value: &str| value.bytes().all(|b| matches!(b, 0x21 | 0x23..=0x2b | 0x2d..=0x3a | 0x3c..=0x5b | 0x5d..=0x7e));
    let pair = |text: &str| {
        text.split_once('=').is_some_and(|(k, v)| token(k.trim_matches(space)) && octets(v.trim_matches(space)))
    };
    let mut count = 0;
    let well_formed = text.split(',').all(|member| {
        count += 1;
        let mut parts = member.split(';').map(|part| part.trim_matches(space));
        parts.next().is_some_and(pair) && parts.all(|part| token(part) || pair(part))
    });
    well_formed && count <= MOST_BAGGAGE && text.len() <= LONGEST_BAGGAGE
}

#[cfg(test)]
mod tests {
    use net::server::http::{HeaderMap, HeaderValue};
    use serde_json::json;

    use super::{Incoming, Outgoing, is_baggage, is_state, parent};

    const ONE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const OTHER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

    #[test]
    fn a_parent_is_read_strictly() {
        let one = parent(ONE).expect("well formed");
        assert!(one.sampled && !parent(OTHER).expect("well formed").sampled);
        assert_eq!(one.header(), ONE);
        // A later version may have more.
        assert_eq!(parent(&format!("cc-{}-more", &ONE[3..])), Some(one));
        let zero = |from: &str| ONE.replace(from, &"0".repeat(from.len()));
        for bad in [
            "",
            "00-1-2-3",
            &ONE[..54],
            &format!("{ONE}-more"),
            &format!("ff{}", &ONE[2..]),
            &ONE.to_uppercase(),
            &ONE.replace('-', "_"),
            &zero("0af7651916cd43dd8448eb211c80319c"),
            &zero("b7ad6b7169203331"),
            &format!(" {ONE}"),
            &format!("cc-{}-{}", &ONE[3..], "x".repeat(300)),
        ] {
            assert_eq!(parent(bad), None, "{bad}");
        }
    }

    #[test]
    fn states_and_baggage_are_read_strictly() {
        for good in ["a=1", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "a=1, b=2", "1@x=y z"] {
            assert!(is_state(good), "{good}");
        }
        let many = (0..33).map(|n| format!("k{n}=v")).collect::<Vec<_>>().join(",");
        for bad in ["", "a", "A=1", "a=", "a=1,a=2", "a=b=c", "a=\u{e9}", "a=1\n", many.as_str()] {
            assert!(!is_state(bad), "{bad}");
        }
        for good in ["a=1", "userId=alice,serverNode=DF%2028;meta=1;flag"] {
            assert!(is_baggage(good), "{good}");
        }
        for bad in ["", "a", "a b=1", "a=1,", "a=\"x\"", "a=x y", "a=\u{e9}"] {
            assert!(!is_baggage(bad), "{bad}");
        }
        assert!(!is_baggage(&format!("a={}", "x".repeat(9000))));
    }

    #[test]
    fn meta_counts_before_headers_and_a_state_stays_with_its_parent() {
        let mut headers = HeaderMap::new();
        for (name, value) in [("traceparent", OTHER), ("tracestate", "h=1"), ("baggage", "h=1")] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let meta = json!({ "traceparent": ONE, "tracestate": "m=1", "baggage": "m=1" });
        let both = Incoming::read(Some(&meta), Some(&headers));
        assert_eq!((both.parent, both.link), (parent(ONE), parent(OTHER)));
        assert_eq!((both.state.as_deref(), both.baggage.as_deref()), (Some("m=1"), Some("m=1")));
        let outer = Incoming::read(Some(&json!({ "traceparent": "bad", "tracestate": "m=1" })), Some(&headers));
        assert_eq!((outer.parent, outer.link), (parent(OTHER), None));
        assert_eq!((outer.state.as_deref(), outer.baggage.as_deref()), (Some("h=1"), Some("h=1")));
        let none = Incoming::read(Some(&json!({ "tracestate": "m=1", "baggage": 7 })), None);
        assert_eq!(none, Incoming::default());
        // Two parents are none.
        headers.append("traceparent", HeaderValue::from_static(OTHER));
        assert_eq!(Incoming::read(None, Some(&headers)).parent, None);
    }

    #[test]
    fn what_goes_on_is_json() {
        let context = parent(ONE).expect("well formed");
        let outgoing = Outgoing { context, state: Some("a=\"".to_owned()), baggage: None };
        let expected = [("traceparent", format!("\"{ONE}\"")), ("tracestate", "\"a=\\\"\"".to_owned())];
        assert_eq!(outgoing.members(), expected);
    }
}

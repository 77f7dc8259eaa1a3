//! Numbers in texts, as Python's `int` and `float` read them.

use crate::python;

/// Sources are converted: texts are owned.
type Py = python::Py<'static>;

/// `int(text)`, or else `float(text)`.
pub(super) fn number(text: &str) -> Option<Py> {
    whole(text).map(Py::Int).or_else(|| float(text).map(Py::Float))
}

/// `int(text)`: digits, a sign, single underscores between digits, white space around.
pub(super) fn whole(text: &str) -> Option<i128> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    digits_of(digits).then(|| text.replace('_', "").parse().ok()).flatten()
}

/// `float(text)`.
pub(super) fn float(text: &str) -> Option<f64> {
    let text = text.trim();
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let lower = body.to_ascii_lowercase();
    if matches!(lower.as_str(), "inf" | "infinity" | "nan") {
        return text.to_ascii_lowercase().parse().ok();
    }
    let (mantissa, exponent) = body.split_once(['e', 'E']).map_or((body, None), |(m, e)| (m, Some(e)));
    let (before, after) = mantissa.split_once('.').map_or((mantissa, None), |(b, a)| (b, Some(a)));
    let part = |text: &str| text.is_empty() || digits_of(text);
    let is_mantissa = part(before) && after.is_none_or(part) && !(before.is_empty() && after.is_none_or(str::is_empty));
    let is_exponent = exponent.is_none_or(|exponent| digits_of(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    (is_mantissa && is_exponent).then(|| text.replace('_', "").parse().ok()).flatten()
}

fn digits_of(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
        && !text.starts_with('_')
        && !text.ends_with('_')
        && !text.contains("__")
}

/// The digits of `-?\d+` and what follows them.
pub(super) fn leading_digits(text: &str) -> (&str, &str) {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    if length == 0 { ("", text) } else { text.split_at(text.len() - digits.len() + length) }
}

/// Whether a text is `-?\d+(\.\d+)?`, with an exponent where `with_exponent`; gives what follows it.
pub(super) fn after_decimal(text: &str, with_exponent: bool) -> Option<&str> {
    let (digits, mut rest) = leading_digits(text);
    if digits.is_empty() {
        return None;
    }
    let fraction = |rest: &str| rest.bytes().take_while(u8::is_ascii_digit).count();
    if let Some(after) = rest.strip_prefix('.')
        && fraction(after) > 0
    {
        rest = &after[fraction(after)..];
    }
    if let Some(after) = rest.strip_prefix(['e', 'E']).filter(|_| with_exponent) {
        let after = after.strip_prefix(['+', '-']).unwrap_or(after);
        if fraction(after) > 0 {
            rest = &after[fraction(after)..];
        }
    }
    Some(rest)
}

/// Whether nothing but one line feed is left, where Python's `$` matches.
pub(super) fn is_end(rest: &str) -> bool {
    matches!(rest, "" | "\n")
}

//! Durations and sizes as people write them. Pure.

use std::time::Duration;

/// A whole number with `ms`, `s`, `m` or `h`.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = split(text)?;
    let milliseconds = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.checked_mul(milliseconds).map(Duration::from_millis)
}

/// A number of bytes, or a whole number with `KiB` or `MiB`.
pub(super) fn bytes(text: &str) -> Option<usize> {
    let (number, unit) = split(text)?;
    let unit = match unit {
        "" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        _ => return None,
    };
    usize::try_from(number.checked_mul(unit)?).ok()
}

/// The digits and what follows them.
fn split(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{bytes, duration};

    #[test]
    fn durations_have_a_unit() {
        for (text, expected) in [
            ("500ms", Some(Duration::from_millis(500))),
            ("30s", Some(Duration::from_secs(30))),
            ("5m", Some(Duration::from_mins(5))),
            ("1h", Some(Duration::from_hours(1))),
            ("0s", Some(Duration::ZERO)),
            ("5", None),
            ("s", None),
            ("", None),
            ("1.5s", None),
            ("-1s", None),
            ("1 s", None),
            ("1d", None),
            ("99999999999999999999s", None),
            ("9999999999999999999h", None),
        ] {
            assert_eq!(duration(text), expected, "{text}");
        }
    }

    #[test]
    fn sizes_may_have_a_unit() {
        for (text, expected) in [
            ("4096", Some(4096)),
            ("512KiB", Some(512 << 10)),
            ("128MiB", Some(128 << 20)),
            ("1GiB", None),
            ("1MB", None),
            ("MiB", None),
            ("18446744073709551615MiB", None),
        ] {
            assert_eq!(bytes(text), expected, "{text}");
        }
    }
}

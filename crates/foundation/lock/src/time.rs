//! Times in RFC 3339, compared. Must not read a clock.

/// Milliseconds since the epoch of a time in UTC: `2026-11-26T15:04:05Z`, with or without a fraction; `None` for anything else.
pub fn millis(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let shape = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if !text.is_ascii() || bytes.len() < 20 || shape.iter().any(|(at, byte)| bytes[*at] != *byte) {
        return None;
    }
    let number = |range: std::ops::Range<usize>| {
        let digits = &text[range];
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u64>().ok()).flatten()
    };
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let fraction = match text[19..].strip_suffix('Z')? {
        "" => 0,
        rest => {
            let digits = rest.strip_prefix('.').filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))?;
            format!("{digits:0<3}")[..3].parse().ok()?
        }
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + u64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    let is_time = hour < 24 && minute < 60 && second < 60;
    if year < 1970 || !(1..=length).contains(&day) || !is_time {
        return None;
    }
    // Years begin in March, so that a leap day is the last of its year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    let seconds = (days - 719_468) * 86_400 + hour * 3600 + minute * 60 + second;
    Some(seconds * 1000 + fraction)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wire::timestamp::rfc3339;

    use super::millis;

    #[test]
    fn times_are_read_back() {
        for time in [68_169_600_000, 951_782_400_007, 951_868_800_000, 1_785_196_799_999, 4_107_542_399_123] {
            assert_eq!(millis(&rfc3339(Duration::from_millis(time))), Some(time));
        }
        assert_eq!(millis("2026-11-26T00:00:00Z"), millis("2026-11-26T00:00:00.000999Z"));
        for bad in [
            "",
            "2026-11-26",
            "2026-11-26T00:00:00",
            "2026-11-26T00:00:00+01:00",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-11-26T24:00:00Z",
            "2026-11-26T00:00:00.Z",
            "1969-12-31T00:00:00Z",
            "2026-11-2éT00:00:00Z",
            "2026-11-26 00:00:00Z",
            "+026-11-26T00:00:00Z",
        ] {
            assert_eq!(millis(bad), None, "{bad}");
        }
    }
}

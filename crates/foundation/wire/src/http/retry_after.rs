//! `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date. Must not read a clock.

/// The longest time that is believed: a day.
const LONGEST: u64 = 86_400;

/// In how many milliseconds another try is worth it; `now` is in seconds since 1970.
pub fn retry_after(value: &str, now: u64) -> Option<u64> {
    let value = value.trim();
    let seconds = match value.parse::<f64>() {
        // Some servers send fractions.
        Ok(seconds) if seconds >= 0.0 && seconds.is_finite() => {
            return Some((seconds.min(LONGEST as f64) * 1000.0) as u64);
        }
        Ok(_) => return None,
        Err(_) => date(value)?.saturating_sub(now),
    };
    Some(seconds.min(LONGEST) * 1000)
}

/// `Sun, 06 Nov 1994 08:49:37 GMT` in seconds since 1970. The other two forms of dates are obsolete.
fn date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split_once(", ")?.1.split(' ');
    let day: u64 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? as u64 + 1;
    let year: u64 = words.next()?.parse().ok()?;
    let mut time = words.next()?.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    let is_valid = (1..=31).contains(&day) && (1970..=9999).contains(&year) && hour < 24 && minute < 60 && second < 61;
    (is_valid && words.next() == Some("GMT"))
        .then(|| days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

/// Days since 1970. Years begin in March, so that a leap day is the last of its year.
const fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::retry_after;

    #[test]
    fn seconds_and_dates_are_read() {
        for (value, now, expected) in [
            ("120", 0, Some(120_000)),
            (" 0 ", 0, Some(0)),
            ("1.5", 0, Some(1500)),
            ("99999999999", 0, Some(86_400_000)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_770, Some(7000)),
            ("Thu, 29 Feb 2024 00:00:01 GMT", 1_709_164_800, Some(1000)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_790, Some(0)),
            ("-1", 0, None),
            ("inf", 0, None),
            ("soon", 0, None),
            ("Sun, 06 Nov 1994 08:49 GMT", 0, None),
            ("Sun, 06 Foo 1994 08:49:37 GMT", 0, None),
        ] {
            assert_eq!(retry_after(value, now), expected, "{value}");
        }
    }
}

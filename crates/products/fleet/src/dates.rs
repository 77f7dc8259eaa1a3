//! Days and times as people write them. UTC.

use std::time::Duration;

use crate::state::DAY;

/// `2026-11-27`.
pub fn day(seconds: i64) -> String {
    time(seconds).chars().take(10).collect()
}

/// `2026-11-27 08:05`.
pub fn minute(seconds: i64) -> String {
    time(seconds).chars().take(16).collect::<String>().replace('T', " ")
}

fn time(seconds: i64) -> String {
    wire::timestamp::rfc3339(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

/// The end of a day written `2026-11-27`, in seconds since 1970; `None` where it is no day.
pub fn end_of(text: &str) -> Option<i64> {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, date] = parts[..] else { return None };
    let is_plain = |text: &str, length: usize| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_plain(year, 4) || !is_plain(month, 2) || !is_plain(date, 2) {
        return None;
    }
    let (year, month, date): (i64, i64, i64) = (year.parse().ok()?, month.parse().ok()?, date.parse().ok()?);
    let start = days(year, month, date) * DAY;
    // A day that does not exist comes back as another one.
    (day(start) == text).then_some(start + DAY)
}

/// Days since 1970 of a day in the Gregorian calendar, counted in years that begin in March.
const fn days(year: i64, month: i64, date: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + date - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::{day, end_of, minute};

    #[test]
    fn days_come_back() {
        for text in ["1970-01-01", "2026-11-27", "2028-02-29", "2100-03-01", "9999-12-31"] {
            assert_eq!(end_of(text).map(|end| day(end - 1)).as_deref(), Some(text));
        }
        for text in ["2026-02-30", "2027-02-29", "2026-13-01", "26-01-01", "2026-1-1", "tomorrow", "2026-11-27-1"] {
            assert_eq!(end_of(text), None, "{text}");
        }
        assert_eq!(minute(1_795_766_700), "2026-11-27 08:05");
    }
}

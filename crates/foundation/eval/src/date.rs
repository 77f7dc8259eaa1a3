//! Dates and times in the forms that tools take them: RFC 3339, and what of ISO 8601 is common. Compared by what they mean.

/// A date, perhaps with a time, perhaps with a distance from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Days since 1970-01-01.
    days: i64,
    /// Nanoseconds of the day.
    time: Option<i64>,
    /// Minutes east of UTC.
    offset: Option<i64>,
}

const NANOS: i64 = 1_000_000_000;

impl Moment {
    /// Reads `2026-11-26`, `20261126`, `2026/11/26`, with `T` or a space and `09:30`, `09:30:00.5`, and `Z` or `+01:00`.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let (date, rest) = text.split_at(text.find(['T', 't', ' ']).unwrap_or(text.len()));
        let days = days(date)?;
        if rest.is_empty() {
            return Some(Self { days, time: None, offset: None });
        }
        let rest = rest[1..].trim();
        let end = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
        let (time, offset) = rest.split_at(end);
        let offset = if offset.is_empty() { None } else { Some(offset_of(offset)?) };
        Some(Self { days, time: Some(clock(time.trim())?), offset })
    }

    /// Whether `given` is what was meant: the day where only a day is known of `self`; the same instant where both know their
    /// distance from UTC; else the same reading of the clock, with neither or both of them silent on the distance.
    pub fn is_meant_by(&self, given: &Self) -> bool {
        match (self.time, given.time) {
            (None, _) => self.days == given.days,
            (Some(_), None) => false,
            (Some(time), Some(given_time)) => match (self.offset, given.offset) {
                (Some(offset), Some(given_offset)) => {
                    instant(self.days, time, offset) == instant(given.days, given_time, given_offset)
                }
                (None, None) => self.days == given.days && time == given_time,
                _ => false,
            },
        }
    }
}

fn instant(days: i64, time: i64, offset: i64) -> i128 {
    i128::from(days) * i128::from(86_400 * NANOS) + i128::from(time) - i128::from(offset * 60 * NANOS)
}

/// Days since 1970-01-01 in the Gregorian calendar.
fn days(text: &str) -> Option<i64> {
    let parts: Vec<&str> = match text.split(['-', '/']).collect::<Vec<_>>().as_slice() {
        [whole] if whole.len() == 8 && whole.is_ascii() => vec![&whole[..4], &whole[4..6], &whole[6..]],
        [year, month, day] if year.len() == 4 => vec![year, month, day],
        _ => return None,
    };
    let (year, month, day) = (digits(parts[0])?, digits(parts[1])?, digits(parts[2])?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Years begin in March, so that the day that some lack comes last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(days + (153 * month + 2) / 5 + day - 719_469)
}

fn clock(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let (hour, minute) = (digits(parts.next()?)?, digits(parts.next()?)?);
    let (seconds, nanos) = match parts.next() {
        None => (0, 0),
        Some(seconds) => {
            let (whole, part) = seconds.split_once(['.', ',']).unwrap_or((seconds, "0"));
            if part.is_empty() || part.len() > 9 {
                return None;
            }
            (digits(whole)?, digits(&format!("{part:0<9}"))?)
        }
    };
    let is_time = hour < 24 && minute < 60 && seconds <= 60 && parts.next().is_none();
    is_time.then_some((hour * 3600 + minute * 60 + seconds) * NANOS + nanos)
}

/// Minutes east of UTC.
fn offset_of(text: &str) -> Option<i64> {
    let sign = match text.chars().next()? {
        'Z' | 'z' if text.len() == 1 => return Some(0),
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let digits_of = text[1..].replace(':', "");
    let (hours, minutes) = match digits_of.len() {
        2 => (digits(&digits_of)?, 0),
        4 if digits_of.is_ascii() => (digits(&digits_of[..2])?, digits(&digits_of[2..])?),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

fn digits(text: &str) -> Option<i64> {
    let all = !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    if all { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(one: &str, other: &str) -> bool {
        Moment::read(one).unwrap().is_meant_by(&Moment::read(other).unwrap())
    }

    #[test]
    fn moments_are_compared_by_what_they_mean() {
        assert!(meant("2026-11-26", "20261126") && meant("2026-11-26", "2026/11/26T09:30:00Z"));
        assert!(meant("2026-11-26T09:30:00Z", "2026-11-26T10:30+01:00"));
        assert!(meant("2026-01-01T00:30:00+01:00", "2025-12-31 23:30:00.000Z"));
        assert!(meant("2026-11-26T09:30", "2026-11-26 09:30:00"));
        assert!(!meant("2026-11-26T09:30", "2026-11-26") && !meant("2026-11-26T09:30", "2026-11-26T09:30Z"));
        assert!(!meant("2026-11-26", "2026-11-27") && !meant("2026-11-26T09:30:00Z", "2026-11-26T09:30:00.1Z"));
    }

    #[test]
    fn days_are_counted_right() {
        let days = |text| Moment::read(text).unwrap().days;
        assert_eq!((days("1970-01-01"), days("1969-12-31"), days("2000-03-01")), (0, -1, 11_017));
        assert_eq!(days("2024-03-01") - days("2024-02-28"), 2);
        assert_eq!(days("2100-03-01") - days("2100-02-28"), 1);
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "tomorrow",
            "2026-13-01",
            "2026-02-29",
            "2026-11-26T25:00",
            "26-11-2026",
            "2026-11-26Tx",
            "2026-11-26T09:30+1",
            "２０２６-11-26",
            "2026-11-2é",
        ] {
            assert_eq!(Moment::read(text), None, "{text}");
        }
    }
}

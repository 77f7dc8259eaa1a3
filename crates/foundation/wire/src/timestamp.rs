//! Timestamps of tasks: RFC 3339 in UTC, to the millisecond. Must not read a clock.

use std::time::Duration;

/// The moment that lies `since_epoch` after the Unix epoch.
pub fn rfc3339(since_epoch: Duration) -> String {
    format(since_epoch.as_secs(), since_epoch.subsec_millis())
}

fn format(seconds: u64, millis: u32) -> String {
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// The date that many days after the epoch. Years begin in March here, so that a leap day is the last of its year.
const fn date(days: u64) -> (u64, u64, u64) {
    const CYCLE: u64 = 146_097;
    // 719468 days lie between March 1st of year 0 and the epoch; the calendar repeats after 400 years.
    let days = days + 719_468;
    let (cycle, day) = (days / CYCLE, days % CYCLE);
    let year = (day - day / 1460 + day / 36_524 - day / (CYCLE - 1)) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (cycle * 400 + year + later, month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.007Z"),
            (951_782_400, "2000-02-29T00:00:00.007Z"),
            (951_868_800, "2000-03-01T00:00:00.007Z"),
            (1_785_196_799, "2026-07-27T23:59:59.007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.007Z"),
            (4_107_542_399, "2100-02-28T23:59:59.007Z"),
        ] {
            assert_eq!(format(seconds, 7), text);
        }
    }
}

//! Detects texts that change from run to run (numbers, times, identifiers), and a pattern for them.

use std::time::{SystemTime, UNIX_EPOCH};

/// What two texts at the same path have in common.
#[derive(Debug, PartialEq)]
pub(super) enum Text {
    /// They are equal, and no part depends on the time.
    Same,
    /// A regular expression that matches both.
    Like(String),
    Other,
}

/// The longest word that is matched by its form. Longer ones, such as Base64, have no reliable form.
const MAX_WORD: usize = 40;
/// A day, in seconds.
const DAY: u64 = 86_400;
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Compares two texts at the same path.
pub(super) fn compare(one: &str, other: &str) -> Text {
    // If the seconds of a time differ, its hour may differ, too.
    let now = is_now(one) || one != other && clocks(one).next().is_some();
    if one == other && !now {
        return Text::Same;
    }
    let (a, b) = (words(one), words(other));
    if a.len() != b.len() {
        return Text::Other;
    }
    let mut regex = "^".to_owned();
    for (a, b) in a.iter().zip(&b) {
        match common_pattern(a, b, now) {
            Some(part) => regex.push_str(&part),
            None => return Text::Other,
        }
    }
    regex.push('$');
    Text::Like(regex)
}

/// A regular expression that matches both words; `now` if they are part of a time.
fn common_pattern(a: &str, b: &str, now: bool) -> Option<String> {
    let digits = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let hex = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let letters = |word: &str| word.chars().all(|c| c.is_ascii_alphabetic());
    if a == b && !(now && (digits(a) || is_of_a_calendar(a))) {
        // Outside of brackets a dash needs no escape.
        return Some(regex::escape(a).replace("\\-", "-"));
    }
    let is_word = |word: &str| word.chars().all(char::is_alphanumeric);
    if a.len().max(b.len()) > MAX_WORD {
        None
    } else if digits(a) && digits(b) {
        Some("[0-9]+".to_owned())
    } else if hex(a) && hex(b) {
        Some("[0-9a-f]+".to_owned())
    } else if letters(a) && letters(b) && now {
        Some("[A-Za-z]+".to_owned())
    } else if is_word(a) && is_word(b) && [a, b].iter().any(|word| word.bytes().any(|byte| byte.is_ascii_digit())) {
        Some("[0-9A-Za-z]+".to_owned())
    } else {
        None
    }
}

/// Runs of letters and digits, and the runs between them.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut begin = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        let kind = c.is_ascii_alphanumeric();
        if before.is_some_and(|before| before != kind) {
            words.push(&text[begin..at]);
            begin = at;
        }
        before = Some(kind);
    }
    words.push(&text[begin..]);
    words
}

fn is_of_a_calendar(word: &str) -> bool {
    let is = |name: &&str| word.eq_ignore_ascii_case(name) || word.eq_ignore_ascii_case(&name[..3]);
    DAYS.iter().chain(&MONTHS).any(is) || matches!(word, "AM" | "PM" | "am" | "pm")
}

/// Whether a text refers to the present: a date, a day of the week, seconds or milliseconds since 1970.
pub(super) fn is_now(text: &str) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    is_about(text, now)
}

fn is_about(text: &str, now: u64) -> bool {
    let near = [now.saturating_sub(DAY), now, now + DAY];
    if near.iter().any(|&at| text.contains(&date(at))) {
        return true;
    }
    if DAYS.contains(&text) {
        return true;
    }
    let (year, _, _) = civil(now);
    let minute = now / 60 % 60;
    let close = |shown: u64| [59, 0, 1].iter().any(|off| (minute + off) % 60 == shown);
    if clocks(text).any(close) || clocks(text).next().is_some() && text.contains(&year.to_string()) {
        return true;
    }
    let runs = text.split(|c: char| !c.is_ascii_digit()).filter(|run| matches!(run.len(), 10 | 13 | 16 | 19));
    runs.filter_map(|run| run[..10].parse::<u64>().ok()).any(|at| at.abs_diff(now) <= DAY)
}

/// The minutes of every time of day, `9:05`.
fn clocks(text: &str) -> impl Iterator<Item = u64> {
    text.as_bytes().windows(4).filter_map(|part| match part {
        [hour, b':', ten @ b'0'..=b'5', one] if hour.is_ascii_digit() && one.is_ascii_digit() => {
            Some(u64::from(ten - b'0') * 10 + u64::from(one - b'0'))
        }
        _ => None,
    })
}

/// `2026-07-28`
fn date(at: u64) -> String {
    let (year, month, day) = civil(at);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Year, month and day of a time since 1970, in the Gregorian calendar.
const fn civil(at: u64) -> (u64, u64, u64) {
    // Counted from March of year 0, so that the leap day comes last.
    let days = at / DAY + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    (year + era * 400 + if month <= 2 { 1 } else { 0 }, month, day)
}

#[cfg(test)]
mod tests {
    use super::{Text, compare, date, is_about};

    #[test]
    fn dates_follow_the_calendar() {
        for (at, wanted) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_709_251_199, "2024-02-29"),
            (1_785_196_800, "2026-07-28"),
        ] {
            assert_eq!(date(at), wanted);
        }
    }

    #[test]
    fn present_times_are_detected() {
        let now = 1_785_196_800;
        for text in [
            "it is 2026-07-28T00:00:00Z",
            "1785196790",
            "at 1785196790123 ms",
            "Tue Jul 28 10:00:01 2026",
            "Sunday",
            "at 5:59 PM",
            "12:35:07 in 2026",
        ] {
            assert!(is_about(text, now), "{text}");
        }
        for text in
            ["2025-01-31", "12", "0123456789", "2026", "on Sunday we rest", "at 12:30", "1:2", "1785196790123456"]
        {
            assert_eq!(is_about(text, now), text.len() == 16, "{text}");
        }
    }

    #[test]
    fn a_pattern_keeps_the_common_parts() {
        assert_eq!(compare("all is well", "all is well"), Text::Same);
        assert_eq!(compare("pid 12 (a+b)", "pid 999 (a+b)"), Text::Like("^pid [0-9]+ \\(a\\+b\\)$".to_owned()));
        assert_eq!(compare("id 7d44-ab12", "id 9dc0-11d1"), Text::Like("^id [0-9a-f]+-[0-9a-f]+$".to_owned()));
        let clock = "^made at [0-9]+:[0-9]+:[0-9]+ [A-Za-z]+$";
        assert_eq!(compare("made at 8:12:10 AM", "made at 8:12:12 AM"), Text::Like(clock.to_owned()));
        let (one, other) = ("a1".repeat(30), "b2".repeat(30));
        assert_eq!(compare(&one, &other), Text::Other);
        assert_eq!(compare("good morning", "good night"), Text::Other);
        assert_eq!(compare("one", "one two"), Text::Other);
    }
}

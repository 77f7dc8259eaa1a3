//! The files of the served directory at one moment, and what became of them by the next.

use serde_json::{Value, json};
use wire::Revision;
use wire::revision::R2025_06_18;

use super::media;

/// A file.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// From the directory on, with slashes.
    pub(crate) path: String,
    /// By which it is read.
    pub(crate) uri: String,
    /// In bytes.
    pub(super) size: u64,
    /// When it last changed, in seconds of Unix time.
    pub(super) modified: i64,
    /// Differs where anything about the file does.
    pub(super) state: u64,
}

/// Every file, by path.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) entries: Vec<Entry>,
    pub(super) left_out: LeftOut,
}

/// What is there and not listed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// Names that are not UTF-8.
    pub(super) unnameable: usize,
    /// Folders that may not be read.
    pub(super) unreadable: usize,
    /// Folders too deep in others.
    pub(super) deep: usize,
    /// Whether there are too many files.
    pub(super) more: bool,
}

impl LeftOut {
    /// In words, where it is anything.
    pub(super) fn told(&self) -> Option<String> {
        let mut words = Vec::new();
        for (count, what) in [
            (self.unnameable, "with a name that is not UTF-8 (rename it)"),
            (self.unreadable, "that may not be read (a folder)"),
            (self.deep, "that lies too deep (a folder)"),
        ] {
            if count > 0 {
                words.push(format!("{count} {what}"));
            }
        }
        if self.more {
            words.push("all beyond the most that are listed (serve a smaller directory)".to_owned());
        }
        (!words.is_empty()).then(|| format!("not served of the directory: {}", words.join(", ")))
    }
}

/// What changed from one listing to the next.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changes<'a> {
    /// Whether files came or went.
    pub(super) list: bool,
    /// The URIs of files that are new or not what they were.
    pub(super) files: Vec<&'a str>,
}

impl Listing {
    /// The file at `path`.
    pub(crate) fn find(&self, path: &str) -> Option<&Entry> {
        let index = self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok()?;
        self.entries.get(index)
    }

    /// What became of `before`.
    pub(super) fn since(&self, before: &Self) -> Changes<'_> {
        let mut files = Vec::new();
        let mut added = 0;
        for entry in &self.entries {
            let old = before.find(&entry.path);
            added += usize::from(old.is_none());
            if old.is_none_or(|old| old.state != entry.state) {
                files.push(entry.uri.as_str());
            }
        }
        let list = added > 0 || self.entries.len() < before.entries.len();
        Changes { list, files }
    }
}

impl Entry {
    /// The file as `resources/list` describes it in `revision`.
    pub(crate) fn describe(&self, revision: Revision) -> Value {
        let mut value = json!({ "uri": self.uri, "name": self.path });
        if let Some(media) = media::of(&self.path) {
            value["mimeType"] = json!(media);
        }
        value["size"] = json!(self.size);
        if let Some(modified) = timestamp(self.modified).filter(|_| revision.at_least(R2025_06_18)) {
            value["annotations"] = json!({ "lastModified": modified });
        }
        value
    }
}

/// The last second of the year 9999: what comes after has no four-digit year.
const LAST: i64 = 253_402_300_799;

/// ISO 8601, in UTC; `None` before 1970, where no file is from.
fn timestamp(seconds: i64) -> Option<String> {
    if !(0..=LAST).contains(&seconds) {
        return None;
    }
    let (mut days, time) = (seconds / 86_400, seconds % 86_400);
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let mut year = 1970;
    while days >= 365 + i64::from(leap(year)) {
        days -= 365 + i64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + i64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    let (hours, minutes, seconds) = (time / 3600, time / 60 % 60, time % 60);
    Some(format!("{year}-{:02}-{:02}T{hours:02}:{minutes:02}:{seconds:02}Z", month + 1, days + 1))
}

#[cfg(test)]
mod tests {
    use super::timestamp;

    #[test]
    fn seconds_become_dates() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (super::LAST, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(timestamp(seconds).as_deref(), Some(date));
        }
        assert_eq!(timestamp(-1), None);
        assert_eq!(timestamp(super::LAST + 1), None);
    }
}

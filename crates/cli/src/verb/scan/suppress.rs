//! `.proof/scan.toml`: findings that a person accepted, each with a reason and a date until which that holds.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;

use crate::exit::{Exit, usage};
use crate::format::scan::Accepted;
use crate::verb::{given_file, output};

/// Where they are looked for.
const DEFAULT: &str = ".proof/scan.toml";

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    suppress: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    fingerprint: String,
    reason: String,
    expires: toml_edit::Datetime,
}

/// What was accepted.
#[derive(Default)]
pub(super) struct Suppressions {
    file: File,
}

impl Suppressions {
    /// Reads the file that is given, or the usual one where it exists.
    pub(super) fn read(path: Option<&Path>) -> Result<Self, Exit> {
        let (path, is_given) = path.map_or((Path::new(DEFAULT), false), |path| (path, true));
        if !is_given && !path.exists() {
            return Ok(Self::default());
        }
        let shown = output::shown(path);
        let text = given_file::text(path, 4 << 20)
            .map_err(|error| usage(&format!("cannot read {shown}: {error}"), "check the path and its permissions"))?;
        let file: File = toml_edit::de::from_str(&text).map_err(|error| wrong(&shown, error.message()))?;
        for entry in &file.suppress {
            if entry.reason.trim().is_empty() {
                return Err(wrong(&shown, &format!("the suppression of {} has no reason", entry.fingerprint)));
            }
            if entry.expires.date.is_none() {
                return Err(wrong(&shown, &format!("`expires` of {} is no date", entry.fingerprint)));
            }
        }
        Ok(Self { file })
    }

    /// The same, with which of them are past their date.
    pub(super) fn judge(&self) -> Vec<Accepted> {
        let today = today(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO));
        let accepted = |entry: &Entry| {
            let expires = entry.expires.date.map(|date| date.to_string()).unwrap_or_default();
            Accepted {
                fingerprint: entry.fingerprint.clone(),
                reason: entry.reason.clone(),
                is_expired: expires < today,
                expires,
            }
        };
        self.file.suppress.iter().map(accepted).collect()
    }
}

/// The date of a time, as suppressions have it.
fn today(since_epoch: Duration) -> String {
    wire::timestamp::rfc3339(since_epoch).chars().take(10).collect()
}

fn wrong(shown: &str, why: &str) -> Exit {
    let what = format!("{shown} is invalid: {}", wire::escape::line(why));
    usage(&what, "each [[suppress]] has `fingerprint`, `reason`, and `expires = 2027-01-31`")
}

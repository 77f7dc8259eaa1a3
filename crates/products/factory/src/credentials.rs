//! Credentials by reference: a variable of the environment, or a file.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use oauth::Secret;
use serde::Deserialize;

use crate::error::SetupError;

/// How long a credential may be, in bytes.
const LONGEST: u64 = 64 << 10;

/// Where a credential is.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reference {
    env: Option<String>,
    file: Option<PathBuf>,
}

impl Reference {
    pub(crate) const fn new(env: Option<String>, file: Option<PathBuf>) -> Self {
        Self { env, file }
    }

    /// The credential, which is on one line. `place` is where the reference stands; files are looked for below `folder`.
    pub(crate) fn read(&self, place: &str, folder: &Path) -> Result<Secret, SetupError> {
        let (from, text) = self.text(place, folder)?;
        let text = text.trim_end_matches(['\r', '\n']);
        if text.is_empty() || text.chars().any(char::is_control) {
            let what = format!("{place}: {from} is empty, or holds line breaks");
            return Err(SetupError::new(what, "a credential on one line"));
        }
        Ok(Secret::new(text))
    }

    /// The same for a credential that may have several lines, such as a private key.
    pub(crate) fn read_whole(&self, place: &str, folder: &Path) -> Result<Secret, SetupError> {
        let (from, text) = self.text(place, folder)?;
        if text.trim().is_empty() {
            return Err(SetupError::new(format!("{place}: {from} is empty"), "a private key"));
        }
        Ok(Secret::new(text))
    }

    /// Where the credential came from, and its text.
    fn text(&self, place: &str, folder: &Path) -> Result<(String, String), SetupError> {
        match (&self.env, &self.file) {
            (Some(name), None) => {
                let name = wire::escape::line(name).into_owned();
                let text = std::env::var(&name);
                let advice = "export it, then run the command again";
                let text =
                    text.map_err(|_| SetupError::new(format!("{place}: the variable {name} is not set"), advice));
                Ok((name, text?))
            }
            (None, Some(file)) => {
                let name = wire::escape::line(&file.display().to_string()).into_owned();
                let unread =
                    |why: String| SetupError::new(format!("{place}: {name} cannot be read: {why}"), "another path");
                let text = read_file(&folder.join(file)).map_err(unread)?;
                Ok((name, text))
            }
            _ => Err(SetupError::new(format!("{place} names no credential"), "`env: VARIABLE` or `file: PATH`")),
        }
    }
}

fn read_file(path: &Path) -> Result<String, String> {
    let file = net::open_regular(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).map_err(|error| error.to_string())?;
    Ok(text)
}

//! Values that stand elsewhere: `from_env` and `from_file`. An error names the variable or the file, never what it holds.

use std::env::VarError;
use std::io::{self, Read as _};
use std::path::Path;

use document::{Content, Entry, Position, quoted};

use super::Reader;

/// The maximum size of a file with a value, in bytes.
const MAX_VALUE_BYTES: usize = 64 << 10;

const MEMBERS: &[&str] = &["from_env", "from_file", "prefix"];

/// Where values come from.
#[derive(Clone, Copy)]
pub(super) struct Sources<'s> {
    /// The value of an environment variable.
    pub(super) variable: &'s dyn Fn(&str) -> Result<String, VarError>,
    /// What a file holds; of a large one at least a byte more than [`MAX_VALUE_BYTES`].
    pub(super) file: &'s dyn Fn(&Path) -> io::Result<Vec<u8>>,
}

/// Reads a regular file, and no more of it than needed.
pub(super) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    net::open_regular(path)?.take(MAX_VALUE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Reader<'_> {
    /// A text, or the value that a reference stands for; with the place to report what is wrong with it.
    pub(super) fn value(&mut self, entry: &Entry) -> Option<(String, Position)> {
        let name = quoted(&entry.key);
        match &entry.node.content {
            Content::Text(text) => return Some((text.clone(), entry.at)),
            Content::Map(_) => {}
            _ => {
                let example = "a text, { from_env: NAME } or { from_file: PATH }";
                self.wrong_type(&name, entry.at, &entry.node, "a text or a reference", example);
                return None;
            }
        }
        let members = self.members(&name, entry.at, &entry.node, MEMBERS)?;
        let prefix = match members.get("prefix").map(|prefix| (prefix, &prefix.node.content)) {
            None => "",
            Some((_, Content::Text(prefix))) => prefix,
            Some((prefix, _)) => {
                self.wrong_type("`prefix`", prefix.at, &prefix.node, "a text", "a text: \"Bearer \"");
                ""
            }
        };
        let (reference, value) = match (members.get("from_env"), members.get("from_file")) {
            (Some(variable), None) => (variable, self.variable(variable)?),
            (None, Some(file)) => (file, self.file(file)?),
            (Some(_), Some(_)) => {
                self.error(entry.at, format!("{name} has both `from_env` and `from_file`"), "keep one of them");
                return None;
            }
            (None, None) => {
                if !members.has_unknown {
                    let what = format!("{name} has neither `from_env` nor `from_file`");
                    self.error(entry.at, what, "add one of them, or write a text");
                }
                return None;
            }
        };
        Some((format!("{prefix}{value}"), reference.at))
    }

    fn variable(&mut self, entry: &Entry) -> Option<String> {
        let name = self.text(entry)?;
        // The error holds the value if it is not Unicode.
        let (problem, remedy) = match (self.sources.variable)(name) {
            Ok(value) if !value.is_empty() => return Some(value),
            Ok(_) => ("is empty", "set it to a value before the gateway starts"),
            Err(VarError::NotPresent) => ("is not set", "set it before the gateway starts"),
            Err(VarError::NotUnicode(_)) => ("is not UTF-8 text", "set it to a text"),
        };
        self.error(entry.at, format!("the environment variable {} {problem}", quoted(name)), remedy);
        None
    }

    fn file(&mut self, entry: &Entry) -> Option<String> {
        let path = self.folder.join(self.text(entry)?);
        let name = path.display().to_string();
        let bytes = match (self.sources.file)(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let what = format!("cannot read the file `{name}`: {error}");
                self.error(entry.at, what, "check the path and its permissions");
                return None;
            }
        };
        if bytes.len() > MAX_VALUE_BYTES {
            self.error(
                entry.at,
                format!("the file `{name}` is larger than 64 KiB"),
                "a file that holds only the value",
            );
            return None;
        }
        let Ok(mut text) = String::from_utf8(bytes) else {
            self.error(entry.at, format!("the file `{name}` is not UTF-8 text"), "a file that holds only the value");
            return None;
        };
        let value = text.strip_suffix('\n').map_or(text.as_str(), |line| line.strip_suffix('\r').unwrap_or(line));
        text.truncate(value.len());
        if text.is_empty() {
            self.error(entry.at, format!("the file `{name}` is empty"), "write the value to it");
            return None;
        }
        Some(text)
    }
}

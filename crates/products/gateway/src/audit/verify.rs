//! Verifies the audit log in a folder, without the gateway that wrote it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::chain::{Flaw, Link, read};
use super::files::{MOST_UNSIGNED, Piece, for_each_line, log_files};
use super::signing::VerifyingKey;

/// What a log is found to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// How many files it has.
    pub files: usize,
    /// How many lines.
    pub lines: u64,
    /// How many of them are records of requests that have ended.
    pub requests: u64,
    /// The number of the first line: more than 0 where older files are gone.
    pub first: u64,
    /// How many signatures there are; they were verified if a key was given.
    pub signatures: u64,
    /// How many lines come after the last signature; of a log without signatures, all lines.
    pub unsigned: u64,
    /// How many lines before that no signature vouches for: a gateway that was killed had not signed them.
    pub never_signed: u64,
    /// How many records the log says are missing.
    pub lost: u64,
    /// How often a gateway went on although the one before had not closed the log: it was killed, or lines were removed.
    pub not_closed_before: u64,
    /// Whether the last line says that the log ended as it should. A gateway that still writes has not ended it, and one that
    /// was killed has not either. Lines that somebody removed at the end look the same.
    pub is_closed: bool,
    /// How many bytes come after the last whole line.
    pub incomplete_bytes: usize,
    /// The last line.
    pub last: Option<Link>,
}

/// Why a log is not what was written.
#[derive(Debug)]
pub enum VerifyError {
    /// It cannot be read.
    Unreadable(io::Error),
    /// There is no log.
    Missing,
    /// A line is not what it was.
    Line {
        /// The file.
        file: PathBuf,
        /// The line in it, from 1.
        line: u64,
        /// What is wrong.
        flaw: Flaw,
    },
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "the audit log cannot be read: {error}"),
            Self::Missing => f.write_str("the folder holds no audit log"),
            Self::Line { file, line, flaw } => write!(f, "{flaw} – {}:{line}", file.display()),
        }
    }
}

impl std::error::Error for VerifyError {}

impl From<io::Error> for VerifyError {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// Reads the log of `folder` from its first line to its last. With a `key`, every signature must be one by it, and there must
/// be as many as a gateway writes.
pub fn verify(folder: &Path, key: Option<&VerifyingKey>) -> Result<Verified, VerifyError> {
    let found = log_files(folder)?;
    let mut verified = Verified { files: found.len(), ..Verified::default() };
    let mut expected = None::<u64>;
    for (index, (number, path)) in found.iter().enumerate() {
        let mut line = 0;
        let flawed = |line, flaw| VerifyError::Line { file: path.clone(), line, flaw };
        if expected.is_some_and(|expected| expected != *number) {
            return Err(flawed(1, Flaw::Order));
        }
        expected = number.checked_add(1);
        for_each_line(&net::open_regular(path)?, |piece| {
            line += 1;
            let text = match piece {
                // Nothing comes after what is not complete.
                Piece::Line(text) if verified.incomplete_bytes == 0 => text,
                // A gateway that writes at this moment has not come to the end of the last line.
                Piece::End(rest) if index + 1 == found.len() && verified.lines > 0 => {
                    verified.incomplete_bytes = rest.len();
                    verified.is_closed = false;
                    return Ok(());
                }
                _ => return Err(flawed(line, Flaw::Form)),
            };
            let (members, link) = read(text, verified.last.as_ref()).map_err(|flaw| flawed(line, flaw))?;
            // The first line of the first file is the first of all.
            if verified.lines == 0 && *number == 1 && link.number != 0 {
                return Err(flawed(line, Flaw::Order));
            }
            verified.take(&members, link, key).map_err(|flaw| flawed(line, flaw))
        })?;
    }
    if verified.lines == 0 {
        return Err(VerifyError::Missing);
    }
    Ok(verified)
}

impl Verified {
    /// Takes the next line, unless it is a signature that does not fit, or one of too many without.
    fn take(&mut self, members: &Value, link: Link, key: Option<&VerifyingKey>) -> Result<(), Flaw> {
        let text = |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default();
        let kind = text("kind");
        if self.lines == 0 {
            self.first = link.number;
        }
        self.lines += 1;
        match kind {
            "request" => self.requests += 1,
            "lost" => self.lost += members.get("records").and_then(Value::as_u64).unwrap_or_default(),
            "resumed" => {
                // What is signed from here on says nothing of the lines that the gateway found.
                self.never_signed += std::mem::take(&mut self.unsigned);
                self.not_closed_before += u64::from(!self.is_closed && self.lines > 1);
            }
            _ => {}
        }
        self.unsigned += 1;
        if kind == "signed" {
            if key.is_some_and(|key| !key.verifies(text("before"), text("signature"))) {
                return Err(Flaw::Signature);
            }
            self.signatures += 1;
            self.unsigned = 0;
        }
        if key.is_some() && self.unsigned > MOST_UNSIGNED {
            return Err(Flaw::Unsigned);
        }
        // The line that ends a log is signed after it was written.
        self.is_closed = kind == "closed" || (self.is_closed && kind == "signed");
        self.last = Some(link);
        Ok(())
    }
}

#[cfg(test)]
mod tests;

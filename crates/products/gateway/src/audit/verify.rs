//! Verifies the audit log in a folder, without the gateway that wrote it.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::chain::{Flaw, Link, read};
use super::files::{for_each_line, of};
use super::signing::VerifyingKey;

/// What a log is found to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// How many files it has.
    pub files: usize,
    /// How many lines.
    pub lines: u64,
    /// How many of them are records of requests.
    pub requests: u64,
    /// The number of the first line: more than 0 where older files are gone.
    pub first: u64,
    /// How many signatures there are; they were verified if a key was given.
    pub signatures: u64,
    /// How many lines come after the last signature, or all where there is none.
    pub unsigned: u64,
    /// How many records the log says are missing.
    pub lost: u64,
    /// Whether the last line says that the log ended as it should. A gateway that still writes has not ended it, and one that
    /// was killed has not either. Lines that somebody cut off at the end look the same.
    pub is_closed: bool,
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

/// Reads the log of `folder` from its first line to its last. With a `key`, every signature must be one by it.
pub fn verify(folder: &Path, key: Option<&VerifyingKey>) -> Result<Verified, VerifyError> {
    let found = of(folder)?;
    let mut verified = Verified { files: found.len(), ..Verified::default() };
    let mut expected = None;
    for (index, (number, path)) in found.iter().enumerate() {
        let mut line = 0;
        let flawed = |line, flaw| VerifyError::Line { file: path.clone(), line, flaw };
        if expected.is_some_and(|expected| expected != *number) {
            return Err(flawed(1, Flaw::Order));
        }
        expected = Some(number + 1);
        for_each_line(&File::open(path)?, |text, is_whole| {
            line += 1;
            // A gateway that writes at this moment has not come to the end of the last line.
            if !is_whole && index + 1 == found.len() && line > 1 {
                verified.is_closed = false;
                return Ok(());
            }
            let (members, link) = read(text, verified.last.as_ref()).map_err(|flaw| flawed(line, flaw))?;
            if !is_whole {
                return Err(flawed(line, Flaw::Form));
            }
            if !verified.take(&members, link, key) {
                return Err(flawed(line, Flaw::Signature));
            }
            Ok(())
        })?;
    }
    if verified.lines == 0 {
        return Err(VerifyError::Missing);
    }
    Ok(verified)
}

impl Verified {
    /// Takes the next line; `false` where it is a signature that does not fit.
    fn take(&mut self, members: &Value, link: Link, key: Option<&VerifyingKey>) -> bool {
        let text = |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default();
        let mut fits = true;
        if self.lines == 0 {
            self.first = link.number;
        }
        self.lines += 1;
        self.unsigned += 1;
        match text("kind") {
            "request" => self.requests += 1,
            "lost" => self.lost += members.get("records").and_then(Value::as_u64).unwrap_or_default(),
            "signed" => {
                // Where older files are gone, the first line may sign what is gone.
                let signs = text("before");
                fits = key.is_none_or(|key| key.verifies(signs, text("signature")));
                self.signatures += 1;
                self.unsigned = 0;
            }
            _ => {}
        }
        // The line that ends a log is signed after it was written.
        self.is_closed = text("kind") == "closed" || (self.is_closed && text("kind") == "signed");
        self.last = Some(link);
        fits
    }
}

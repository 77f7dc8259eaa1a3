//! Answers on stdout, messages on stderr, and how the program ends.

use std::fmt;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use report::render::text::{WIDTH, wrap};

/// Prints an answer; an end of the reader is no error.
pub(crate) fn print(text: &str) {
    let mut stdout = std::io::stdout().lock();
    for line in text.lines() {
        if writeln!(stdout, "{}", wire::escape::line(line)).is_err() {
            return;
        }
    }
}

/// Prints a message for people.
pub(crate) fn tell(text: &str) {
    let mut stderr = std::io::stderr().lock();
    for line in text.lines() {
        let _ = writeln!(stderr, "{}", wire::escape::line(line));
    }
}

/// Prints an answer, or writes it to a file that only its owner can read.
pub(crate) fn deliver(output: Option<&Path>, text: &str) -> Result<(), Failure> {
    let Some(path) = output else {
        print(text);
        return Ok(());
    };
    written(path, text, None)
}

/// Writes a file that is there with other content. It keeps its rights.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    // A link stays a link.
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let rights = std::fs::metadata(&real).ok().map(|metadata| metadata.permissions());
    written(&real, text, rights)
}

fn written(path: &Path, text: &str, rights: Option<std::fs::Permissions>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::usage(format!("{} cannot be written: {error}", path.display()), "a path in a folder that exists")
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A file that is replaced is whole at every moment; a temporary one is readable by its owner alone.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    if let Some(rights) = rights {
        file.as_file().set_permissions(rights).map_err(failed)?;
    }
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Lines that are too long broken at spaces, each after the blanks with which it begins. The others keep their columns.
pub(crate) fn wrapped(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let shown = wire::escape::line(line);
        if shown.chars().count() <= WIDTH {
            out.push_str(shown.trim_end());
            out.push('\n');
        } else {
            wrap(&mut out, line.len() - line.trim_start().len(), &shown);
        }
    }
    out
}

/// A JSON document, harmless on a terminal.
pub(crate) fn json(value: &serde_json::Value) -> String {
    format!("{}\n", wire::escape::json(&serde_json::to_string_pretty(value).unwrap_or_default()))
}

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// As wanted.
    Clean,
    /// Something is not as wanted.
    Finding,
    /// No server answered.
    NoAnswer,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Clean => 0,
            Exit::Finding => 1,
            Exit::NoAnswer => 3,
        })
    }
}

/// Why the program ends early.
#[derive(Debug)]
pub(crate) struct Failure {
    text: String,
    code: u8,
}

impl Failure {
    /// The command line, a file or the store cannot be used.
    pub(crate) fn usage(what: impl fmt::Display, remedy: &str) -> Self {
        Self { text: format!("error: {what}\n  try: {remedy}"), code: 2 }
    }

    /// A file has mistakes, or the store cannot be used: the text says what to do.
    pub(crate) fn said(text: impl fmt::Display) -> Self {
        Self { text: text.to_string(), code: 2 }
    }

    /// Something that no user can correct.
    pub(crate) fn bug(what: impl fmt::Display) -> Self {
        Self { text: format!("error: {what}"), code: 4 }
    }

    /// A signal of this number: 128 more, as shells have it.
    pub(crate) fn signal(number: u8) -> Self {
        let text = "interrupted: results that are there are kept; `proof fleet run` goes on";
        Self { text: text.to_owned(), code: 128 + number }
    }

    /// Prints it, broken at spaces so that it fits a terminal.
    pub(crate) fn exit(&self) -> ExitCode {
        tell(&wrapped(&self.text));
        ExitCode::from(self.code)
    }
}

impl From<fleet_store::StoreError> for Failure {
    fn from(error: fleet_store::StoreError) -> Self {
        Self::said(format!("error: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn only_lines_that_are_too_long_are_broken() {
        let columns = "  init       Write a file\n";
        assert_eq!(wrapped(columns), columns);
        let long = wrapped(&format!("  {}", "word ".repeat(30)));
        assert!(long.lines().all(|line| line.len() <= 80 && line.starts_with("  word")), "{long}");
    }
}

//! Messages for people on stderr, and the exit codes: 1 for something that was found wrong, 2 for a wrong
//! command line or file, 4 for a bug.

use std::io::Write as _;
use std::process::ExitCode;

/// Prints one message; control characters and the like are escaped, line by line.
pub(crate) fn tell(text: &str) {
    let mut stderr = std::io::stderr().lock();
    for line in text.lines() {
        // Nothing can be done where stderr is closed.
        let _ = writeln!(stderr, "{}", wire::escape::line(line));
    }
}

/// Why the program ends early.
#[derive(Debug)]
pub(crate) struct Failure {
    text: String,
    code: u8,
}

impl Failure {
    /// The command line or a file is wrong.
    pub(crate) fn usage(what: String, remedy: &str) -> Self {
        Self { text: format!("error: {what}\n  try: {remedy}"), code: 2 }
    }

    /// What was looked at is not as it should be.
    pub(crate) fn found(what: String, remedy: &str) -> Self {
        Self { text: format!("error: {what}\n  try: {remedy}"), code: 1 }
    }

    /// A file has mistakes, which `errors` lists with what to do.
    pub(crate) const fn file(errors: String) -> Self {
        Self { text: errors, code: 2 }
    }

    /// Something that no user can correct.
    pub(crate) const fn bug(what: String) -> Self {
        Self { text: what, code: 4 }
    }

    /// Prints it.
    pub(crate) fn print(&self) {
        tell(&self.text);
    }

    /// Prints it, and says how the program ends.
    pub(crate) fn exit(&self) -> ExitCode {
        self.print();
        ExitCode::from(self.code)
    }
}

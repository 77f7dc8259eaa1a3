//! What a run of the binary printed, and its exit code.

use std::process::Command;

/// A run that is over.
#[derive(Debug)]
pub(crate) struct Printed {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Printed {
    /// Runs a command to its end; what it prints is UTF-8.
    #[track_caller]
    pub(crate) fn by(command: &mut Command) -> Self {
        let output = command.output().expect("the binary runs");
        let text = |bytes| String::from_utf8(bytes).expect("what it prints is UTF-8");
        // How messages are broken to fit a terminal is tested elsewhere.
        let stderr = text(output.stderr).replace("\n       ", " ").replace("\n      ", " ");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr }
    }
}

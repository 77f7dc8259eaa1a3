//! Another program in the place of this one.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt as _;

/// Becomes `program`: same process, same streams, same environment. Returns only where that fails.
pub fn become_program(program: &OsStr, arguments: &[OsString]) -> io::Error {
    std::process::Command::new(program).args(arguments).exec()
}

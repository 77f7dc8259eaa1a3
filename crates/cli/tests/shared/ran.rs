//! The binary, run to its end in some folder.

use std::path::Path;
use std::process::{Command, Output};

/// The binary.
pub(crate) const PROOF: &str = env!("CARGO_BIN_EXE_proof");

/// `proof` with these arguments, run in a folder.
pub(crate) fn proof(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(PROOF).args(arguments).current_dir(folder).output().expect("the binary runs")
}

/// What it printed, stdout before stderr. It ended with this code.
#[track_caller]
pub(crate) fn ends_with(code: i32, ran: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // How messages are broken to fit a terminal is tested elsewhere.
    let (out, err) = (text(&ran.stdout), text(&ran.stderr).replace("\n       ", " "));
    assert_eq!(ran.status.code(), Some(code), "{out}\n{err}");
    out + &err
}

//! The clock of a process, which a test moves while it runs (`libfaketime`). Times that only go forward stay as they are.

use std::path::{Path, PathBuf};
use std::process::Command;

/// How far a clock jumps.
pub(crate) const JUMPS: [&str; 2] = ["+10m", "-10m"];

#[derive(Clone, Debug)]
pub(crate) struct Clock(PathBuf);

impl Clock {
    pub(crate) fn new(file: PathBuf) -> Self {
        let clock = Self(file);
        clock.set("+0");
        clock
    }

    /// Moves it, as far from the true time as the text says. Seen within a second.
    pub(crate) fn set(&self, offset: &str) {
        // In one step: a file that is half written says something else.
        let new = self.0.with_extension("new");
        std::fs::write(&new, format!("{offset}\n")).expect("a file");
        std::fs::rename(&new, &self.0).expect("a file");
    }

    /// A process that is started so has this clock.
    pub(crate) fn give(&self, command: &mut Command) {
        command.env("LD_PRELOAD", library()).env("FAKETIME_TIMESTAMP_FILE", &self.0);
        command.env("FAKETIME_CACHE_DURATION", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        command.env("FAKETIME_DONT_RESET", "1");
    }
}

/// Where Debian has it.
fn library() -> PathBuf {
    let folders = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let mut files = folders.map(|folder| folder.path().join(Path::new("faketime/libfaketimeMT.so.1")));
    files.find(|file| file.exists()).expect("libfaketime: apt-get install libfaketime")
}

//! A user's folder for one test, and the binary run in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::printed::Printed;

/// A user with a folder and a project in it.
pub(crate) struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("project")).expect("a folder");
        Self { folder }
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// The folder of the project, as the system spells it.
    pub(crate) fn project(&self) -> String {
        std::fs::canonicalize(self.path("project")).expect("a folder").to_string_lossy().into_owned()
    }

    pub(crate) fn put(&self, file: &str, text: &str) {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, text).expect("a file");
    }

    pub(crate) fn text(&self, file: &str) -> String {
        let path = self.path(file);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub(crate) fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.text(file)).expect("JSON")
    }

    /// A command of the binary, in the project, with nothing of our environment but the path.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proof"));
        command.args(arguments).stdin(Stdio::null()).current_dir(self.path("project")).env_clear();
        command.env("HOME", self.folder.path()).env("PATH", std::env::var_os("PATH").expect("a path"));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Printed {
        Printed::by(&mut self.command(arguments))
    }

    /// A run that must go well; gives what it printed.
    #[track_caller]
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}\n{}{}", ran.stdout, ran.stderr);
        ran.stdout
    }
}

pub(crate) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().expect("a file").permissions().mode() & 0o777
}

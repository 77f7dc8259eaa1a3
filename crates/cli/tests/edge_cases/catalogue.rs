//! `proof serve` as the server that is checked: over stdio as a command, over HTTP as a process that ends with the test.

use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::serving::Serving;

/// The binary, as a command line names it.
pub(crate) const PROOF: &str = env!("CARGO_BIN_EXE_proof");

/// A catalogue in a folder that goes with it.
pub(crate) struct Catalogue {
    folder: TempDir,
}

impl Catalogue {
    pub(crate) fn of(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("catalogue.yaml"), text).expect("a file");
        Self { folder }
    }

    /// A path beside the catalogue.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn path(&self) -> String {
        self.beside("catalogue.yaml").to_str().expect("UTF-8").to_owned()
    }

    /// The command that serves it over stdio.
    pub(crate) fn command(&self) -> Vec<String> {
        ["--", PROOF, "serve", "--stdio", "--catalog", &self.path()].map(str::to_owned).to_vec()
    }

    /// Serves it over HTTP.
    pub(crate) fn over_http(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Serving {
        let mut command = Command::new(PROOF);
        command.args(["serve", "--http", "127.0.0.1:0", "--catalog", &self.path()]).args(arguments);
        command.envs(variables.iter().copied());
        Serving::start(&mut command)
    }
}

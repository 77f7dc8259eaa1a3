//! What stands beside the programs in every archive: completions, manual pages, licences, README, the bill of materials.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::binaries::succeed;
use super::{Release, sbom};
use crate::root;

/// Shells, and the file names by which each finds the completions of `proof`.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "proof.bash"),
    ("zsh", "_proof"),
    ("fish", "proof.fish"),
    ("powershell", "_proof.ps1"),
    ("elvish", "proof.elv"),
];
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Writes everything into the folder that holds `bin/` already.
pub(super) fn write(release: &Release) -> anyhow::Result<()> {
    let stage = &release.stage;
    let proof = release.binaries.folder.join("proof");
    let completions = stage.join("completions");
    fs::create_dir_all(&completions)?;
    for (shell, file) in SHELLS {
        let script = Command::new(&proof).args(["completion", shell]).output().context("cannot start proof")?;
        ensure!(script.status.success() && !script.stdout.is_empty(), "proof completion {shell} printed nothing");
        fs::write(completions.join(file), script.stdout)?;
    }
    succeed(Command::new(&proof).args(["man", "--all"]).arg(stage.join("man")))?;
    licences(stage)?;
    fs::copy(root().join("README.md"), stage.join("README.md"))?;
    fs::write(stage.join("sbom.cdx.json"), sbom::made(release.binaries.platform.triple, &release.version)?)?;
    Ok(())
}

/// Copies the licences into a folder.
pub(super) fn licences(folder: &Path) -> anyhow::Result<()> {
    for licence in LICENCES {
        fs::copy(root().join(licence), folder.join(licence)).with_context(|| format!("cannot copy {licence}"))?;
    }
    Ok(())
}

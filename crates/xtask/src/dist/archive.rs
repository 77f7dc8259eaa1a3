//! The archive for people who install by hand, and the checksums of all packages.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;

use super::Release;
use super::binaries::succeed;

/// Makes `proofhouse-VERSION-TRIPLE.tar.gz` with one folder in it.
pub(super) fn make(release: &Release) -> anyhow::Result<PathBuf> {
    let name = format!("proofhouse-{}-{}", release.version, release.binaries.platform.triple);
    let folder = release.out.join("archive").join(&name);
    fs::create_dir_all(&folder)?;
    for entry in fs::read_dir(&release.stage)? {
        let entry = entry?;
        if entry.file_name() != "built" {
            succeed(Command::new("cp").arg("-R").arg(entry.path()).arg(&folder))?;
        }
    }
    let file = release.out.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(release.out.join("archive"));
    if release.binaries.platform.is_linux() {
        // Equal files give an equal archive.
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"]);
    }
    succeed(tar.arg("-czf").arg(&file).arg(&name))?;
    fs::remove_dir_all(release.out.join("archive"))?;
    Ok(file)
}

/// Writes `SHA256SUMS`, as `sha256sum --check` reads it.
pub(super) fn checksums(release: &Release, files: &[PathBuf]) -> anyhow::Result<()> {
    let mut sums = String::new();
    for file in files {
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        for byte in ring::digest::digest(&ring::digest::SHA256, &bytes).as_ref() {
            let _ = write!(sums, "{byte:02x}");
        }
        let _ = writeln!(sums, "  {}", file.file_name().unwrap_or_default().to_string_lossy());
    }
    fs::write(release.out.join("SHA256SUMS"), sums)?;
    Ok(())
}

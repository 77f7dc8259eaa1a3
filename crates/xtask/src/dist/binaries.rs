//! The programs of a release: builds them without shared libraries, or takes those of a folder, and reads what they need of
//! the system.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::platforms::Platform;
use crate::cargo::cargo;
use crate::root;

/// The names of the programs.
pub(super) const PROGRAMS: [&str; 3] = ["proof", "proof-gateway", "proof-fleet"];
/// The profile and the package of each.
const BUILDS: [(&str, &str); 3] = [("release", "cli"), ("gateway", "gateway"), ("release", "fleet")];

/// What a program needs of the C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Needs {
    /// Nothing: it is static.
    Nothing,
    /// A glibc of at least this minor version: 2.x.
    Glibc(u32),
    /// The system's own library, which has no versions here (macOS).
    System,
}

/// The programs of one platform.
pub(super) struct Binaries {
    pub(super) platform: &'static Platform,
    /// The folder that holds them.
    pub(super) folder: PathBuf,
    pub(super) needs: Needs,
}

impl Binaries {
    /// Those in a folder, which are of this machine's platform. Symbols are removed on the way to `stage`.
    pub(super) fn from(folder: &Path, stage: &Path) -> anyhow::Result<Self> {
        let platform = here()?;
        let out = stage.join("bin");
        std::fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
        let mut needs = Needs::Nothing;
        for name in PROGRAMS {
            let (source, copy) = (folder.join(name), out.join(name));
            ensure!(source.is_file(), "{} is missing – build it first, or leave out --from", source.display());
            succeed(Command::new("strip").arg("-o").arg(&copy).arg(&source))?;
            needs = needs.max(needed(platform, &copy)?);
        }
        Ok(Self { platform, folder: out, needs })
    }

    /// A build for a release. On Linux, it is static: it runs with every C library, and in an empty container.
    pub(super) fn build(stage: &Path) -> anyhow::Result<Self> {
        let platform = here()?;
        let target = root().join("target/dist-build");
        for (profile, package) in BUILDS {
            let mut build = cargo();
            build.current_dir(root()).args(["build", "--locked", "--profile", profile, "--package", package]);
            // With a target named, the flags are not those of build scripts and procedural macros.
            build.args(["--target", platform.triple, "--target-dir"]).arg(&target);
            if platform.is_linux() {
                build.env("RUSTFLAGS", "-C target-feature=+crt-static -C relro-level=partial -C link-arg=-Wl,-z,now");
            }
            let status = build.status().context("cannot start cargo")?;
            ensure!(status.success(), "the build of {package} failed");
        }
        let made = target.join(platform.triple);
        let all = stage.join("built");
        std::fs::create_dir_all(&all)?;
        for (program, (profile, _)) in PROGRAMS.into_iter().zip(BUILDS) {
            let from = made.join(profile).join(program);
            std::fs::copy(&from, all.join(program)).with_context(|| format!("cannot copy {}", from.display()))?;
        }
        Self::from(&all, stage)
    }
}

/// This machine's platform.
fn here() -> anyhow::Result<&'static Platform> {
    let said = Command::new("rustc").arg("-vV").output().context("cannot run rustc")?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let triple = said.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    Platform::of(triple).with_context(|| format!("no packages are made for {triple} – add a row to dist/platforms.rs"))
}

/// What a program needs, by the versions of the symbols that it imports.
fn needed(platform: &Platform, program: &Path) -> anyhow::Result<Needs> {
    if !platform.is_linux() {
        return Ok(Needs::System);
    }
    let output = Command::new("readelf").arg("-VW").arg(program).output().context("cannot run readelf (binutils)")?;
    ensure!(output.status.success(), "readelf cannot read {}", program.display());
    Ok(newest_glibc(&String::from_utf8_lossy(&output.stdout)).map_or(Needs::Nothing, Needs::Glibc))
}

/// The newest `GLIBC_2.x` in what readelf prints.
fn newest_glibc(printed: &str) -> Option<u32> {
    let versions = printed.split("GLIBC_2.").skip(1);
    versions.filter_map(|rest| rest.split(|one: char| !one.is_ascii_digit()).next()?.parse().ok()).max()
}

/// Runs a command that must end well. What it prints is shown only if it does not.
pub(super) fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let said = [output.stdout, output.stderr].concat();
    ensure!(
        output.status.success(),
        "{} failed ({}): {}",
        command.get_program().display(),
        output.status,
        String::from_utf8_lossy(&said)
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Needs, newest_glibc};

    #[test]
    fn the_newest_symbol_counts() {
        let printed = "Name: GLIBC_2.9  Flags: none\nName: GLIBC_2.34 Flags: none\nName: GLIBC_2.2.5\nName: GCC_3.0";
        assert_eq!(newest_glibc(printed), Some(34));
        assert_eq!(newest_glibc("No version information found in this file."), None);
        assert!(Needs::Nothing < Needs::Glibc(17));
    }
}

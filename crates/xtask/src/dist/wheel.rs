//! The wheel for pip, pipx and uv: the programs as scripts, without a line of Python.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::binaries::{Needs, PROGRAMS, succeed};
use super::platforms::Platform;
use super::{Release, contents};
use crate::root;

/// The tool of PyPI that packs wheels, and the one version of it that was tried.
const PACKER: &str = "wheel==0.45.1";

/// Makes `proofhouse-VERSION-py3-none-PLATFORM.whl`.
pub(super) fn make(release: &Release) -> anyhow::Result<PathBuf> {
    let folder = release.out.join("wheel");
    let scripts = folder.join(format!("proofhouse-{}.data/scripts", release.version));
    let info = folder.join(format!("proofhouse-{}.dist-info", release.version));
    fs::create_dir_all(&scripts)?;
    fs::create_dir_all(&info)?;
    for program in PROGRAMS {
        fs::copy(release.binaries.folder.join(program), scripts.join(program))?;
    }
    let named = scripts.join("proofhouse");
    fs::copy(root().join("packaging/python/proofhouse.sh"), &named).context("packaging/python/proofhouse.sh")?;
    fs::set_permissions(&named, fs::Permissions::from_mode(0o755))?;
    contents::licences(&info)?;
    let readme = fs::read_to_string(root().join("packaging/python/README.md"))?;
    fs::write(info.join("METADATA"), metadata(&release.version, &readme))?;
    fs::write(info.join("WHEEL"), tags(release.binaries.platform, release.binaries.needs))?;
    let file = pack(release, &folder)?;
    fs::remove_dir_all(folder)?;
    Ok(file)
}

/// Core metadata 2.1: an upload tool refuses a version that it does not know, and the licence expression of 2.4 with it.
fn metadata(version: &str, readme: &str) -> String {
    format!(
        "Metadata-Version: 2.1\nName: proofhouse\nVersion: {version}\n\
         Summary: Check MCP servers and clients against the Model Context Protocol specification\n\
         License: MIT OR Apache-2.0\n\
         Classifier: License :: OSI Approved :: MIT License\n\
         Classifier: License :: OSI Approved :: Apache Software License\nRequires-Python: >=3.8\n\
         Project-URL: Repository, https://github.com/proofhouse/proofhouse\n\
         Description-Content-Type: text/markdown\n\n{readme}"
    )
}

/// The file `WHEEL`, which says where the wheel may be installed.
fn tags(platform: &Platform, needs: Needs) -> String {
    let tags = match needs {
        // Static: also beside musl.
        Needs::Nothing => {
            vec![format!("manylinux_2_17_{}", platform.wheel), format!("musllinux_1_1_{}", platform.wheel)]
        }
        Needs::Glibc(minor) => vec![format!("manylinux_2_{}_{}", minor.max(17), platform.wheel)],
        Needs::System => vec![format!("macosx_11_0_{}", platform.wheel)],
    };
    let tags = tags.iter().map(|tag| format!("Tag: py3-none-{tag}\n")).collect::<Vec<_>>().concat();
    format!("Wheel-Version: 1.0\nGenerator: cargo xtask dist\nRoot-Is-Purelib: false\n{tags}")
}

/// Lets the packer write the file with its record of digests.
fn pack(release: &Release, folder: &Path) -> anyhow::Result<PathBuf> {
    let environment = release.out.join("packer");
    succeed(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let python = environment.join("bin/python");
    succeed(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKER]))?;
    let output =
        Command::new(&python).args(["-m", "wheel", "pack"]).arg(folder).arg("--dest-dir").arg(&release.out).output()?;
    ensure!(output.status.success(), "wheel pack failed: {}", String::from_utf8_lossy(&output.stderr));
    fs::remove_dir_all(environment)?;
    let mut files = fs::read_dir(&release.out)?.flatten().map(|entry| entry.path());
    files.find(|file| file.extension().is_some_and(|end| end == "whl")).context("wheel pack wrote no wheel")
}

#[cfg(test)]
mod tests {
    use super::super::platforms::PLATFORMS;
    use super::{Needs, metadata, tags};

    #[test]
    fn a_wheel_says_which_systems_can_run_it() {
        let of = |needs| tags(&PLATFORMS[0], needs);
        assert!(
            of(Needs::Nothing).ends_with("Tag: py3-none-manylinux_2_17_x86_64\nTag: py3-none-musllinux_1_1_x86_64\n")
        );
        assert!(of(Needs::Glibc(34)).ends_with("Tag: py3-none-manylinux_2_34_x86_64\n"));
        assert!(tags(&PLATFORMS[3], Needs::System).ends_with("Tag: py3-none-macosx_11_0_arm64\n"));
    }

    /// pre-commit installs what `pyproject.toml` at the root names.
    #[test]
    fn pre_commit_installs_the_wheel_of_this_version() {
        let manifest = std::fs::read_to_string(crate::root().join("pyproject.toml")).expect("a file");
        let version = env!("CARGO_PKG_VERSION");
        for line in [format!("version = \"{version}\"\n"), format!("dependencies = [\"proofhouse=={version}\"]\n")] {
            assert!(manifest.contains(&line), "pyproject.toml lacks {line}");
        }
    }

    #[test]
    fn old_and_new_tools_know_the_metadata() {
        let text = metadata("0.1.0", "# Proofhouse\n");
        let (head, readme) = text.split_once("\n\n").expect("a head");
        assert!(head.starts_with("Metadata-Version: 2.1\nName: proofhouse\nVersion: 0.1.0\n"), "{head}");
        // Members of 2.2 and later would contradict the version.
        assert!(!["License-Expression:", "License-File:", "Dynamic:"].iter().any(|new| head.contains(new)), "{head}");
        assert!(head.lines().all(|line| line.contains(": ")) && readme == "# Proofhouse\n");
    }
}

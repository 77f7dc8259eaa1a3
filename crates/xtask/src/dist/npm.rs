//! Two npm packages: `proofhouse`, a launcher that depends on the package of each platform, and the one of this platform with the
//! programs. No script runs at installation.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use serde_json::{Map, Value, json};

use super::binaries::PROGRAMS;
use super::platforms::PLATFORMS;
use super::{Release, contents};
use crate::root;

const DESCRIPTION: &str = "Check MCP servers and clients against the Model Context Protocol specification";
const REPOSITORY: &str = "git+https://github.com/proofhouse/proofhouse.git";

/// Makes both tarballs: the launcher's first.
pub(super) fn make(release: &Release) -> anyhow::Result<[PathBuf; 2]> {
    let folder = release.out.join("npm");
    let launcher = launcher(release, &folder.join("proofhouse"))?;
    let programs = programs(release, &folder.join("platform"))?;
    fs::remove_dir_all(folder)?;
    Ok([launcher, programs])
}

fn launcher(release: &Release, folder: &Path) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(folder.join("bin"))?;
    let source = root().join("packaging/npm");
    fs::copy(source.join("proof.js"), folder.join("bin/proof.js")).context("packaging/npm/proof.js")?;
    fs::copy(source.join("README.md"), folder.join("README.md"))?;
    let platforms: Map<String, Value> =
        PLATFORMS.iter().map(|one| (one.npm_package(), release.version.clone().into())).collect();
    let manifest = json!({
        "name": "proofhouse",
        "version": release.version,
        "description": DESCRIPTION,
        "keywords": ["mcp", "model-context-protocol", "conformance", "testing"],
        "repository": REPOSITORY,
        "license": "MIT OR Apache-2.0",
        "bin": { "proof": "bin/proof.js", "proofhouse": "bin/proof.js" },
        "engines": { "node": ">=18" },
        "optionalDependencies": platforms,
    });
    pack(release, folder, &manifest)
}

fn programs(release: &Release, folder: &Path) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(folder.join("bin"))?;
    for program in PROGRAMS {
        fs::copy(release.binaries.folder.join(program), folder.join("bin").join(program))?;
    }
    let platform = release.binaries.platform;
    let manifest = json!({
        "name": platform.npm_package(),
        "version": release.version,
        "description": format!("proof, proof-gateway and proof-fleet for {} {}; install proofhouse instead", platform.npm.0, platform.npm.1),
        "repository": REPOSITORY,
        "license": "MIT OR Apache-2.0",
        "os": [platform.npm.0],
        "cpu": [platform.npm.1],
        // Yarn must not leave the programs in its archive.
        "preferUnplugged": true,
    });
    pack(release, folder, &manifest)
}

/// Writes the manifest and lets npm pack the folder.
fn pack(release: &Release, folder: &Path, manifest: &Value) -> anyhow::Result<PathBuf> {
    contents::licences(folder)?;
    fs::write(folder.join("package.json"), serde_json::to_string_pretty(manifest)? + "\n")?;
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", "--pack-destination"]).arg(&release.out).current_dir(folder);
    let output = npm.output().context("cannot run npm")?;
    anyhow::ensure!(output.status.success(), "npm pack failed: {}", String::from_utf8_lossy(&output.stderr));
    let file = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(release.out.join(file))
}

//! Installs each package in a clean folder, as its users do and without the network, and does the main job with it.

use std::fs;
use std::net::TcpStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use super::Release;
use super::binaries::{Needs, succeed};
use crate::served::Served;

/// What was made.
pub(super) struct Packages {
    pub(super) archive: PathBuf,
    pub(super) wheel: PathBuf,
    /// The launcher's and the platform's.
    pub(super) npm: [PathBuf; 2],
}

/// Tries all of them; prints a line for each.
pub(super) fn all(release: &Release, packages: &Packages) -> anyhow::Result<()> {
    let place = release.out.join("tried");
    fs::create_dir_all(&place)?;
    timed("archive: unpacked, proof check", || archive(&place, packages))?;
    timed("wheel: pip install, proof check", || wheel(&place, packages))?;
    timed("npm: npm install, proof check", || npm(&place, packages))?;
    timed("npm: SIGTERM to the launcher ends proof serve", || launcher_ends_its_program(&place))?;
    timed("npm: a missing platform package is explained", || missing_platform(&place, packages))?;
    if release.binaries.needs == Needs::Nothing {
        timed("static: proof check in an empty root", || empty_root(&place, release))?;
    }
    fs::remove_dir_all(place)?;
    Ok(())
}

fn timed(what: &str, test: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let begun = Instant::now();
    test().context(what.to_owned())?;
    println!("  {what:<50} {:>5.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// A command with no more of this environment than a user without a Rust toolchain has.
fn clean(program: &Path) -> Command {
    let mut command = Command::new(program);
    let node = which("node").and_then(|node| node.parent().map(|folder| folder.display().to_string()));
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", node.unwrap_or_default());
    command.env_clear().env("PATH", path.trim_start_matches(':')).env("HOME", std::env::temp_dir());
    command
}

fn which(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// The main job: the reference server of the program, over stdio.
pub(super) fn check(program: &Path) -> anyhow::Result<()> {
    let output = clean(program).args(["check", "--transport", "stdio"]).output()?;
    let report = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success() && report.contains("Score 100/100"), "{} check: {report}", program.display());
    Ok(())
}

/// `proof` finds the gateway and the fleet beside itself.
fn other_programs(proof: &Path) -> anyhow::Result<()> {
    for verb in ["gateway", "fleet"] {
        succeed(clean(proof).args([verb, "--version"]))?;
    }
    Ok(())
}

fn archive(place: &Path, packages: &Packages) -> anyhow::Result<()> {
    succeed(Command::new("tar").arg("-C").arg(place).arg("-xzf").arg(&packages.archive))?;
    let name = packages.archive.file_name().unwrap_or_default().to_string_lossy().replace(".tar.gz", "");
    let folder = place.join(name);
    for file in
        ["completions/proof.bash", "man/proof.1", "man/proof-check.1", "sbom.cdx.json", "LICENSE-MIT", "README.md"]
    {
        ensure!(fs::metadata(folder.join(file)).is_ok_and(|file| file.len() > 0), "{file} is missing in the archive");
    }
    check(&folder.join("bin/proof"))?;
    other_programs(&folder.join("bin/proof"))
}

fn wheel(place: &Path, packages: &Packages) -> anyhow::Result<()> {
    let environment = place.join("venv");
    succeed(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let mut pip = Command::new(environment.join("bin/pip"));
    succeed(pip.args(["install", "--quiet", "--no-index", "--disable-pip-version-check"]).arg(&packages.wheel))?;
    check(&environment.join("bin/proof"))?;
    succeed(clean(&environment.join("bin/proofhouse")).arg("--version"))?;
    other_programs(&environment.join("bin/proof"))
}

fn npm(place: &Path, packages: &Packages) -> anyhow::Result<()> {
    let folder = place.join("npm");
    install(&folder, &packages.npm)?;
    check(&folder.join("node_modules/.bin/proof"))?;
    // npx runs what is installed here.
    let npx = which("npx").context("npx is missing")?;
    succeed(clean(&npx).args(["--offline", "proofhouse", "--version"]).current_dir(&folder))?;
    other_programs(&folder.join("node_modules/.bin/proof"))?;
    let failed = clean(&folder.join("node_modules/.bin/proof")).args(["explain", "no.such-rule"]).output()?;
    ensure!(failed.status.code() == Some(2), "the launcher loses the exit code: {}", failed.status);
    Ok(())
}

fn install(folder: &Path, tarballs: &[PathBuf]) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("package.json"), "{ \"private\": true }\n")?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--offline", "--silent", "--no-audit", "--no-fund", "--no-package-lock"]).args(tarballs);
    succeed(npm.current_dir(folder))
}

/// A launcher that dies alone would leave a server that nobody sees.
fn launcher_ends_its_program(place: &Path) -> anyhow::Result<()> {
    let mut launcher = clean(&place.join("npm/node_modules/.bin/proof"));
    launcher.args(["serve", "--http", "127.0.0.1:0"]).process_group(0);
    let served = Served::start(launcher)?;
    let address = served.url().trim_start_matches("http://").split('/').next().unwrap_or_default().to_owned();
    TcpStream::connect(&address).context("the server does not listen")?;
    succeed(Command::new("kill").args(["-TERM", &served.id().to_string()]))?;
    let deadline = Instant::now() + Duration::from_secs(10);
    while TcpStream::connect(&address).is_ok() {
        ensure!(Instant::now() < deadline, "the server outlives its launcher by 10 s");
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn missing_platform(place: &Path, packages: &Packages) -> anyhow::Result<()> {
    let folder = place.join("npm-alone");
    install(&folder, &packages.npm[..1])?;
    let output = clean(&folder.join("node_modules/.bin/proof")).arg("--version").output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(2) && said.contains("is not installed"), "{}: {said}", output.status);
    Ok(())
}

/// Only root may change the root folder: others need `sudo` without a password, as the runners of the release have it.
fn empty_root(place: &Path, release: &Release) -> anyhow::Result<()> {
    let folder = place.join("root");
    fs::create_dir_all(folder.join("tmp"))?;
    fs::copy(release.binaries.folder.join("proof"), folder.join("proof"))?;
    let user = Command::new("id").arg("-u").output().context("cannot run id")?;
    let mut command = Command::new(if user.stdout == b"0\n" { "chroot" } else { "sudo" });
    if user.stdout != b"0\n" {
        command.args(["-n", "chroot"]);
    }
    let output = command.arg(&folder).args(["/proof", "check", "--transport", "stdio"]).env_clear().output()?;
    let report = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "in an empty root: {report}{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

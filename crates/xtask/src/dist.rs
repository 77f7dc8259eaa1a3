//! `cargo xtask dist`: the packages of a release for this machine's platform – archive, npm, wheel, checksums, or crates – and, with `--try`,
//! each of them installed in a clean folder and used. Publishing is the release workflow's.

mod archive;
mod binaries;
mod contents;
mod crates;
mod npm;
mod platforms;
mod sbom;
mod tried;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::words::{Words, help};
use crate::{Verdict, root};

use binaries::{Binaries, Needs};
use tried::Packages;

const USAGE: &str = "usage: cargo xtask dist [--from FOLDER] [--out FOLDER] [--binaries-only] [--try]
       cargo xtask dist --crates [--out FOLDER] [--try]

  --from FOLDER     package the programs in this folder instead of building static ones
  --out FOLDER      where the packages go (default: target/dist; its contents are replaced)
  --binaries-only   only the programs, in bin/
  --crates          package the crates for a registry instead
  --try             install each package in a clean folder, without the network, and use it
                    (crates: build and install the program from them)";

/// A release for one platform.
struct Release {
    version: String,
    binaries: Binaries,
    /// What an archive contains.
    stage: PathBuf,
    out: PathBuf,
}

/// Makes the packages.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let (mut from, mut out) = (None, root().join("target/dist"));
    let (mut binaries_only, mut of_crates, mut tries) = (false, false, false);
    let mut words = Words::of(args, USAGE);
    while let Some(option) = words.option() {
        match option {
            "--from" => from = Some(PathBuf::from(words.value()?)),
            "--out" => out = PathBuf::from(words.value()?),
            "--binaries-only" => binaries_only = true,
            "--crates" => of_crates = true,
            "--try" => tries = true,
            _ => return Err(words.unknown()),
        }
    }
    if of_crates {
        return packaged_crates(&emptied(out)?, tries).map(|()| true);
    }
    let release = prepare(from, out)?;
    println!("{} for {}: {}", release.version, release.binaries.platform.triple, needs(release.binaries.needs));
    if binaries_only {
        return taken_out(&release).map(|()| true);
    }
    contents::write(&release)?;
    let packages =
        Packages { archive: archive::make(&release)?, wheel: wheel::make(&release)?, npm: npm::make(&release)? };
    let files: Vec<PathBuf> = [&packages.archive, &packages.wheel].into_iter().chain(&packages.npm).cloned().collect();
    archive::checksums(&release, &files)?;
    for file in &files {
        let size = fs::metadata(file)?.len();
        println!("  {:<66} {:>5.1} MB", file.file_name().unwrap_or_default().to_string_lossy(), size as f64 / 1e6);
    }
    if tries {
        tried::all(&release, &packages)?;
    }
    fs::remove_dir_all(&release.stage)?;
    Ok(true)
}

/// An empty folder there.
fn emptied(folder: PathBuf) -> anyhow::Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder.canonicalize()?)
}

/// Packages the crates; if they are tried, installs `proof` from them and runs it.
fn packaged_crates(out: &Path, tries: bool) -> anyhow::Result<()> {
    let packages = crates::make(&out.join("crates"), env!("CARGO_PKG_VERSION"))?;
    let count =
        fs::read_dir(&packages)?.flatten().filter(|one| one.path().extension().is_some_and(|end| end == "crate"));
    println!("{} crates packaged in {}", count.count(), packages.display());
    if tries {
        let proof = crates::install(&packages, out)?;
        tried::check(&proof)?;
        println!("installed from them, proof check: ok");
    }
    Ok(())
}

fn prepare(from: Option<PathBuf>, out: PathBuf) -> anyhow::Result<Release> {
    let out = emptied(out)?;
    let stage = out.join("stage");
    fs::create_dir_all(&stage)?;
    let binaries = match from {
        Some(folder) => Binaries::from(&folder, &stage)?,
        None => Binaries::build(&stage)?,
    };
    Ok(Release { version: env!("CARGO_PKG_VERSION").to_owned(), binaries, stage, out })
}

/// Leaves the programs alone.
fn taken_out(release: &Release) -> anyhow::Result<()> {
    fs::rename(&release.binaries.folder, release.out.join("bin"))?;
    fs::remove_dir_all(&release.stage)?;
    Ok(())
}

fn needs(needs: Needs) -> String {
    match needs {
        Needs::Nothing => "static, needs no C library".to_owned(),
        Needs::Glibc(minor) => format!("needs glibc 2.{minor} or later"),
        Needs::System => "needs the system's libraries".to_owned(),
    }
}

//! What `proof --version` prints, and smaller release binaries on Linux: no unwind tables, and functions with the same code
//! once. It knows nothing of the program's code.

use std::env::var;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=no-unwind-tables.ld");
    version();
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    // The release profile alone aborts on a panic; cargo does not pass that setting on.
    if !is("PROFILE", "release") || !is("CARGO_CFG_TARGET_OS", "linux") {
        return;
    }
    let folder = var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo:rustc-link-arg-bins=-Wl,-T,{folder}/no-unwind-tables.ld");
    // rustc links with lld here by default; other linkers may not know the option.
    let has_lld = is("CARGO_CFG_TARGET_ARCH", "x86_64") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if has_lld && var("RUSTC_LINKER").is_err() {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
    }
}

/// Version, commit and target. Other profiles leave the commit out: each commit would rebuild this crate and its tests.
fn version() {
    let (version, target) = (var("CARGO_PKG_VERSION").unwrap_or_default(), var("TARGET").unwrap_or_default());
    let is_release = var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = is_release.then(commit).flatten().map(|commit| format!("{commit}, ")).unwrap_or_default();
    println!("cargo:rustc-env=PROOF_VERSION={version} ({commit}{target})");
}

/// The commit that is checked out; none in an unpacked archive, also where that lies in the repository of somebody else.
fn commit() -> Option<String> {
    let here = Path::new(&var("CARGO_MANIFEST_DIR").ok()?).canonicalize().ok()?;
    let own = Path::new(&git(&["rev-parse", "--show-toplevel"])?).join("crates/cli").canonicalize().ok()?;
    if here != own {
        return None;
    }
    println!("cargo:rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    git(&["rev-parse", "--short=9", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let printed = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| printed.trim().to_owned())
}

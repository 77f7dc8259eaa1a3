//! Makes release binaries on Linux smaller: no unwind tables, and functions with the same code once. It knows nothing of
//! the program's code.

use std::env::var;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=no-unwind-tables.ld");
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

//! Leaves the unwind tables out of release binaries on Linux. It knows nothing of the program's code.

use std::env::var;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=no-unwind-tables.ld");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    // The release profile alone aborts on a panic; cargo does not pass that setting on.
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") {
        let folder = var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{folder}/no-unwind-tables.ld");
    }
}

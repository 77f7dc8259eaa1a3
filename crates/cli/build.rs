//! Keeps the idle memory of a server small. Relocations of the binary are packed where the C library can read them so: the
//! tables of rules and vtables hold some forty thousand pointers, and in the plain form their relocations are a mebibyte. And
//! what a server runs when it starts stands side by side (`layout.ld`): scattered, five mebibytes more of code are mapped.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| set(&format!("CARGO_CFG_TARGET_{name}"));
    if target("OS") == "linux" && target("ENV") == "gnu" && loads_packed_relocations() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    println!("cargo::rerun-if-changed=layout.ld");
    if target("OS") == "linux" && target("ENV") == "gnu" && set("PROFILE") == "release" && has_common_linker() {
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{}/layout.ld", set("CARGO_MANIFEST_DIR"));
    }
}

fn set(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Whether nobody asks for another linker than LLVM's or GNU's, which read such a script.
fn has_common_linker() -> bool {
    let flags = set("CARGO_ENCODED_RUSTFLAGS");
    set("RUSTC_LINKER").is_empty()
        && !["linker=", "fuse-ld=", "link-self-contained"].iter().any(|flag| flags.contains(flag))
}

/// Whether this machine's C library is glibc 2.36 or later.
fn loads_packed_relocations() -> bool {
    let Ok(output) = Command::new("getconf").arg("GNU_LIBC_VERSION").output() else { return false };
    let version = String::from_utf8_lossy(&output.stdout);
    let numbers = version.trim().strip_prefix("glibc ").and_then(|v| v.split_once('.'));
    let number = |text: &str| text.split('.').next().and_then(|n| n.parse::<u32>().ok());
    numbers.and_then(|(major, minor)| Some((number(major)?, number(minor)?))) >= Some((2, 36))
}

//! Packs the relocations of the binary where the C library can read them so: the tables of rules and vtables hold some forty
//! thousand pointers, and in the plain form their relocations are a mebibyte of the server's idle memory.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" && loads_packed_relocations() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Whether this machine's C library is glibc 2.36 or later.
fn loads_packed_relocations() -> bool {
    let Ok(output) = Command::new("getconf").arg("GNU_LIBC_VERSION").output() else { return false };
    let version = String::from_utf8_lossy(&output.stdout);
    let numbers = version.trim().strip_prefix("glibc ").and_then(|v| v.split_once('.'));
    let number = |text: &str| text.split('.').next().and_then(|n| n.parse::<u32>().ok());
    numbers.and_then(|(major, minor)| Some((number(major)?, number(minor)?))) >= Some((2, 36))
}

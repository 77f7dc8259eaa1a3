//! Cargo, called from within a task that cargo itself runs.

use std::process::Command;

/// Cargo without the variables that `cargo run` sets for `xtask` (its folder, name and version). The build script of `ring`
/// watches them, so each switch between `cargo` and `cargo xtask` would rebuild `ring` and all crates that depend on it.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let told = |name: &str| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix));
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(told) {
            cargo.env_remove(name);
        }
    }
    cargo
}

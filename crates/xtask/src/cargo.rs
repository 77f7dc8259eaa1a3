//! Cargo, called from within a task that cargo itself runs.

use std::process::Command;

/// Cargo with the environment of our caller: what `cargo run` tells `xtask` about itself (its folder, name and version) is left
/// out. Build scripts that watch such variables would take every call for a change, and `ring` and all that needs it would be
/// built anew.
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

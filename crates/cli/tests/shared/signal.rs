//! Signals to processes that a test started.

use std::process::{Child, Command};

/// Sends a signal, by its name.
#[track_caller]
pub(crate) fn send(name: &str, child: &Child) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

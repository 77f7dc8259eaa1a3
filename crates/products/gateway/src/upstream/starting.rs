//! How programs behind the gateway are started: what of the environment they get, and what they may reach.

use net::{Children, OpenError};

use crate::settings::{Target, UpstreamSettings};

/// The handle that starts the program of an upstream. Fails where its sandbox is required and this system has none.
pub(super) fn children(settings: &UpstreamSettings, all: &Children) -> Result<Children, OpenError> {
    let Target::Command { command, inherit, limits } = &settings.target else { return Ok(all.clone()) };
    let upstream = settings.name.as_str();
    if limits.memory.is_some() && !cfg!(target_os = "linux") {
        tracing::warn!(upstream, "memory is limited on Linux only");
    }
    let children = all.inheriting(inherit);
    let Some(sandbox) = &limits.sandbox else { return Ok(children) };
    if let Some(why) = sandbox.refusal() {
        return Err(OpenError::NotStarted { at: command.to_string(), why });
    }
    for gap in sandbox.gaps() {
        tracing::warn!(upstream, "the sandbox does not restrict {} on this system", gap.as_str());
    }
    Ok(children.within(sandbox.clone()))
}

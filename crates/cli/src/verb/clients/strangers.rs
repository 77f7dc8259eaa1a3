//! Servers that a stranger describes: what would run or be contacted is shown before it is.

use clients::{Launch, Scope};

use super::list::{Entry, launched};
use super::machine::{answer, is_terminal};
use super::target::Target;
use crate::exit::{Exit, prompt, tell};

/// Shows what a `server.json` asks for.
pub(super) fn show(target: &Target) {
    for launch in &target.launches {
        let (verb, pairs, kind) = match launch {
            Launch::Stdio { env, .. } => ("runs", env, "variable"),
            Launch::Remote { headers, .. } => ("contacts", headers, "header"),
        };
        tell(format_args!("{} {verb}: {}", target.name, wire::escape::line(&launched(launch))));
        for (name, value) in pairs {
            tell(format_args!("  {kind} {}: {}", wire::escape::line(name), wire::escape::line(value)));
        }
    }
}

/// Asks whether it may be added; without a terminal it is added, and not started.
pub(super) fn agreed() -> Result<bool, Exit> {
    if !is_terminal() {
        return Ok(true);
    }
    prompt("Add it? [y/N] ");
    Ok(matches!(answer()?.as_str(), "y" | "Y" | "yes"))
}

/// Whether an entry may be started: the author of a project wrote its entries.
pub(super) fn may_start(entry: &Entry, trusts_project: bool) -> Result<bool, Exit> {
    if entry.scope != Scope::Project || trusts_project {
        return Ok(true);
    }
    if !is_terminal() {
        return Ok(false);
    }
    let how = wire::escape::line(&launched(&entry.launch)).into_owned();
    prompt(&format!("The project's file for {} says: {how}\nStart it? [y/N] ", entry.client.id));
    Ok(matches!(answer()?.as_str(), "y" | "Y" | "yes"))
}

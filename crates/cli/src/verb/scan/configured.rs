//! Scans the servers of configurations: of those that are given, or of all clients that are found.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::Path;

use guard::scan::{Item, Scanner};
use report::render::text::count;

use super::{clients, config, live};
use crate::args::scan::ScanArgs;
use crate::exit::{Exit, usage};
use crate::run::Run;
use crate::verb::output;

/// Scans a configuration that is given. Says which exit code servers that could not be read ask for.
pub(super) fn given(
    run: &Run,
    args: &ScanArgs,
    path: &Path,
    scanner: &mut Scanner,
    notes: &mut Vec<String>,
) -> Result<Option<Exit>, Exit> {
    let entries = config::read(path)?;
    for entry in &entries {
        scanner.item(&entry.server, &entry.item());
    }
    if args.start {
        return Ok(live::entries(run, args, &entries, scanner));
    }
    notes.push(not_started(entries.len(), &output::shown(path)));
    Ok(None)
}

/// Scans the configuration of every client that has one. A file that cannot be read makes the scan incomplete.
pub(super) fn everywhere(
    run: &Run,
    args: &ScanArgs,
    scanner: &mut Scanner,
    notes: &mut Vec<String>,
) -> Result<Option<Exit>, Exit> {
    let remedy = "give a configuration: proof scan --config FILE";
    let Some(places) = clients::places(|name| std::env::var_os(name)) else {
        return Err(usage("HOME is not set, so there is no place to look for configurations", remedy));
    };
    let looked = format!("{} known places of {}", places.len(), count(clients::names().len(), "client"));
    let (mut found, mut all, mut unreadable) = (Vec::new(), Vec::new(), Vec::new());
    for place in places.iter().filter(|place| exists(&place.path)) {
        let shown = output::shown(&place.path);
        let entries = match config::open(&place.path) {
            Ok(entries) => entries,
            Err(unread) => {
                unreadable.push(unread.what);
                continue;
            }
        };
        for entry in &entries {
            // The client tells files apart in which the same server stands.
            let item = Item { name: place.client.to_owned(), ..entry.item() };
            scanner.item(&entry.server, &item);
        }
        found.push(format!("{} ({shown}): {}", place.client, count(entries.len(), "server")));
        all.extend(entries);
    }
    if all.is_empty() {
        let nothing = format!("no configuration with an MCP server is in any of {looked}");
        let what: Vec<_> = std::iter::once(nothing).chain(found).chain(unreadable).collect();
        return Err(usage(&what.join("; "), remedy));
    }
    notes.push(format!("Looked at {looked}: {}.", clients::names().join(", ")));
    notes.extend(found.iter().map(|what| format!("Found {what}.")));
    for what in unreadable {
        scanner.note_incomplete(what);
    }
    if !args.start {
        notes.push(not_started(all.len(), "these configurations"));
        return Ok(None);
    }
    let mut seen = HashSet::new();
    all.retain(|entry| seen.insert((entry.server.clone(), entry.value.to_string())));
    Ok(live::entries(run, args, &all, scanner))
}

/// Whether something is there; what may not be looked at is.
fn exists(path: &Path) -> bool {
    let absent = |kind| matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory);
    path.metadata().map_or_else(|error| !absent(error.kind()), |_| true)
}

fn not_started(servers: usize, place: &str) -> String {
    let servers = count(servers, "server");
    format!("{servers} of {place} not started: launch commands and configuration alone were scanned (--start).")
}

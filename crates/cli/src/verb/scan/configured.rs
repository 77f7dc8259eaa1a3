//! The servers of configurations: of those that are given, or of all clients that are found.

use std::collections::HashSet;
use std::path::Path;

use clients::{Client, clients};
use guard::scan::{Item, Scanner};
use report::render::text::count;

use super::config::Entry;
use super::{config, live};
use crate::args::scan::ScanArgs;
use crate::exit::{Exit, usage};
use crate::run::Run;
use crate::verb::clients::machine::{Machine, exists};
use crate::verb::output;

/// The servers of a configuration, or of those of all clients. They are read before anything is scanned: the secrets of one may
/// stand in what another says.
pub(super) struct Configured {
    /// Each server, and what is scanned of it without starting it.
    entries: Vec<(Entry, Item)>,
    /// What they are of, in words.
    place: String,
    notes: Vec<String>,
    unreadable: Vec<String>,
}

impl Configured {
    /// Those of a configuration that is given.
    pub(super) fn given(path: &Path) -> Result<Self, Exit> {
        let entries = config::read(path)?;
        let entries = entries.into_iter().map(with_item).collect();
        Ok(Self { entries, place: output::shown(path), notes: Vec::new(), unreadable: Vec::new() })
    }

    /// Those of every client that has a configuration. A file that cannot be read makes the scan incomplete.
    pub(super) fn everywhere() -> Result<Self, Exit> {
        let remedy = "give a configuration: proof scan --config FILE";
        let machine = Machine::here()?;
        let files =
            |client: &'static Client| machine.variables.all_files(client).into_iter().map(move |path| (client, path));
        let places: Vec<_> = clients().iter().flat_map(files).collect();
        let looked = format!("{} known places of {}", places.len(), count(clients().len(), "client"));
        let (mut found, mut all, mut unreadable) = (Vec::new(), Vec::new(), Vec::new());
        for (client, path) in places.iter().filter(|(_, path)| exists(path)) {
            let shown = output::shown(path);
            let entries = match config::open(path) {
                Ok(entries) => entries,
                Err(unread) => {
                    unreadable.push(unread.what);
                    continue;
                }
            };
            found.push(format!("{} ({shown}): {}", client.id, count(entries.len(), "server")));
            // The client tells files apart in which the same server stands.
            let of_client = |entry: Entry| {
                let item = Item { name: client.id.clone(), ..entry.item() };
                (entry, item)
            };
            all.extend(entries.into_iter().map(of_client));
        }
        if all.is_empty() {
            let nothing = format!("no configuration with an MCP server is in any of {looked}");
            let what: Vec<_> = std::iter::once(nothing).chain(found).chain(unreadable).collect();
            return Err(usage(&what.join("; "), remedy));
        }
        let names: Vec<_> = clients().iter().map(|client| client.id.as_str()).collect();
        let mut notes = vec![format!("Looked at {looked}: {}.", names.join(", "))];
        notes.extend(found.iter().map(|what| format!("Found {what}.")));
        Ok(Self { entries: all, place: "these configurations".to_owned(), notes, unreadable })
    }

    /// The servers.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().map(|(entry, _)| entry)
    }

    /// Scans them. Says which exit code servers that could not be read ask for.
    pub(super) fn scan(
        &self,
        run: &Run,
        args: &ScanArgs,
        scanner: &mut Scanner,
        notes: &mut Vec<String>,
    ) -> Option<Exit> {
        for (entry, item) in &self.entries {
            scanner.item(&entry.server, item);
        }
        notes.extend(self.notes.iter().cloned());
        for what in &self.unreadable {
            scanner.note_incomplete(what.clone());
        }
        if !args.start {
            notes.push(not_started(self.entries.len(), &self.place));
            return None;
        }
        // A server may stand in several files.
        let mut seen = HashSet::new();
        let once: Vec<_> =
            self.entries().filter(|entry| seen.insert((entry.server.as_str(), entry.value.to_string()))).collect();
        live::entries(run, args, &once, scanner, notes)
    }
}

fn with_item(entry: Entry) -> (Entry, Item) {
    let item = entry.item();
    (entry, item)
}

fn not_started(servers: usize, place: &str) -> String {
    let servers = count(servers, "server");
    format!("{servers} of {place} not started: launch commands and configuration alone were scanned (--start).")
}

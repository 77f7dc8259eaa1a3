//! `proof list`: the servers of all clients, and what is wrong with their entries. Starts nothing.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use clients::findings::{Issue, Known, Machine as Facts, issues};
use clients::policy::Policy;
use clients::scope::{Candidate, Standing, standings};
use clients::{Client, Launch, Scope, plan, text};
use report::render::text::{Paint, count, wrap};
use serde_json::{Value, json};
use wire::redact::Secrets;

use super::files;
use super::machine::Machine;
use super::outcome::Refused;
use super::secrets::{self, is_secret};
use super::unset::{Finder, Unset};
use super::write::{refused_file, unreadable};
use crate::args::clients::ListArgs;
use crate::exit::{self, Exit, tell};
use crate::format::painted;
use crate::run::Run;
use crate::verb::output;

/// An entry of a client.
pub(super) struct Entry {
    pub(super) client: &'static Client,
    pub(super) scope: Scope,
    pub(super) path: PathBuf,
    pub(super) project: Option<String>,
    pub(super) name: String,
    pub(super) launch: Launch,
    /// The entry as it stands in the file.
    pub(super) value: Value,
    /// Variables that it needs, and that are not set here.
    pub(super) unset: Vec<Unset>,
}

/// All entries of these clients, and the files that cannot be read. Conceals what is secret in them.
pub(super) fn entries(run: &Run, machine: &Machine, clients: &[&'static Client]) -> (Vec<Entry>, Vec<Refused>) {
    let (mut entries, mut refused, mut known) = (Vec::new(), Vec::new(), Secrets::default());
    for client in clients {
        for place in machine.places(client) {
            let content = files::read(&place.path);
            let value = match &content {
                Ok(content) => text::read(content.as_deref().unwrap_or_default(), client.format)
                    .map_err(|error| refused_file(&place.path, &error)),
                Err(error) => Err(unreadable(&place.path, error)),
            };
            let value = match value {
                Ok(value) => value,
                Err(one) => {
                    refused.push(one);
                    continue;
                }
            };
            for what in plan::misfits(client, place.scope, &value) {
                let place = output::shown(&place.path);
                refused.push(Refused { place, what, remedy: "correct it in an editor".to_owned(), is_drift: false });
            }
            let content = content.ok().flatten().unwrap_or_default();
            let unset = Finder::new(client, &place.path, &content);
            for held in plan::held(client, place.scope, &value) {
                secrets::add(&held.value, &mut known);
                let Some(launch) = Launch::of_entry(&held.value) else { continue };
                let unset = unset.find(&held);
                let (scope, path, project, name) = (held.scope, place.path.clone(), held.project, held.name);
                entries.push(Entry { client, scope, path, project, name, launch, value: held.value, unset });
            }
        }
    }
    exit::conceal(run.redactor_of(&known).masked());
    (entries, refused)
}

/// Lists them.
pub(crate) fn run(run: &Run, args: &ListArgs) -> Exit {
    listed(run, args).unwrap_or_else(|exit| exit)
}

fn listed(run: &Run, args: &ListArgs) -> Result<Exit, Exit> {
    args.to.check(&[])?;
    let machine = Machine::here()?;
    let (entries, refused) = entries(run, &machine, &Machine::named(&args.client)?);
    let notes = notes(&machine, &entries);
    if args.json {
        args.to.write(&format!("{}\n", wire::escape::json(&document(&entries, &notes, &refused))))?;
    } else {
        args.to.write(&table(&entries, &notes, args.to.paint()))?;
        for one in &refused {
            tell(format_args!("error: {}: {}\n  try: {}", one.place, one.what, one.remedy));
        }
    }
    Ok(if refused.is_empty() { Exit::Clean } else { Exit::Finding })
}

/// What there is to say of each entry.
fn notes(machine: &Machine, entries: &[Entry]) -> Vec<Vec<String>> {
    let places: Vec<_> = entries.iter().map(|entry| format!("{} {}", entry.client.id, entry.path.display())).collect();
    let known: Vec<_> = entries
        .iter()
        .zip(&places)
        .map(|(entry, place)| Known { place, name: &entry.name, launch: &entry.launch })
        .collect();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let commands = std::cell::RefCell::new(HashMap::new());
    let has_command =
        |command: &str| *commands.borrow_mut().entry(command.to_owned()).or_insert_with(|| can_start(&paths, command));
    let mut notes: Vec<Vec<String>> = issues(&known, &Facts { has_command: &has_command, is_secret: &is_secret })
        .into_iter()
        .map(|issues| issues.iter().map(words).collect())
        .collect();
    for (notes, entry) in notes.iter_mut().zip(entries) {
        notes.extend(entry.unset.iter().map(Unset::words));
    }
    for (index, scope) in shadowed(machine, entries) {
        notes[index].insert(0, format!("shadowed by the entry of scope {scope}"));
    }
    notes
}

/// Entries that one of a stronger scope hides in this folder.
fn shadowed(machine: &Machine, entries: &[Entry]) -> Vec<(usize, Scope)> {
    let here = machine.local_project();
    let mut found = Vec::new();
    let mut start = 0;
    for group in entries.chunk_by(|one, other| one.client.id == other.client.id) {
        let mut of_here = (start..)
            .zip(group)
            .filter(|(_, entry)| entry.project.as_deref().is_none_or(|project| project == here))
            .collect::<Vec<_>>();
        of_here.dedup_by_key(|(index, _)| *index);
        let candidates: Vec<_> = of_here.iter().map(|(_, entry)| candidate(entry)).collect();
        for ((index, _), standing) in of_here.iter().zip(standings(&candidates, &Policy::default())) {
            if let Standing::Shadowed(scope) = standing {
                found.push((*index, scope));
            }
        }
        start += group.len();
    }
    found
}

/// The value of a variable here.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

pub(super) fn candidate(entry: &Entry) -> Candidate {
    Candidate { name: entry.name.clone(), scope: entry.scope, launch: entry.launch.clone() }
}

/// Whether a command is a file that may be run, here or in the path.
pub(super) fn can_start(paths: &std::ffi::OsStr, command: &str) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let is_program =
        |path: PathBuf| path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    if command.contains('/') {
        return is_program(PathBuf::from(command));
    }
    std::env::split_paths(paths).any(|folder| is_program(folder.join(command)))
}

pub(super) fn words(issue: &Issue) -> String {
    match issue {
        Issue::Unpinned(package) => format!("{package} has no fixed version"),
        Issue::MissingCommand(command) => format!("the command {command} is not found"),
        Issue::ClearSecret(place) => format!("a secret stands in clear in {place}"),
        Issue::Duplicate(names) => format!("the same server as {}", names.join(", ")),
    }
}

/// How a server is reached, in one line.
pub(super) fn launched(launch: &Launch) -> String {
    match launch {
        Launch::Stdio { command, args, .. } => {
            std::iter::once(command).chain(args).cloned().collect::<Vec<_>>().join(" ")
        }
        Launch::Remote { url, .. } => url.clone(),
    }
}

fn table(entries: &[Entry], notes: &[Vec<String>], paint: Paint) -> String {
    let mut text = String::new();
    let name = |entry: &Entry| wire::escape::line(&entry.name).into_owned();
    let widest = |of: &dyn Fn(&Entry) -> usize, most: usize| entries.iter().map(of).max().unwrap_or(0).clamp(4, most);
    let wide = widest(&|entry| name(entry).chars().count(), 24);
    let client = widest(&|entry| entry.client.id.len(), 18);
    for (entry, notes) in entries.iter().zip(notes) {
        let how = wire::escape::line(&launched(&entry.launch)).into_owned();
        let room = 80_usize.saturating_sub(wide + client + 12);
        let how = if how.chars().count() > room {
            format!("{}…", how.chars().take(room.saturating_sub(1)).collect::<String>())
        } else {
            how
        };
        let named = paint.bold(&format!("{:<wide$}", name(entry)));
        let _ = writeln!(text, "{named}  {:<client$}  {:<7} {how}", entry.client.id, entry.scope);
        if let Some(project) = &entry.project {
            wrap(&mut text, 4, &format!("in {}", wire::escape::line(project)));
        }
        for note in notes {
            let mut wrapped = String::new();
            wrap(&mut wrapped, 4, &wire::escape::line(note));
            text += &painted::lines(&wrapped, |line| paint.yellow(line));
        }
    }
    if entries.is_empty() {
        text.push_str("no servers found; `proof add NAME -- COMMAND` adds one\n");
        return text;
    }
    let clients = entries.chunk_by(|one, other| one.client.id == other.client.id).count();
    let issues = notes.iter().map(Vec::len).sum::<usize>();
    let _ = writeln!(
        text,
        "{} in {}, {}",
        count(entries.len(), "entry").replace("entrys", "entries"),
        count(clients, "client"),
        count(issues, "note")
    );
    text
}

fn document(entries: &[Entry], notes: &[Vec<String>], refused: &[Refused]) -> String {
    let servers = entries.iter().zip(notes).map(|(entry, notes)| {
        json!({
            "name": entry.name, "client": entry.client.id, "scope": entry.scope.to_string(), "file": entry.path,
            "project": entry.project, "launch": launched(&entry.launch), "notes": notes,
        })
    });
    let refused = refused.iter().map(|one| json!({ "place": one.place, "what": one.what, "try": one.remedy }));
    let value = json!({
        "schema": "proof.clients-list/1", "servers": servers.collect::<Vec<_>>(), "unreadable": refused.collect::<Vec<_>>(),
    });
    serde_json::to_string_pretty(&value).unwrap_or_default()
}

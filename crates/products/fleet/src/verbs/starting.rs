//! `proof fleet init` and `proof fleet audit`: what is there, before and beside the inventory.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use fleet::configured;
use fleet::words::counted;
use fleet::{imported, repository};
use report::render::text::wrap;
use serde_json::json;

use super::entries::{Entries, configurations, folder_of};
use super::load;
use crate::args::{Format, ImportArgs, InitArgs, ReadArgs};
use crate::tell::{Exit, Failure, json as document, print, replace, tell};

/// `proof fleet init`: an existing file is never overwritten.
pub(crate) fn init(file: &Path, args: &InitArgs) -> Result<Exit, Failure> {
    if !args.folder.is_dir() {
        return Err(Failure::usage(format!("{} is not a folder", args.folder.display()), "the folder of your servers"));
    }
    let mut entries = Entries::default();
    for project in repository::find(&args.folder) {
        entries.add_project(&project);
    }
    entries.know_projects();
    for gateway in &args.gateway {
        entries.add_gateway(gateway, file)?;
    }
    if args.clients {
        entries.add_clients(&args.folder)?;
    }
    if entries.count == 0 {
        let what = format!("no server was found in {}: no {}", args.folder.display(), repository::LOOKED_FOR);
        let remedy = "another folder, --clients for the servers of this user's clients, --gateway for those of a \
                      gateway.yaml, or the file that https://github.com/proofhouse/proofhouse/blob/main/docs/fleet.md \
                      begins with";
        return Err(Failure::usage(what, remedy));
    }
    let owner = super::known_caller();
    let text = first_file(owner.as_deref(), &entries.text);
    // What cannot be read back must not be written.
    fleet::config::Fleet::read(&text, args.folder.clone())
        .map_err(|errors| Failure::bug(format!("the new file has mistakes: {}", errors[0].what)))?;
    write_new(file, &text)?;
    print(&format!("{}: {}", file.display(), counted(entries.count, "server")));
    if owner.is_none() {
        print("no owner is known: take out the `#` before `defaults` and `owner`");
    }
    print("next: proof fleet run");
    Ok(Exit::Clean)
}

/// What an entry may have, for a reader who has never seen one.
const MEMBERS: &str = "\
# Every key: https://github.com/proofhouse/proofhouse/blob/main/docs/fleet.md
# `proof fleet --schema` prints the schema, for editors.
#
# An entry needs a name. What else it may have:
#   command, url, openapi or catalog   how it is reached
#   env: { TOKEN: { env: MY_TOKEN } }  a variable of your shell, never a secret
#   tests: [FOLDER]  files *.mcp.yaml: proof generate -o a.mcp.yaml -- COMMAND
#   lock: FILE       what models are shown: proof lock -o FILE -- COMMAND
#   owner, stage, tags, note
";

/// A first `fleet.yaml`.
fn first_file(owner: Option<&str>, entries: &str) -> String {
    let stage = "stage: conforms  # below it, `proof fleet run` ends with 1";
    let defaults = match owner {
        Some(owner) => format!("defaults:\n  owner: {}\n  # {stage}\n", document::scalar(owner)),
        None => format!("# defaults:\n#   owner: ada@example.com  # needed for the first stage\n#   {stage}\n"),
    };
    format!("{MEMBERS}name: fleet\n{defaults}servers:\n{entries}")
}

fn write_new(file: &Path, text: &str) -> Result<(), Failure> {
    let mut options = std::fs::OpenOptions::new();
    let opened = options.write(true).create_new(true).open(file);
    let failed = |error: std::io::Error| {
        let remedy = "another name with --file, or edit the file that is there";
        Failure::usage(format!("{} cannot be written: {error}", file.display()), remedy)
    };
    opened.map_err(failed)?.write_all(text.as_bytes()).map_err(failed)
}

/// `proof fleet import`: adds servers to the file, or makes one. What is in it stays as it is.
pub(crate) fn import(file: &Path, args: &ImportArgs) -> Result<Exit, Failure> {
    let path = &args.source;
    let remedy = "gateway.yaml, a client's configuration, mcp.servers.yaml, or an inventory (.json, .md)";
    let unreadable = |why: String| Failure::usage(format!("{}: {why}", path.display()), remedy);
    let fleet = if file.exists() { Some(load(file)?) } else { None };
    let folder = folder_of(file).map_err(|error| unreadable(error.to_string()))?;
    let (kind, servers) = imported::read(path, &folder).map_err(unreadable)?;
    let mut entries = fleet.as_ref().map(Entries::of).unwrap_or_default();
    for server in &servers {
        if !entries.add_imported(server) {
            tell(&format!("{} is in the inventory already", server.name));
        }
    }
    if args.print {
        print(&entries.text);
    } else if entries.count > 0 {
        write_added(file, fleet.is_some(), &entries.text)?;
    }
    tell(&format!("{}: {} of this {} added", path.display(), counted(entries.count, "server"), kind.as_str()));
    Ok(Exit::Clean)
}

/// Adds entries to a file, or makes it. What cannot be read back is not written.
fn write_added(file: &Path, exists: bool, entries: &str) -> Result<(), Failure> {
    let by_hand = "proof fleet import --print FILE, and paste the entries";
    let check = |text: &str| {
        fleet::config::Fleet::read(text, std::path::PathBuf::from(".")).map_err(|errors| {
            Failure::usage(format!("the entries do not fit into {}: {}", file.display(), errors[0].what), by_hand)
        })
    };
    if !exists {
        let text = format!(
            "# Every key: https://github.com/proofhouse/proofhouse/blob/main/docs/fleet.md\nservers:\n{entries}"
        );
        check(&text)?;
        return write_new(file, &text);
    }
    let before = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("{} cannot be read: {error}", file.display()), by_hand))?;
    let cannot =
        || Failure::usage(format!("the list of servers in {} is not one entry a line", file.display()), by_hand);
    let text = imported::added(&before, entries).ok_or_else(cannot)?;
    check(&text)?;
    replace(file, &text)
}

/// `proof fleet audit`.
pub(crate) fn audit(file: &Path, args: &ReadArgs) -> Result<Exit, Failure> {
    let fleet = load(args.fleet.as_deref().unwrap_or(file))?;
    let found = configurations(&fleet.folder)?;
    let unlisted = configured::unlisted(&fleet, &found);
    if args.format == Format::Json {
        let server = |list: &Vec<configured::Found>| {
            let places = list.iter().map(|one| json!({ "client": one.client, "name": one.name, "file": one.file }));
            json!({ "launch": list.first().map(|one| configured::shown(&one.launch)), "places": places.collect::<Vec<_>>() })
        };
        let unreadable = found.unreadable.iter().map(|(path, why)| json!({ "file": path, "why": why }));
        print(&document(&json!({
            "schema": "proof.fleet-audit/1", "files": found.files, "entries": found.servers.len(),
            "unlisted": unlisted.values().map(server).collect::<Vec<_>>(), "unreadable": unreadable.collect::<Vec<_>>(),
        })));
    } else {
        let mut out = String::new();
        for list in unlisted.values() {
            let Some(first) = list.first() else { continue };
            wrap(&mut out, 0, &wire::escape::line(&format!("{}: not in the inventory", first.name)));
            wrap(&mut out, 2, &wire::escape::line(&configured::shown(&first.launch)));
            for one in list {
                wrap(&mut out, 2, &wire::escape::line(&format!("{} in {}", one.client, one.file.display())));
            }
        }
        for (path, why) in &found.unreadable {
            wrap(&mut out, 0, &wire::escape::line(&format!("{} cannot be read: {why}", path.display())));
        }
        let _ = writeln!(
            out,
            "{} of clients, {}: {} not in the inventory",
            counted(found.files, "file"),
            counted(found.servers.len(), "server"),
            unlisted.len()
        );
        print(&out);
    }
    // A file that cannot be read may have anything.
    Ok(if unlisted.is_empty() && found.unreadable.is_empty() { Exit::Clean } else { Exit::Finding })
}

//! Entries of `fleet.yaml` from several sources, for `init` and `import`: each server once, under a name that no other has.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fleet::config::Fleet;
use fleet::configured::{self, Configurations, Found};
use fleet::imported::{self, Imported, Kind};
use fleet::repository::Project;

use crate::tell::{Failure, tell};

/// Entries that a file will have.
#[derive(Default)]
pub(super) struct Entries {
    /// As lines of YAML.
    pub(super) text: String,
    pub(super) count: usize,
    /// The names that are taken.
    names: BTreeSet<String>,
    /// What makes each server the same as another.
    identities: BTreeSet<String>,
}

impl Entries {
    /// None yet, for a file that has these.
    pub(super) fn of(fleet: &Fleet) -> Self {
        let names = fleet.servers.iter().map(|server| server.name.clone()).collect();
        Self { names, identities: configured::identities(fleet).into_iter().collect(), ..Self::default() }
    }

    /// Adds a folder with source code.
    pub(super) fn add_project(&mut self, project: &Project) {
        let name = unused(&mut self.names, &project.name);
        let _ = write!(self.text, "  - name: {}\n{}", document::scalar(&name), project.entry);
        self.count += 1;
    }

    /// Takes note of how projects are started: a gateway or a client may start the same ones.
    pub(super) fn know_projects(&mut self) {
        let fleet = Fleet::read(&format!("servers:\n{}", self.text), PathBuf::from("."));
        self.identities.extend(fleet.iter().flat_map(configured::identities));
    }

    /// Adds a server of another file; `false` where it is there already.
    pub(super) fn add_imported(&mut self, server: &Imported) -> bool {
        let is_there = match &server.identity {
            Some(identity) => !self.identities.insert(identity.clone()),
            None => self.names.contains(&server.name),
        };
        if !is_there {
            self.add(&server.name, &server.name, |name| server.entry(name));
        }
        !is_there
    }

    /// Adds the servers behind a gateway.
    pub(super) fn add_gateway(&mut self, gateway: &Path, file: &Path) -> Result<(), Failure> {
        let failed = |what: String, remedy: &str| Failure::usage(format!("{}: {what}", gateway.display()), remedy);
        let unreadable = |why: String| failed(why, "the gateway.yaml of `proof gateway`");
        let folder = folder_of(file).map_err(|error| unreadable(error.to_string()))?;
        let (kind, servers) = imported::read(gateway, &folder).map_err(unreadable)?;
        if kind != Kind::Gateway {
            return Err(failed("it has no `upstreams`".to_owned(), "proof fleet import, which reads other files, too"));
        }
        for server in &servers {
            self.add_imported(server);
        }
        Ok(())
    }

    /// Adds the servers of this user's clients, and those of the project in `folder`.
    pub(super) fn add_clients(&mut self, folder: &Path) -> Result<(), Failure> {
        let found = configurations(folder)?;
        for server in &found.servers {
            let Found { name, client, launch, .. } = server;
            if self.identities.insert(launch.identity()) {
                self.add(name, &format!("{name} of {client}"), |name| configured::entry(name, server));
            }
        }
        for (path, why) in &found.unreadable {
            tell(&format!("warning: {} cannot be read: {why}", path.display()));
        }
        Ok(())
    }

    /// Adds the entry of a server; without one, a warning says why a person must write it.
    fn add(&mut self, wanted: &str, shown: &str, entry: impl FnOnce(&str) -> Result<String, String>) {
        let name = unused(&mut self.names, wanted);
        match entry(&name) {
            Ok(entry) => {
                self.text.push_str(&entry);
                self.count += 1;
            }
            Err(why) => {
                self.names.remove(&name);
                tell(&format!("warning: {shown} is left out: {why}"));
            }
        }
    }
}

/// A name that no other entry has, of the letters that names may have.
fn unused(names: &mut BTreeSet<String>, wanted: &str) -> String {
    let plain: String =
        wanted.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect();
    let plain: String = plain.trim_start_matches(['.', '_', '-']).chars().take(56).collect();
    let plain = if plain.is_empty() { "server".to_owned() } else { plain };
    let taken = |name: &str| names.iter().any(|other| other.eq_ignore_ascii_case(name));
    let name = (2..).map(|number| format!("{plain}-{number}"));
    let name = std::iter::once(plain.clone()).chain(name).find(|name| !taken(name)).unwrap_or(plain);
    names.insert(name.clone());
    name
}

/// What the clients of this user have, and those of the project in `folder`.
pub(super) fn configurations(folder: &Path) -> Result<Configurations, Failure> {
    configured::read(folder).map_err(|why| Failure::usage(why, "export HOME"))
}

/// The folder of a `fleet.yaml`: places in it are relative to that.
pub(super) fn folder_of(file: &Path) -> std::io::Result<PathBuf> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::path::absolute(folder)
}

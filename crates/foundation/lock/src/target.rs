//! Which entries of a lock are of one target, by how it is reached or started. Must not know what the server says of itself:
//! a server chooses its own name.

use crate::{Entry, Identity, Launch, Lock};

impl Lock {
    /// The entries of a target, with their names: the same address, or the same command. Entries with the same variables
    /// outweigh those with others, and the same version of a package outweighs another one.
    pub fn of_target(&self, identity: &Identity, launch: Option<&Launch>) -> Vec<(&String, &Entry)> {
        let is_address = |entry: &Entry| identity.url.is_some() && entry.identity.url == identity.url;
        let is_launch = |entry: &Entry| launch.is_some() && entry.launch.as_ref() == launch;
        let is_command = |entry: &Entry| {
            launch.zip(entry.launch.as_ref()).is_some_and(|(found, locked)| found.command == locked.command)
        };
        let is_package = |entry: &Entry| is_other_version(entry, identity, launch);
        let criteria: [&dyn Fn(&Entry) -> bool; 4] = [&is_address, &is_launch, &is_command, &is_package];
        let entries =
            criteria.iter().map(|is_meant| self.servers.iter().filter(|(_, entry)| is_meant(entry)).collect());
        entries.into_iter().find(|found: &Vec<_>| !found.is_empty()).unwrap_or_default()
    }
}

/// Whether the commands differ in the version of the package alone.
fn is_other_version(entry: &Entry, identity: &Identity, launch: Option<&Launch>) -> bool {
    let package = |identity: &Identity| identity.package.as_deref().map(|purl| unversioned(purl).to_owned());
    let Some((found, locked)) = launch.zip(entry.launch.as_ref()) else { return false };
    let (found, locked) = (&found.command, &locked.command);
    package(identity).is_some()
        && package(identity) == package(&entry.identity)
        && found.len() == locked.len()
        && found.iter().zip(locked).all(|(a, b)| unversioned(a) == unversioned(b))
}

/// A package URL or a word of a command without its version. A scope begins with an at sign, too.
fn unversioned(word: &str) -> &str {
    let word = word.split_once("==").map_or(word, |(name, _)| name);
    match word.rfind('@') {
        Some(at) if at > 0 => &word[..at],
        _ => word,
    }
}

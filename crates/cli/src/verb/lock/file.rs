//! Reads and replaces the lock. Must not know what is in it.

use std::path::Path;

use lock::{Entry, Identity, Launch, Lock};

use crate::exit::{Exit, concealed, usage};
use crate::verb::{given_file, output};

/// The most bytes of a lock.
const LONGEST: u64 = 32 << 20;

/// The lock in a file; `None` where there is no file.
pub(in crate::verb) fn read(path: &Path) -> Result<Option<Lock>, Exit> {
    let shown = output::shown(path);
    let text = match given_file::text(path, LONGEST) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(usage(&format!("cannot read the lock {shown}: {error}"), "check the path and its permissions"));
        }
    };
    let damaged = |why: &dyn std::fmt::Display| {
        let why = wire::escape::line(&why.to_string()).into_owned();
        usage(&format!("the lock {shown} is invalid: {why}"), "restore the file from version control")
    };
    Lock::read(&text).map(Some).map_err(|why| damaged(&why))
}

/// The same, which must exist.
pub(in crate::verb) fn existing(path: &Path) -> Result<Lock, Exit> {
    let missing = || usage(&format!("there is no lock {}", output::shown(path)), "write one with `proof lock`");
    read(path)?.ok_or_else(missing)
}

/// Replaces the lock in one step: a reader sees the old one or the new one. Refuses to write a secret.
pub(in crate::verb) fn write(path: &Path, lock: &Lock) -> Result<(), Exit> {
    let text = lock.to_text();
    if concealed(&text) != text {
        let what = "the server's texts contain a secret that you gave it; a lock is committed";
        return Err(usage(what, "remove the secret from the descriptions of the server"));
    }
    output::replace(path, &text)
}

/// The entry of a name; of a lock with one server, that one.
pub(in crate::verb) fn choose<'l>(lock: &'l Lock, name: Option<&str>) -> Option<(&'l String, &'l Entry)> {
    match name {
        Some(name) => lock.servers.get_key_value(name),
        None if lock.servers.len() == 1 => lock.servers.first_key_value(),
        None => None,
    }
}

/// The entry of a name, or else the one of the target.
pub(in crate::verb) fn of_target<'l>(
    lock: &'l Lock,
    name: Option<&str>,
    identity: &Identity,
    launch: Option<&Launch>,
) -> Result<Option<(&'l String, &'l Entry)>, Exit> {
    if name.is_some() {
        return Ok(choose(lock, name));
    }
    match lock.of_target(identity, launch)[..] {
        [] => Ok(None),
        [entry] => Ok(Some(entry)),
        ref several => {
            let names: Vec<&str> = several.iter().map(|(name, _)| name.as_str()).collect();
            let what = "several servers in the lock have this address or command";
            Err(usage(what, &format!("--name with one of: {}", wire::escape::line(&names.join(", ")))))
        }
    }
}

/// Reports a server that the lock does not know.
pub(in crate::verb) fn unknown(lock: &Lock, path: &Path, name: Option<&str>) -> Exit {
    let shown = output::shown(path);
    let what = match name {
        Some(name) => format!("the lock {shown} has no server `{}`", wire::escape::line(name)),
        None => format!("the lock {shown} has {} servers", lock.servers.len()),
    };
    let names: Vec<&str> = lock.servers.keys().map(String::as_str).collect();
    usage(&what, &format!("--name with one of: {}", wire::escape::line(&names.join(", "))))
}

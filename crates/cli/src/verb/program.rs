//! Other programs of ours, run as verbs: `proof NAME` becomes `proof-NAME` beside this program or on the path.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use net::process::become_program;

use crate::args::FleetArgs;
use crate::exit::{Exit, tell, usage};

/// What to do where `proof-fleet` is missing.
const HOW_TO_INSTALL_FLEET: &str =
    "the npm package, the wheel and the archive contain it; `cargo install proofhouse-fleet`";

/// `proof fleet`.
pub(crate) fn fleet(args: &FleetArgs) -> Exit {
    run("fleet", &args.arguments, HOW_TO_INSTALL_FLEET)
}

/// Becomes `proof-NAME`, and returns only where that fails.
pub(super) fn run(name: &str, arguments: &[OsString], how_to_install: &str) -> Exit {
    let program = format!("proof-{name}");
    let error = become_program(path(&program).as_os_str(), arguments);
    if error.kind() == ErrorKind::NotFound {
        return usage(&format!("the program `{program}` is not installed"), how_to_install);
    }
    tell(format_args!("error: `{program}` cannot be started: {error}"));
    Exit::Bug
}

/// A program of ours: beside this one, or else on the path.
pub(super) fn path(program: &str) -> PathBuf {
    std::env::current_exe().ok().and_then(|own| beside(&own, program)).unwrap_or_else(|| program.into())
}

/// Becomes the program of a verb that this one does not have; `None` if no such program exists.
pub(crate) fn of_unknown_verb(words: &[OsString]) -> Option<Exit> {
    let (verb, arguments) = words.split_first()?;
    let name = verb.to_str().filter(|name| is_name(name))?;
    let program = format!("proof-{name}");
    let own = std::env::current_exe().ok();
    let found = own
        .and_then(|own| beside(&own, &program))
        .or_else(|| on_path(&program, std::env::var_os("PATH")?.as_os_str()))?;
    let error = become_program(found.as_os_str(), arguments);
    tell(format_args!("error: `{program}` cannot be started: {error}"));
    Some(Exit::Bug)
}

/// Whether a verb may name a program: no path and no option.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_plain)
}

/// A program in the folder of `own`, or in the folder next to it that cargo uses for a profile of that name: only below `target`,
/// because elsewhere anybody may have made a folder of that name.
fn beside(own: &Path, program: &str) -> Option<PathBuf> {
    let profile = program.strip_prefix("proof-")?;
    let target = || own.parent()?.parent().filter(|folder| folder.ends_with("target"));
    let built = || Some(target()?.join(profile).join(program));
    [Some(own.with_file_name(program)), built()].into_iter().flatten().find(|path| path.is_file())
}

/// A program on the path; only whole folders count, or another folder's program would run here.
fn on_path(program: &str, path: &OsStr) -> Option<PathBuf> {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{beside, is_name, on_path};

    #[test]
    fn the_program_in_the_same_folder_comes_first() {
        let temporary = tempfile::tempdir().expect("a folder");
        let target = temporary.path().join("target");
        let [release, gateway] = ["release", "gateway"].map(|name| target.join(name));
        for folder in [&release, &gateway] {
            fs::create_dir_all(folder).expect("a folder");
        }
        let own = release.join("proof");
        assert_eq!(beside(&own, "proof-gateway"), None);
        for folder in [gateway, release] {
            fs::write(folder.join("proof-gateway"), "").expect("a file");
            assert_eq!(beside(&own, "proof-gateway"), Some(folder.join("proof-gateway")));
        }
    }

    #[test]
    fn a_folder_next_to_the_own_one_counts_only_where_cargo_builds() {
        let place = tempfile::tempdir().expect("a folder");
        let [bin, other] = ["bin", "gateway"].map(|name| place.path().join(name));
        for folder in [&bin, &other] {
            fs::create_dir(folder).expect("a folder");
        }
        fs::write(other.join("proof-gateway"), "").expect("a file");
        assert_eq!(beside(&bin.join("proof"), "proof-gateway"), None);
        assert_eq!(beside(&bin.join("proof"), "proof-other"), None);
    }

    #[test]
    fn a_verb_is_looked_for_on_the_path_but_not_here() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("proof-x"), "").expect("a file");
        let path = std::env::join_paths(["".as_ref(), "bin".as_ref(), folder.path()]).expect("a path");
        assert_eq!(on_path("proof-x", &path), Some(folder.path().join("proof-x")));
        assert_eq!(on_path("proof-y", &path), None);
        for (name, expected) in
            [("fleet", true), ("my-verb2", true), ("../x", false), ("-x", false), ("", false), ("A", false)]
        {
            assert_eq!(is_name(name), expected, "{name}");
        }
    }
}

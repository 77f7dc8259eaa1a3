//! A write that is killed at each step, and what stays of a file.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;

use super::{Access, Quiet, Step, Steps, replace};

const OLD: &str = "{ \"old\": true }\n";
const NEW: &str = "{ \"new\": true, \"longer\": \"than before\" }\n";
/// Set where a test below runs as a child of itself: at which step to be killed, and in which file.
const AT: &str = "PROOF_TEST_KILLED_AT";
const FILE: &str = "PROOF_TEST_KILLED_FILE";

/// Ends its own process as `kill -9` does.
struct Killer(String);

impl Steps for Killer {
    fn reached(&mut self, step: Step) {
        if format!("{step:?}") == self.0 {
            let _ = Command::new("kill").args(["-9", &std::process::id().to_string()]).status();
            std::thread::sleep(std::time::Duration::from_mins(1));
        }
    }
}

#[test]
fn a_write_that_is_killed_at_any_step_leaves_the_old_file_or_the_new() {
    if let (Ok(step), Ok(file)) = (std::env::var(AT), std::env::var(FILE)) {
        replace(Path::new(&file), Some(OLD), Some(NEW), Access::Usual, &mut Killer(step)).expect("it is written");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mcp.json");
    for (step, text) in [
        ("Started", OLD),
        ("Created", OLD),
        ("HalfWritten", OLD),
        ("Written", OLD),
        ("Synced", OLD),
        ("Compared", OLD),
        ("Renamed", NEW),
        ("FolderSynced", NEW),
    ] {
        std::fs::write(&file, OLD).expect("a file");
        let mut child = Command::new(std::env::current_exe().expect("a path"));
        let name = "verb::clients::files::tests::a_write_that_is_killed_at_any_step_leaves_the_old_file_or_the_new";
        let ran = child.args(["--exact", name]).env(AT, step).env(FILE, &file).output().expect("it runs");
        assert_eq!(ran.status.signal(), Some(9), "{step}: {ran:?}");
        assert_eq!(std::fs::read_to_string(&file).expect("a file"), text, "{step}");
    }
    // The next write removes what the killed ones left.
    std::fs::write(&file, OLD).expect("a file");
    replace(&file, Some(OLD), Some(NEW), Access::Usual, &mut Quiet).expect("it is written");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn the_mode_and_a_link_stay_and_a_changed_file_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (real, link) = (folder.path().join("real.json"), folder.path().join("mcp.json"));
    let mode = |path: &Path| path.metadata().expect("a file").permissions().mode() & 0o777;
    std::fs::write(&real, OLD).expect("a file");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).expect("permissions");
    symlink("real.json", &link).expect("a link");
    replace(&link, Some(OLD), Some(NEW), Access::Private, &mut Quiet).expect("it is written");
    assert!(link.symlink_metadata().expect("a link").is_symlink());
    assert_eq!((mode(&real), std::fs::read_to_string(&real).expect("a file").as_str()), (0o640, NEW));
    let error = replace(&link, Some(OLD), Some("x"), Access::Usual, &mut Quiet).expect_err("it was changed");
    assert!(error.to_string().contains("another program changed the file"), "{error}");
    assert_eq!(std::fs::read_to_string(&real).expect("a file"), NEW);
    let new = folder.path().join("deep/er/new.json");
    replace(&new, None, Some(NEW), Access::Private, &mut Quiet).expect("it is written");
    assert_eq!(mode(&new), 0o600);
    // A link to what is not there yet makes it.
    let ahead = folder.path().join("ahead.json");
    symlink("not/yet.json", &ahead).expect("a link");
    replace(&ahead, None, Some(NEW), Access::Usual, &mut Quiet).expect("it is written");
    assert_eq!(std::fs::read_to_string(folder.path().join("not/yet.json")).expect("a file"), NEW);
    assert!(replace(&new, None, Some("x"), Access::Private, &mut Quiet).is_err(), "it exists now");
    replace(&new, Some(NEW), None, Access::Private, &mut Quiet).expect("it is removed");
    assert!(!new.exists());
}

#[test]
fn what_is_no_regular_file_or_may_not_be_written_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (pipe, guarded) = (folder.path().join("pipe"), folder.path().join("guarded.json"));
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("it runs").success());
    let error = super::read(&pipe).expect_err("a pipe");
    assert!(error.to_string().contains("no regular file"), "{error}");
    std::fs::write(&guarded, OLD).expect("a file");
    std::fs::set_permissions(&guarded, std::fs::Permissions::from_mode(0o444)).expect("permissions");
    let error = replace(&guarded, Some(OLD), Some(NEW), Access::Usual, &mut Quiet).expect_err("read-only");
    assert!(error.to_string().contains("may not write it"), "{error}");
    assert_eq!(std::fs::read_to_string(&guarded).expect("a file"), OLD);
    let (linked, other) = (folder.path().join("linked.json"), folder.path().join("other.json"));
    std::fs::write(&linked, OLD).expect("a file");
    std::fs::hard_link(&linked, &other).expect("a link");
    let error = replace(&linked, Some(OLD), Some(NEW), Access::Usual, &mut Quiet).expect_err("a hard link");
    assert!(error.to_string().contains("has 2 names"), "{error}");
    assert_eq!(std::fs::read_to_string(&linked).expect("a file"), OLD);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 4, "nothing is left over");
    let new = folder.path().join("new.json");
    replace(&new, None, Some(NEW), Access::Mode(0o644), &mut Quiet).expect("it is written");
    assert_eq!(super::mode(&new), Some(0o644));
}

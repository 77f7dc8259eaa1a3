//! What is on the way to a file is exchanged, over and over, while the file is read: a check before an opening would pass,
//! and the opening lead elsewhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::{Root, Unreadable};

/// A directory to serve, in one with a secret.
fn place() -> (TempDir, PathBuf) {
    let place = TempDir::new().unwrap();
    let served = place.path().join("served");
    fs::create_dir(&served).unwrap();
    fs::create_dir(place.path().join("outside")).unwrap();
    fs::write(place.path().join("outside/file"), "secret").unwrap();
    (place, served)
}

/// Exchanges `way` and `other` until it is over.
fn exchange(served: &Path, over: &AtomicBool) {
    let [way, other, aside] = ["way", "other", "aside"].map(|name| served.join(name));
    let begun = Instant::now();
    while !over.load(Ordering::Relaxed) && begun.elapsed() < Duration::from_secs(30) {
        for (from, to) in [(&way, &aside), (&other, &way), (&way, &other), (&aside, &way)] {
            fs::rename(from, to).unwrap();
        }
    }
}

/// Reads until it was there and not there often enough, and found nothing else. Fails, too, where a read hangs.
fn never_elsewhere(served: PathBuf, path: &'static str) {
    let over = Arc::new(AtomicBool::new(false));
    let exchanging = {
        let (served, over) = (served.clone(), Arc::clone(&over));
        thread::spawn(move || exchange(&served, &over))
    };
    let (done, reading) = mpsc::channel();
    thread::spawn(move || {
        let root = Root::open(&served).unwrap();
        let (mut inside, mut missing) = (0, 0);
        let begun = Instant::now();
        let least = |inside, missing| begun.elapsed() > Duration::from_secs(2) && inside >= 100 && missing >= 100;
        while !least(inside, missing) && begun.elapsed() < Duration::from_secs(20) {
            match root.read(path, 100) {
                Ok(bytes) => {
                    assert_eq!(String::from_utf8_lossy(&bytes), "inside");
                    inside += 1;
                }
                Err(Unreadable::Missing) => missing += 1,
                Err(error) => panic!("{error:?}"),
            }
        }
        done.send((inside, missing)).unwrap();
    });
    let read = reading.recv_timeout(Duration::from_secs(25));
    over.store(true, Ordering::Relaxed);
    exchanging.join().unwrap();
    let (inside, missing) = read.expect("every read ends, with what is inside or nothing");
    assert!(inside > 0 && missing > 0, "nothing was tried: {inside} {missing}");
}

#[test]
fn a_folder_that_becomes_a_link_leads_nowhere() {
    let (place, served) = place();
    fs::create_dir(served.join("way")).unwrap();
    fs::write(served.join("way/file"), "inside").unwrap();
    symlink(place.path().join("outside"), served.join("other")).unwrap();
    never_elsewhere(served, "way/file");
}

#[test]
fn a_file_that_becomes_a_link_leads_nowhere() {
    let (place, served) = place();
    fs::write(served.join("way"), "inside").unwrap();
    symlink(place.path().join("outside/file"), served.join("other")).unwrap();
    never_elsewhere(served, "way");
}

#[test]
fn a_file_that_becomes_a_pipe_is_no_file() {
    let (_place, served) = place();
    fs::write(served.join("way"), "inside").unwrap();
    mknodat(CWD, served.join("other"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    never_elsewhere(served, "way");
}

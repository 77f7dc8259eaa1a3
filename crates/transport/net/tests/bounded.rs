//! A bounded command ends at its bounds, and nothing of it is left.

use std::time::{Duration, Instant};

use net::Children;
use net::process::{Bounds, Command, Ending};
#[cfg(target_os = "linux")]
use tokio::time::{sleep, timeout};

const BOUNDS: Bounds = Bounds { time: Duration::from_secs(20), memory: 256 << 20, processes: 20, output: 1000 };

/// Whether a process with these words runs. Where there is no pgrep, nobody knows.
fn runs(words: &str) -> bool {
    let found = std::process::Command::new("pgrep").args(["-xf", words]).output();
    found.is_ok_and(|found| !found.stdout.is_empty())
}

async fn run(script: &str, bounds: Bounds) -> (Ending, Vec<u8>, bool) {
    let children = Children::new();
    let ended = children.run_bounded(&Command::new("sh", ["-c", script]), bounds).await.expect("a shell");
    (ended.ending, ended.stdout, ended.is_cut)
}

#[tokio::test]
async fn output_is_kept_up_to_its_bound_and_drained_beyond() {
    let (ending, stdout, is_cut) = run("head -c 3000000 /dev/zero; exit 3", BOUNDS).await;
    assert!(matches!(ending, Ending::Exited(status) if status.code() == Some(3)), "{ending:?}");
    assert!(stdout.len() == 1000 && is_cut);
    let (_, stdout, is_cut) = run("printf ok", BOUNDS).await;
    assert!(stdout == b"ok" && !is_cut);
}

#[tokio::test]
async fn a_command_that_runs_too_long_ends_with_all_that_it_started() {
    let start = Instant::now();
    let bounds = Bounds { time: Duration::from_millis(1500), ..BOUNDS };
    // The second one is in a session of its own and ignores TERM.
    let script = "sleep 7101 & setsid sh -c 'trap \"\" TERM; sleep 7102' & trap '' TERM; sleep 7103";
    assert_eq!(run(script, bounds).await.0, Ending::TimeOver);
    assert!(start.elapsed() < Duration::from_secs(12), "{:?}", start.elapsed());
    for words in ["sleep 7101", "sleep 7103"] {
        assert!(!runs(words), "{words}");
    }
    #[cfg(target_os = "linux")]
    assert!(!runs("sleep 7102"));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn too_many_processes_and_too_much_memory_end_a_command() {
    let many = "for i in 1 2 3 4 5 6 7 8 9; do sleep 7104 & done; wait";
    assert_eq!(run(many, Bounds { processes: 5, ..BOUNDS }).await.0, Ending::ProcessesOver);
    assert!(!runs("sleep 7104"));
    // The memory is that of a child.
    let much = "sh -c 'x=$(head -c 120000000 /dev/zero | tr \"\\\\0\" a); sleep 7105'; true";
    assert_eq!(run(much, Bounds { memory: 60 << 20, ..BOUNDS }).await.0, Ending::MemoryOver);
    assert!(!runs("sleep 7105"));
}

/// A worker drops the run of a job whose lease is lost. `proof` starts servers in groups of their own.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_run_that_is_dropped_leaves_nothing_of_its_command() {
    if std::process::Command::new("pgrep").arg("-V").output().is_err() {
        return;
    }
    let children = Children::new();
    let script = "setsid sh -c 'sleep 7106 & sleep 7107' & sleep 7108";
    let command = Command::new("sh", ["-c", script]);
    let mut run = Box::pin(children.run_bounded(&command, BOUNDS));
    let words = ["sleep 7106", "sleep 7107", "sleep 7108"];
    let mut looks = 0;
    while !words.into_iter().all(runs) && looks < 500 {
        looks += 1;
        assert!(timeout(Duration::from_millis(10), &mut run).await.is_err(), "the command goes on");
    }
    assert!(words.into_iter().all(runs), "all were started");
    drop(run);
    let begun = Instant::now();
    while words.into_iter().any(runs) && begun.elapsed() < Duration::from_secs(3) {
        sleep(Duration::from_millis(10)).await;
    }
    for words in words {
        assert!(!runs(words), "{words}");
    }
}

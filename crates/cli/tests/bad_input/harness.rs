//! Runs the binary under a hard time limit and keeps what it printed, how it ended, how much memory it took at most, and
//! which processes it left behind. Does not know what any of that ought to be, but for what holds of every run.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// No run may take longer, whatever happens, unless its test says so.
const PATIENCE: Duration = Duration::from_secs(40);
/// What a run may take at most, in KiB.
const MEMORY: u64 = 300 << 10;
/// The variable by which the processes of one run are told from all others.
const MARK: &str = "PROOF_TEST_RUN";

/// A run that is over.
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
    peak_kib: u64,
    left: Vec<String>,
}

/// `proof check`, ready for more arguments.
pub(crate) fn check(arguments: &[&str]) -> Run {
    proof(&["check"]).and(arguments)
}

/// `proof check --timeout 2 -- sh -c SCRIPT`.
pub(crate) fn check_script(script: &str) -> Run {
    check(&["--timeout", "2", "--", "sh", "-c", script])
}

/// The binary with these arguments.
pub(crate) fn proof(arguments: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof"));
    let starts = ["check", "check-client", "client", "generate", "snapshot", "test"];
    let split = usize::from(arguments.first().is_some_and(|verb| starts.contains(verb)));
    command.args(&arguments[..split]);
    if split == 1 {
        // Processes are found by their mark.
        command.args(["--inherit-env", MARK]);
    }
    command.args(&arguments[split..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env("CI", "1").env_remove("RUST_LOG");
    Run { command, mark: fresh_mark(), patience: PATIENCE }
}

/// A word that no other run has.
fn fresh_mark() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("run-{}-{}-", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// A run to be started.
pub(crate) struct Run {
    command: Command,
    mark: String,
    /// How long it may take.
    pub(crate) patience: Duration,
}

impl Run {
    pub(crate) fn and(mut self, arguments: &[&str]) -> Self {
        self.command.args(arguments);
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs to the end.
    pub(crate) fn run(self) -> Ran {
        self.start().end()
    }

    pub(crate) fn start(mut self) -> Running {
        self.command.env(MARK, &self.mark);
        let mut child = self.command.spawn().expect("the binary starts");
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        Running { child, mark: self.mark, patience: self.patience, begun: Instant::now(), peak_kib: 0, stdout, stderr }
    }
}

/// A run in progress.
pub(crate) struct Running {
    child: Child,
    mark: String,
    patience: Duration,
    begun: Instant,
    peak_kib: u64,
    stdout: JoinHandle<Vec<u8>>,
    stderr: JoinHandle<Vec<u8>>,
}

impl Running {
    /// Sends a signal (its name) to the binary itself.
    pub(crate) fn signal(&self, name: &str) {
        crate::signal::send(name, &self.child);
    }

    /// Waits until the processes of this run, the binary itself not counted, are at least this many.
    pub(crate) fn until_children(&self, count: usize) {
        let end = Instant::now() + PATIENCE;
        // Itself, and whatever it started.
        while marked(&self.mark).len() <= count {
            assert!(Instant::now() < end, "no child was started");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ran {
        let status = loop {
            self.peak_kib = self.peak_kib.max(peak(self.child.id()).unwrap_or(0));
            if let Some(status) = self.child.try_wait().expect("the binary can be waited for") {
                break status;
            }
            if self.begun.elapsed() > self.patience {
                self.child.kill().expect("the binary can be killed");
                let left = kill_marked(&self.mark);
                panic!("still running after {:?}, with {left:?}; stderr: {}", self.patience, text(self.stderr));
            }
            thread::sleep(Duration::from_millis(5));
        };
        let took = self.begun.elapsed();
        let left = kill_marked(&self.mark);
        let (stdout, stderr) = (text(self.stdout), unbroken(&without_progress(&text(self.stderr))));
        Ran { status, stdout, stderr, took, peak_kib: self.peak_kib, left }
    }
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes).expect("the pipe can be read");
        }
        bytes
    })
}

fn text(reader: JoinHandle<Vec<u8>>) -> String {
    String::from_utf8(reader.join().expect("the reader ends")).expect("what it prints is UTF-8")
}

/// Without the lines that say every five seconds how far a check is: on a busy machine there may be some.
fn without_progress(text: &str) -> String {
    let is_progress = |line: &&str| line.split_once(" s: ").is_some_and(|(time, _)| time.parse::<u64>().is_ok());
    text.split_inclusive('\n').filter(|line| !is_progress(line)).collect()
}

/// With the lines of a message joined that were broken to fit a terminal: how they are broken is tested elsewhere.
fn unbroken(text: &str) -> String {
    text.replace("\n       ", " ")
}

/// The most memory that a process ever had, in KiB; `None` where the system does not tell.
fn peak(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").trim().parse().ok()
}

/// The processes that carry the mark in their environment, zombies not counted. None where there is no `/proc`.
fn marked(mark: &str) -> Vec<(String, String)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let ours = paths.filter(|path| {
        std::fs::read(path.join("environ")).is_ok_and(|e| e.windows(mark.len()).any(|w| w == mark.as_bytes()))
    });
    let told = ours.map(|path| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), line)
    });
    told.collect()
}

/// Ends what is left of a run, and tells what that was. What was killed may take a moment to be gone.
fn kill_marked(mark: &str) -> Vec<String> {
    let end = Instant::now() + Duration::from_millis(300);
    while !marked(mark).is_empty() && Instant::now() < end {
        thread::sleep(Duration::from_millis(5));
    }
    let left = marked(mark);
    for (process, _) in &left {
        // Whoever ended by itself meanwhile cannot be killed any more.
        let _ = Command::new("kill").args(["-KILL", process]).stderr(Stdio::null()).status();
    }
    left.into_iter().map(|(process, line)| format!("{process} {line}")).collect()
}

impl Ran {
    /// What holds of every run: this exit code, no panic, nothing left behind, bounded memory, no terminal control.
    #[track_caller]
    pub(crate) fn ends_with(&self, code: i32) -> &Self {
        self.ends_with_at_most(MEMORY, code)
    }

    /// The same with another bound for memory, in KiB.
    #[track_caller]
    pub(crate) fn ends_with_at_most(&self, memory: u64, code: i32) -> &Self {
        let all = self.output();
        assert_eq!(self.status.code(), Some(code), "{all}");
        assert!(!all.contains("panicked") && !all.contains("RUST_BACKTRACE"), "{all}");
        assert!(self.left.is_empty(), "left behind: {:?}\n{all}", self.left);
        assert!(self.peak_kib < memory, "{} MiB\n{all}", self.peak_kib >> 10);
        let control = |c: char| c.is_control() && c != '\n';
        assert!(!all.contains(control), "{all:?}");
        self
    }

    /// There was no MCP answer: code 3, nothing on stdout, and an error that has each of these parts.
    #[track_caller]
    pub(crate) fn found_no_answer(&self, parts: &[&str]) -> &Self {
        self.ends_with(3).says_only(parts)
    }

    /// The command line was wrong: code 2, nothing on stdout, and an error that has each of these parts; at once.
    #[track_caller]
    pub(crate) fn was_misused(&self, parts: &[&str]) -> &Self {
        assert!(self.took < Duration::from_secs(5), "took {:?}", self.took);
        self.ends_with(2).says_only(parts)
    }

    /// Stdout is empty, and stderr one error: what happened, where, what to try.
    #[track_caller]
    pub(crate) fn says_only(&self, parts: &[&str]) -> &Self {
        assert_eq!(self.stdout, "");
        assert!(self.stderr.starts_with("error: "), "{}", self.stderr);
        assert!(self.stderr.contains("\n  try: ") || self.stderr.contains("try '--help'"), "{}", self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "no `{part}` in:\n{}", self.stderr);
        }
        self
    }

    #[track_caller]
    pub(crate) fn within(&self, seconds: u64) -> &Self {
        assert!(self.took < Duration::from_secs(seconds), "took {:?}\n{}", self.took, self.output());
        self
    }

    /// The last line on stdout.
    pub(crate) fn last_line(&self) -> &str {
        self.stdout.lines().last().unwrap_or_default()
    }

    pub(crate) fn output(&self) -> String {
        format!("{:?} after {:?}, {} MiB\n{}{}", self.status, self.took, self.peak_kib >> 10, self.stdout, self.stderr)
    }
}

//! One run of `proof`, from its start to its end: what it printed, how long it took, how much memory it held. And a conversation
//! with one over its standard streams. Knows no verb.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use super::Plan;
use super::target::{memory, signal};

const POLL: Duration = Duration::from_millis(10);
/// A run that holds more MiB, or wrote more bytes, is killed: this machine must survive what is attacked.
const MOST_MEMORY: u64 = 1024;
const MOST_OUTPUT: u64 = 256 << 20;
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A run that ended, by itself or because its time was over.
#[derive(Debug)]
pub(super) struct Ended {
    /// The exit code; `None` after a signal.
    pub(super) code: Option<i32>,
    pub(super) out: Vec<u8>,
    pub(super) err: Vec<u8>,
    pub(super) took: Duration,
    /// The most memory that it held, in MiB.
    pub(super) peak: u64,
    /// It had to be killed.
    pub(super) late: bool,
}

impl Ended {
    /// Both outputs.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&[self.out.as_slice(), b"\n", &self.err].concat()).into_owned()
    }

    /// Fails where it had to be killed, died of a signal, held too much memory or reports a bug of its own.
    pub(super) fn sound(&self, most: u64) -> anyhow::Result<()> {
        ensure!(self.peak <= most, "{} MiB held, at most {most} expected", self.peak);
        ensure!(!self.late, "it had not ended after {:.0} s", self.took.as_secs_f32());
        let code = self.code.context("it died of a signal, or wrote too much and was killed")?;
        ensure!(code != 4 && code != 101, "it reports a bug: {}", brief(&self.err));
        ensure!(!self.text().contains("panicked"), "it panicked: {}", brief(&self.err));
        Ok(())
    }
}

/// The beginning of an output, on one line.
pub(super) fn brief(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(300)]).escape_debug().to_string()
}

/// How one run is made.
pub(super) struct Run<'r> {
    pub(super) args: Vec<String>,
    pub(super) env: Vec<(&'r str, String)>,
    pub(super) folder: &'r Path,
    pub(super) limit: Duration,
}

impl<'r> Run<'r> {
    /// A run with these arguments.
    pub(super) fn new(plan: &'r Plan, args: &[&str], seconds: u64) -> Self {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Self { args, env: Vec::new(), folder: &plan.folder, limit: Duration::from_secs(seconds) }
    }

    /// With a variable of the environment.
    pub(super) fn env(mut self, name: &'r str, value: &str) -> Self {
        self.env.push((name, value.to_owned()));
        self
    }

    /// Runs to the end; when the time is over, the whole group is killed.
    pub(super) fn go(&self, plan: &Plan) -> anyhow::Result<Ended> {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let (out, err) = (plan.folder.join(format!("run-{number}.out")), plan.folder.join(format!("run-{number}.err")));
        let mut command = Command::new(&plan.proof);
        command.args(&self.args).envs(self.env.iter().map(|(name, value)| (name, value))).current_dir(self.folder);
        command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?).process_group(0);
        let mut child = command.spawn().context("cannot start proof")?;
        let (begun, mut peak) = (Instant::now(), 0);
        let mut late = false;
        let status = loop {
            peak = peak.max(memory(child.id(), "VmHWM:").unwrap_or(0));
            if let Some(status) = child.try_wait()? {
                break status;
            }
            let written = |file: &Path| fs::metadata(file).map_or(0, |found| found.len());
            let burst = peak > MOST_MEMORY || written(&out) + written(&err) > MOST_OUTPUT;
            if burst || begun.elapsed() > self.limit {
                late = !burst;
                kill_group(&mut child);
                break child.wait()?;
            }
            sleep(POLL);
        };
        let took = begun.elapsed();
        // What was started along with it must not outlive it.
        kill_group(&mut child);
        let ended = Ended { code: status.code(), out: fs::read(&out)?, err: fs::read(&err)?, took, peak, late };
        let _ = (fs::remove_file(out), fs::remove_file(err));
        Ok(ended)
    }
}

/// Ends the group that a child leads. By the shell's own `kill`: some programs of that name read `-KILL -12345` as "signal 12345
/// to all processes".
fn kill_group(child: &mut Child) {
    let group = child.id().to_string();
    let _ = Command::new("sh").args(["-c", "kill -s KILL -- \"-$1\"", "sh", &group]).stderr(Stdio::null()).status();
    let _ = child.kill();
}

/// A process to talk with over its standard streams.
pub(super) struct Pipe {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
}

impl Pipe {
    /// Starts `proof` with these arguments.
    pub(super) fn start(plan: &Plan, args: &[&str]) -> anyhow::Result<Self> {
        Self::start_with(plan, args, &[])
    }

    /// The same, with variables of the environment.
    pub(super) fn start_with(plan: &Plan, args: &[&str], env: &[(&str, String)]) -> anyhow::Result<Self> {
        let mut command = Command::new(&plan.proof);
        command.args(args).current_dir(&plan.folder).process_group(0);
        command.envs(env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("cannot start proof")?;
        let (input, output) = (child.stdin.take(), child.stdout.take().context("no stdout")?);
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(output);
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, input, lines })
    }

    /// Writes bytes; whether they were taken.
    pub(super) fn send(&mut self, bytes: &[u8]) -> bool {
        self.input.as_mut().is_some_and(|input| input.write_all(bytes).and_then(|()| input.flush()).is_ok())
    }

    /// Closes its input.
    pub(super) fn finish(&mut self) {
        self.input = None;
    }

    /// Lines until one contains `text`, that one included.
    pub(super) fn until(&mut self, text: &str, patience: Duration) -> anyhow::Result<Vec<String>> {
        let (begun, mut seen) = (Instant::now(), Vec::new());
        loop {
            match self.lines.recv_timeout(patience.saturating_sub(begun.elapsed())) {
                Ok(line) => seen.push(String::from_utf8_lossy(&line).into_owned()),
                Err(RecvTimeoutError::Timeout) => anyhow::bail!("{text:?} did not come"),
                Err(RecvTimeoutError::Disconnected) => anyhow::bail!("it closed its output before {text:?}"),
            }
            if seen.last().is_some_and(|line| line.contains(text)) {
                return Ok(seen);
            }
        }
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn signal(&self, name: &str) -> anyhow::Result<()> {
        signal(self.child.id(), name)
    }

    /// Whether it ends within this time.
    pub(super) fn ends_within(&mut self, time: Duration) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < time {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return true;
            }
            sleep(POLL);
        }
        false
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        kill_group(&mut self.child);
        let _ = self.child.wait();
    }
}

//! A child process in a group of its own that cannot outlive us: however we end, killed included, the whole group ends.
//! It knows nothing of what the child is.
//!
//! The child is started through a shell that first starts a watcher, in the same group. The watcher waits on a
//! pipe whose other end only we hold; when that closes, because we dropped it or because we are gone, it kills the group.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Context;

/// How long the watcher may take.
const GRACE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(5);

const WATCHED: &str = r#"exec 3<&0 </dev/null; (read -r _ <&3; kill -KILL 0) & exec 3<&-; exec "$@""#;

/// A running child and the end of the pipe that holds it.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    child: Child,
}

impl ProcessGroup {
    /// Starts a command, its output going to `log`.
    pub(crate) fn start(command: &[String], env: &[(&str, impl AsRef<OsStr>)], log: &File) -> anyhow::Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", WATCHED, "sh"]).args(command).process_group(0).stdin(Stdio::piped());
        shell.envs(env.iter().map(|(name, value)| (name, value.as_ref())));
        shell.stdout(log.try_clone()?).stderr(log.try_clone()?);
        let child = shell.spawn().with_context(|| format!("cannot start {}", command.join(" ")))?;
        Ok(Self { child })
    }

    /// How the child ended, if it did.
    pub(crate) fn ended(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// The child's own id, which is also that of its process group.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // The watcher's KILL cannot be refused, so this is over at once, unless the watcher itself was killed: then the
        // child is all we can still end.
        let begun = Instant::now();
        while begun.elapsed() < GRACE {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            sleep(POLL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! The processes that one run starts, so that all of them can be ended at once. Must not know what they are for.

use std::collections::BTreeSet;
use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

use super::group::Group;
use super::{Command, Environment, Sandbox, orphans};

/// The child processes of one run. Every process is started through such a handle; clones share the same processes.
#[derive(Clone, Debug, Default)]
pub struct Children {
    state: Arc<Mutex<State>>,
    environment: Arc<Environment>,
    sandbox: Option<Arc<Sandbox>>,
}

#[derive(Debug, Default)]
struct State {
    /// The groups that may still have members.
    groups: BTreeSet<i32>,
    /// Nothing is started any more.
    ended: bool,
    /// Processes that lost their parent became our own children.
    adopts_orphans: bool,
}

impl Children {
    /// No processes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same processes; those that are started through the new handle get this part of our environment.
    #[must_use]
    pub fn with_environment(&self, environment: Environment) -> Self {
        Self { environment: Arc::new(environment), ..self.clone() }
    }

    /// The same processes; those that are started through the new handle also get the variables with these names.
    #[must_use]
    pub fn inheriting(&self, names: &[String]) -> Self {
        self.with_environment(self.environment.and(names))
    }

    /// The same processes; those that are started through the new handle reach only what `sandbox` says.
    #[must_use]
    pub fn within(&self, sandbox: Sandbox) -> Self {
        Self { sandbox: Some(Arc::new(sandbox)), ..self.clone() }
    }

    /// From now on, processes that leave their group and lose their parent become children of this process, and
    /// [`Self::kill_all`] ends them too. Call it before the first start; without effect on systems other than Linux.
    pub fn adopt_orphans(&self) {
        let adopts = orphans::adopt();
        self.state().adopts_orphans |= adopts;
    }

    /// Kills every process group that was started here and is not known to be empty, and refuses to start more: a task that
    /// waits for a process killed here may be about to start another.
    pub fn kill_all(&self) {
        let (groups, adopts_orphans) = {
            let mut state = self.state();
            state.ended = true;
            (std::mem::take(&mut state.groups), state.adopts_orphans)
        };
        for group in groups.into_iter().filter_map(Pid::from_raw) {
            // It fails only where the group has no members left.
            let _ = kill_process_group(group, Signal::KILL);
        }
        if adopts_orphans {
            orphans::kill_children();
        }
    }

    /// Starts `command` with three pipes, in a process group of its own.
    pub(crate) fn spawn(&self, command: &Command) -> io::Result<(Child, Arc<Group>)> {
        let mut builder = tokio::process::Command::new(&command.program);
        builder.args(&command.args).env_clear().envs(self.environment.variables());
        builder.envs(command.env.iter().map(|(name, value)| (name, value)));
        if let Some(cwd) = &command.cwd {
            builder.current_dir(cwd);
        }
        builder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        builder.process_group(0).kill_on_drop(true);
        // The lock is held during the start: otherwise `kill_all` could miss a process that is just starting.
        let mut state = self.state();
        if state.ended {
            return Err(io::Error::new(
                io::ErrorKind::Interrupted,
                "the run is ending: no process is started any more",
            ));
        }
        let child = match &self.sandbox {
            None => builder.spawn(),
            Some(sandbox) => sandbox.within(command, || builder.spawn()),
        }?;
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let leader = leader.ok_or_else(|| io::Error::other("the child has no process number"))?;
        state.groups.insert(leader.as_raw_nonzero().get());
        Ok((child, Arc::new(Group::new(leader, self.clone()))))
    }

    /// The group with this leader has no members left.
    pub(super) fn forget(&self, leader: i32) {
        self.state().groups.remove(&leader);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! What a child process and all that it starts may reach: files, TCP ports, other processes. Linux restricts it with Landlock. Must not
//! know which program is started.

use std::io;
use std::path::{Path, PathBuf};

use super::Command;

#[cfg(target_os = "linux")]
mod kernel;

/// What a child process may reach. Without an entry it reads and runs the programs and libraries of the system, and writes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Whether a child that this system cannot restrict is not started.
    pub is_required: bool,
    /// Files and folders that it may read and run.
    pub readable: Vec<PathBuf>,
    /// Files and folders that it may read, run and change.
    pub writable: Vec<PathBuf>,
    /// Ports that it may connect to by TCP.
    pub connect: Ports,
    /// Ports that it may listen at by TCP; port 0 stands for a port that the system chooses.
    pub listen: Vec<u16>,
}

/// TCP ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ports {
    /// All of them.
    Any,
    /// These.
    Only(Vec<u16>),
}

impl Default for Ports {
    fn default() -> Self {
        Self::Only(Vec::new())
    }
}

/// What a system may be unable to restrict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// Which files are read and changed: Linux 6.2.
    Files,
    /// TCP ports: Linux 6.7.
    Tcp,
    /// Signals to other processes, and abstract Unix sockets: Linux 6.12.
    Signals,
}

impl Gap {
    /// What is not restricted, as part of a sentence.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Files => "files (Linux 6.2)",
            Self::Tcp => "TCP ports (Linux 6.7)",
            Self::Signals => "signals (Linux 6.12)",
        }
    }
}

impl Sandbox {
    /// What this system cannot restrict.
    pub fn gaps(&self) -> Vec<Gap> {
        #[cfg(target_os = "linux")]
        return [Gap::Files, Gap::Tcp, Gap::Signals].into_iter().filter(|gap| !kernel::can_restrict(*gap)).collect();
        #[cfg(not(target_os = "linux"))]
        return vec![Gap::Files, Gap::Tcp, Gap::Signals];
    }

    /// Why a child that must be restricted cannot be; `None` where it can, or need not be.
    pub fn refusal(&self) -> Option<String> {
        self.refusal_by(&self.gaps())
    }

    fn refusal_by(&self, gaps: &[Gap]) -> Option<String> {
        let lacking = gaps.iter().find(|gap| self.is_required && **gap != Gap::Signals)?;
        Some(format!("this system cannot restrict {}, and the sandbox is required", lacking.as_str()))
    }

    /// Calls `start` where the child that it starts is restricted. A restriction holds for one thread and what it starts, for good, so a
    /// thread is made for it.
    pub(super) fn within<T: Send>(
        &self,
        command: &Command,
        start: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        if let Some(why) = self.refusal() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let runtime = tokio::runtime::Handle::current();
        let restricted = || {
            let _runtime = runtime.enter();
            #[cfg(target_os = "linux")]
            kernel::restrict(self, command)?;
            #[cfg(not(target_os = "linux"))]
            let _ = command;
            start()
        };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("sandbox".to_owned()).spawn_scoped(scope, restricted)?;
            thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread that starts it has panicked")))
        })
    }
}

/// The file of a program, looked for as the system does.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux restricts files"))]
fn program(command: &Command) -> Option<PathBuf> {
    let name = Path::new(&command.program);
    if command.program.contains('/') {
        let from = command.cwd.as_deref().unwrap_or(Path::new(""));
        return Some(from.join(name));
    }
    let given = command.env.iter().rev().find(|(key, _)| key == "PATH").map(|(_, value)| value.into());
    let path = given.or_else(|| std::env::var_os("PATH"))?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::{Gap, Sandbox};

    #[test]
    fn only_what_is_required_and_lacking_is_refused() {
        let required = Sandbox { is_required: true, ..Sandbox::default() };
        assert_eq!(required.refusal_by(&[]), None);
        assert_eq!(required.refusal_by(&[Gap::Signals]), None);
        for gap in [Gap::Files, Gap::Tcp] {
            let refusal = required.refusal_by(&[gap, Gap::Signals]).unwrap_or_default();
            assert!(refusal.contains(gap.as_str()), "{refusal}");
            assert_eq!(Sandbox::default().refusal_by(&[gap]), None);
        }
    }
}

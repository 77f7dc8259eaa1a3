//! Child processes: each leads a process group of its own, which is signalled as a whole and outlives neither its owner nor
//! us. Knows nothing of what is said on the pipes.

mod abandoned;
mod bounded;
mod children;
mod environment;
mod group;
mod orphans;
mod replace;
mod sandbox;
mod unattended;

use std::fmt;
use std::path::PathBuf;

pub use wire::trace::Signal;

pub use self::abandoned::{end_abandoned, marked};
pub use self::bounded::{Bounded, Bounds, Ending};
pub use self::children::Children;
pub use self::environment::Environment;
pub(crate) use self::group::Group;
pub use self::replace::become_program;
pub use self::sandbox::{Gap, Ports, Sandbox};
pub use self::unattended::{Background, Output};

/// A program to start: found on the path unless it has a slash; `env` is added to what [`Environment`] leaves of our own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables added to those that it inherits.
    pub env: Vec<(String, String)>,
    /// Where it runs; here, if not told.
    pub cwd: Option<PathBuf>,
}

impl Command {
    /// `program` with `args`, without variables of its own.
    pub fn new<A: Into<String>>(program: impl Into<String>, args: impl IntoIterator<Item = A>) -> Self {
        Self { program: program.into(), args: args.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}

impl fmt::Display for Command {
    /// As one would type it, roughly: words with blanks are quoted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.program)?;
        self.args.iter().try_for_each(|arg| {
            let plain = !arg.is_empty() && !arg.contains(|c: char| c.is_whitespace() || c == '"' || c == '\'');
            if plain { write!(f, " {arg}") } else { write!(f, " {arg:?}") }
        })
    }
}

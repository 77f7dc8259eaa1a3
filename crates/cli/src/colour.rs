//! Whether output has colours: as `--color` says, else where a terminal shows it.

use std::io::IsTerminal as _;
use std::sync::OnceLock;

use clap::ValueEnum;

/// When output has colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always, also in a pipe
    Always,
    /// Never
    Never,
}

/// The choice of this run.
static CHOICE: OnceLock<When> = OnceLock::new();

/// Takes the choice of the command line. The first one counts.
pub(crate) fn choose(when: When) {
    CHOICE.get_or_init(|| when);
}

/// Whether text on stdout has colours.
pub(crate) fn is_wanted() -> bool {
    match CHOICE.get().copied().unwrap_or_default() {
        When::Auto => std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        When::Always => true,
        When::Never => false,
    }
}

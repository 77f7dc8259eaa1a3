//! `proof completion`: a script that lets a shell complete the command line. Made from the command line's own description.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::exit::Exit;
use crate::verb::output;

/// Prints the script.
pub(crate) fn run(shell: Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut crate::args::Cli::command(), "proof", &mut script);
    match output::print(&String::from_utf8_lossy(&script)) {
        Ok(()) => Exit::Clean,
        Err(exit) => exit,
    }
}

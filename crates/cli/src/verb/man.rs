//! `proof man`: manual pages, made from the command line's own description.

use std::path::Path;

use clap::{Command, CommandFactory as _};

use crate::args::{ManArgs, suggestion};
use crate::exit::{Exit, usage};

/// Prints one page, or writes all of them.
pub(crate) fn run(args: &ManArgs) -> Exit {
    let mut proof = crate::args::Cli::command();
    proof.build();
    if let Some(folder) = &args.all {
        return all(proof, folder);
    }
    let command = match &args.command {
        None => Some(&proof),
        Some(name) => proof.find_subcommand(name),
    };
    let Some(command) = command else {
        let names: Vec<&str> = proof.get_subcommands().map(Command::get_name).collect();
        let similar = args.command.as_deref().and_then(|typed| suggestion(typed, names.into_iter()));
        let similar = similar.map_or_else(String::new, |similar| format!("`proof man {similar}`; "));
        return usage("no such command", &format!("{similar}`proof --help` lists the commands"));
    };
    let mut page = Vec::new();
    if let Err(error) = clap_mangen::Man::new(command.clone()).render(&mut page) {
        return usage(&format!("cannot write the page: {error}"), "free memory");
    }
    args.to.publish(&String::from_utf8_lossy(&page)).err().unwrap_or(Exit::Clean)
}

fn all(proof: Command, folder: &Path) -> Exit {
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(proof, folder));
    match written {
        Ok(()) => Exit::Clean,
        Err(error) => usage(
            &format!("cannot write manual pages to {}: {error}", folder.display()),
            "name a folder that you can write to",
        ),
    }
}

//! `proof completion`: a script that lets a shell complete the command line. Made from the command line's own description.

use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory as _};

use crate::args::CompletionArgs;
use crate::exit::Exit;

/// Prints the script.
pub(crate) fn run(args: &CompletionArgs) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut with_rules(crate::args::Cli::command()), "proof", &mut script);
    args.to.publish(&String::from_utf8_lossy(&script)).err().unwrap_or(Exit::Clean)
}

/// The command line, which offers the ids of rules where one is expected. When it is parsed, globs are taken, too.
fn with_rules(mut proof: Command) -> Command {
    // Arguments of verbs are not there before.
    proof.build();
    let ids: Vec<&'static str> = rules::all_rules().map(|rule| rule.id).collect();
    for (verb, arguments) in [
        ("check", &["only", "skip"][..]),
        ("check-client", &["only", "skip"]),
        ("rules", &["only"]),
        ("explain", &["rule"]),
    ] {
        proof = proof.mut_subcommand(verb, |mut command| {
            for argument in arguments {
                let ids = ids.clone();
                command = command.mut_arg(*argument, |arg| arg.value_parser(PossibleValuesParser::new(ids)));
            }
            command
        });
    }
    proof
}

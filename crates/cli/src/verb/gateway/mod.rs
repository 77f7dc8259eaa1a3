//! `proof gateway`: runs the binary `proof-gateway` beside this one. It is a program of its own, so that a gateway contains no
//! faults, no rules and no judge. `proof gateway prove` is of this program, because it judges.

mod prove;

use std::ffi::{OsStr, OsString};

use super::program;
use crate::args::{GatewayArgs, ReadyArgs};
use crate::exit::Exit;
use crate::run::Run;

/// What to do where it is missing.
const HOW_TO_INSTALL: &str =
    "build it with `cargo build --profile gateway -p gateway`, or put it beside `proof` or on the PATH";

/// Becomes the gateway, and returns only where that fails; or compares it with its servers, which needs what it must not have.
pub(crate) fn run(run: &Run, args: &GatewayArgs) -> Exit {
    if let Some((first, rest)) = args.arguments.split_first()
        && first == "prove"
    {
        return prove::run(run, rest);
    }
    become_gateway(&with_separator(first_typed("gateway").as_deref(), &args.arguments))
}

/// `proof ready`: a command of the gateway, which looks at servers of any kind.
pub(crate) fn ready(args: &ReadyArgs) -> Exit {
    let mut arguments = with_separator(first_typed("ready").as_deref(), &args.arguments);
    arguments.insert(0, "ready".into());
    become_gateway(&arguments)
}

/// The word after the verb, as it was typed.
fn first_typed(verb: &str) -> Option<OsString> {
    std::env::args_os().skip(1).skip_while(|word| word != verb).nth(1)
}

/// The arguments with the `--` that stood before all of them: the parser takes it for its own.
fn with_separator(typed: Option<&OsStr>, arguments: &[OsString]) -> Vec<OsString> {
    let separator = typed.filter(|word| *word == "--").map(OsStr::to_owned);
    separator.into_iter().chain(arguments.iter().cloned()).collect()
}

fn become_gateway(arguments: &[OsString]) -> Exit {
    program::run("gateway", arguments, HOW_TO_INSTALL)
}

#[cfg(test)]
mod tests {
    use std::ffi::{OsStr, OsString};

    use super::with_separator;

    #[test]
    fn a_command_keeps_the_separator_before_it() {
        let words = |all: &[&str]| all.iter().map(OsString::from).collect::<Vec<_>>();
        let command = words(&["npx", "-y", "x"]);
        let separated = words(&["--", "npx", "-y", "x"]);
        assert_eq!(with_separator(Some(OsStr::new("--")), &command), separated);
        let later = words(&["--json", "--", "npx"]);
        assert_eq!(with_separator(Some(OsStr::new("--json")), &later), later);
        assert_eq!(with_separator(None, &[]), words(&[]));
    }
}

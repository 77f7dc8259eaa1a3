//! `proof gateway`: runs the binary `proof-gateway` beside this one. It is a program of its own, so that a gateway contains no
//! faults, no rules and no judge. `proof gateway prove` is of this program, because it judges.

mod prove;

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use net::process::become_program;

use crate::args::{GatewayArgs, ReadyArgs};
use crate::exit::{Exit, tell, usage};
use crate::run::Run;

/// The name of the binary.
const BINARY: &str = "proof-gateway";

/// What to do where it is missing.
const HOW_TO_INSTALL: &str =
    "build it with `cargo build --profile gateway -p gateway`, or put it beside `proof` or on the PATH";

/// The program: beside this one, or else on the PATH.
fn program() -> PathBuf {
    std::env::current_exe().ok().and_then(|own| beside(&own)).unwrap_or_else(|| BINARY.into())
}

/// The gateway in the folder of `own`, or where cargo puts it beside that folder: it is built by a profile of its own.
fn beside(own: &Path) -> Option<PathBuf> {
    let built = || Some(own.parent()?.parent()?.join("gateway").join(BINARY));
    [Some(own.with_file_name(BINARY)), built()].into_iter().flatten().find(|path| path.is_file())
}

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
    let error = become_program(program().as_os_str(), arguments);
    if error.kind() == ErrorKind::NotFound {
        return usage(&format!("the program `{BINARY}` is not installed"), HOW_TO_INSTALL);
    }
    tell(format_args!("error: `{BINARY}` cannot be started: {error}"));
    Exit::Bug
}

#[cfg(test)]
mod tests {
    use std::fs;

    use std::ffi::{OsStr, OsString};

    use super::{BINARY, beside, with_separator};

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

    #[test]
    fn the_gateway_is_found_in_the_same_folder_first() {
        let target = tempfile::tempdir().expect("a folder");
        let [release, gateway] = ["release", "gateway"].map(|name| target.path().join(name));
        for folder in [&release, &gateway] {
            fs::create_dir(folder).expect("a folder");
        }
        let own = release.join("proof");
        assert_eq!(beside(&own), None);
        for folder in [gateway, release] {
            fs::write(folder.join(BINARY), "").expect("a file");
            assert_eq!(beside(&own), Some(folder.join(BINARY)));
        }
    }
}

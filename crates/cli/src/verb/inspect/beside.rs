//! `--beside` and `--beside-revision`: another server, or the same one once more at another revision, to be compared with the first.

use client::Options;
use net::client::{Address, HttpAddress};
use wire::redact::Secrets;

use crate::args::inspect::InspectArgs;
use crate::args::reach::Target;
use crate::exit::{Exit, usage};
use crate::run::Run;
use crate::verb::client_options;

/// Adds what may be secret in the second target.
pub(super) fn conceal(args: &InspectArgs, secrets: &mut Secrets) {
    let Some(named) = args.beside.as_deref() else { return };
    secrets.address(named);
    secrets.arguments(named.split_whitespace());
}

/// The address of the second target, if one is asked for.
pub(super) fn address(args: &InspectArgs, first: Option<&Address>) -> Result<Option<Address>, Exit> {
    let Some(named) = args.beside.as_deref() else {
        return Ok(first.filter(|_| args.beside_revision.is_some()).cloned());
    };
    if is_url(named) {
        let mut address = args.server.reach.address(Target { url: Some(named), command: &[] })?;
        if let (Some(Address::Http(second) | Address::Sse(second) | Address::WebSocket(second)), Some(first)) =
            (&mut address, first.and_then(http))
            && !is_same_place(first, second)
        {
            // What the first server may know is no other server's business.
            second.headers.clear();
        }
        return Ok(address);
    }
    if named.contains(['"', '\'']) {
        let what = "--beside: a command in one text is split at its spaces, and quotes are not read";
        return Err(usage(what, "put the command into a script, and name that"));
    }
    let command: Vec<String> = named.split_whitespace().map(str::to_owned).collect();
    args.server.reach.address(Target { url: None, command: &command })
}

/// How the second target is connected to. Credentials of the first go along only to the same place.
pub(super) fn options(run: &Run, args: &InspectArgs, first: &Address, second: Address) -> Result<Options, Exit> {
    let revision = args.beside_revision.or(args.revision.filter(|_| args.beside.is_some()));
    let elsewhere = http(first).zip(http(&second)).is_some_and(|(first, second)| !is_same_place(first, second));
    let mut options = client_options::options(run, &args.server.reach, first.clone(), revision)?;
    if elsewhere {
        options.authorizer = None;
        options.address = second;
        return Ok(options);
    }
    client_options::options(run, &args.server.reach, second, revision)
}

fn is_url(text: &str) -> bool {
    ["http://", "https://", "ws://", "wss://"].iter().any(|scheme| text.starts_with(scheme))
}

const fn http(address: &Address) -> Option<&HttpAddress> {
    match address {
        Address::Http(http) | Address::Sse(http) | Address::WebSocket(http) => Some(http),
        Address::Stdio(_) => None,
    }
}

fn is_same_place(one: &HttpAddress, other: &HttpAddress) -> bool {
    one.url.origin() == other.url.origin()
}

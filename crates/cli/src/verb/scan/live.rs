//! Servers that are asked for everything they declare. No tool is called.

use client::ClientError;
use guard::scan::{Scanner, items};
use net::client::Address;
use serde_json::Value;

use super::config::Entry;
use super::{Addressed, no_address};
use crate::advice::asking;
use crate::args::scan::ScanArgs;
use crate::exit::{Exit, tell, tell_redacted};
use crate::run::Run;
use crate::verb::connecting::declared;

/// Scans one server; returns the name by which reports call it.
pub(super) fn server(
    run: &Run,
    args: &ScanArgs,
    address: Address,
    name: &str,
    scanner: &mut Scanner,
) -> Result<String, Exit> {
    let surface = listed(run, args, address)?;
    let server = surface["server"]["name"].as_str().unwrap_or(name).to_owned();
    let found = items(&surface, &server);
    for (_, item) in &found {
        scanner.item(&server, item);
    }
    if found.is_empty() {
        tell(format_args!("error: {} lists nothing, so there is nothing to scan", wire::escape::line(&server)));
        return Err(Exit::NoAnswer);
    }
    Ok(server)
}

/// Starts the servers of a configuration one after the other. Those that could not be read make the scan incomplete.
pub(super) fn entries(run: &Run, args: &ScanArgs, entries: &[&Entry], scanner: &mut Scanner) -> Option<Exit> {
    let mut failed = None;
    let addressed = entries.iter().map(|entry| -> Addressed<'_> { (entry, entry.address()) });
    for (entry, address) in addressed {
        let read = match address {
            Err(why) => Err((Exit::NoAnswer, why)),
            Ok(address) => listed(run, args, address).map_err(|exit| (exit, "it did not answer".to_owned())),
        };
        match read {
            Ok(surface) => {
                for (_, item) in items(&surface, &entry.server) {
                    scanner.item(&entry.server, &item);
                }
            }
            Err((exit @ Exit::Interrupted(_), _)) => return Some(exit),
            Err((exit, why)) => {
                scanner.note_incomplete(no_address(&entry.server, &why));
                failed = Some(exit);
            }
        }
    }
    failed
}

/// Everything that a server declares.
fn listed(run: &Run, args: &ScanArgs, address: Address) -> Result<Value, Exit> {
    Ok(declared(run, &args.reach, address, args.revision, failed)?.to_snapshot())
}

fn failed(error: &ClientError) -> Exit {
    tell_redacted(&format!("error: {}", error.describe(asking)));
    Exit::NoAnswer
}

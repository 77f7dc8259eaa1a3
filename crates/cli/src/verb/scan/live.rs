//! Servers that are asked for everything they declare. No tool is called.

use client::ClientError;
use guard::scan::{Scanner, items};
use net::client::Address;
use serde_json::Value;
use wire::redact::Secrets;

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

/// Adds the values of an entry that are secret.
pub(super) fn add_secrets(entry: &Value, secrets: &mut Secrets) {
    let texts = |member: &str| {
        let members = entry[member].as_object().into_iter().flatten();
        members.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect::<Vec<_>>()
    };
    for (name, value) in ["env", "envs", "environment"].into_iter().flat_map(texts) {
        secrets.handed_variable(&name, &value);
    }
    for (name, value) in ["headers", "http_headers"].into_iter().flat_map(texts) {
        secrets.header(&name, &value);
    }
    for member in ["command", "cmd", "args"] {
        // Some files have a whole line for a command.
        secrets.arguments(entry[member].as_str().into_iter().flat_map(str::split_whitespace));
        secrets.arguments(entry[member].as_array().into_iter().flatten().filter_map(Value::as_str));
    }
    for member in ["url", "serverUrl", "httpUrl", "uri"] {
        secrets.address(entry[member].as_str().unwrap_or_default());
    }
}

/// Everything that a server declares.
fn listed(run: &Run, args: &ScanArgs, address: Address) -> Result<Value, Exit> {
    Ok(declared(run, &args.reach, address, args.revision, failed)?.to_snapshot())
}

fn failed(error: &ClientError) -> Exit {
    tell_redacted(&format!("error: {}", error.describe(asking)));
    Exit::NoAnswer
}

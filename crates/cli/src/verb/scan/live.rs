//! Servers that are asked for everything they declare. No tool is called.

use client::{Client, ClientError};
use guard::scan::{Scanner, items};
use net::client::Address;
use serde_json::Value;
use suite::snapshot::surface;

use super::config::Entry;
use super::{Addressed, no_address};
use crate::advice::asking;
use crate::args::scan::ScanArgs;
use crate::exit::{Exit, tell, tell_redacted};
use crate::run::Run;
use crate::signals::interrupted;
use crate::verb::{client_options, sign_in};

/// Scans one server.
pub(super) fn server(
    run: &Run,
    args: &ScanArgs,
    address: Address,
    name: &str,
    scanner: &mut Scanner,
) -> Result<(), Exit> {
    let surface = asked(run, args, address)?;
    let server = surface["server"]["name"].as_str().unwrap_or(name).to_owned();
    let found = items(&surface, &server);
    for (_, item) in &found {
        scanner.item(&server, item);
    }
    if found.is_empty() {
        tell(format_args!("error: {} lists nothing, so there is nothing to scan", wire::escape::line(&server)));
        return Err(Exit::NoAnswer);
    }
    Ok(())
}

/// Starts the servers of a configuration one after the other. Those that could not be read make the scan incomplete.
pub(super) fn entries(run: &Run, args: &ScanArgs, entries: &[&Entry], scanner: &mut Scanner) -> Option<Exit> {
    let mut failed = None;
    let addressed = entries.iter().map(|entry| -> Addressed<'_> { (entry, entry.address()) });
    for (entry, address) in addressed {
        let read = match address {
            Err(why) => Err((Exit::NoAnswer, why)),
            Ok(address) => asked(run, args, address).map_err(|exit| (exit, "it did not answer".to_owned())),
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
fn asked(run: &Run, args: &ScanArgs, address: Address) -> Result<Value, Exit> {
    let mut options = client_options::options(run, &args.reach, address, args.revision)?;
    // Before the first child starts.
    run.children.adopt_orphans();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: cannot start the async runtime: {error}"));
        Exit::Bug
    })?;
    let surface = runtime.block_on(async {
        let interrupted = interrupted();
        tokio::pin!(interrupted);
        let conversed = async {
            if matches!(options.address, Address::Sse(_) | Address::WebSocket(_)) {
                sign_in::sign_in_at(&args.reach, &mut options.address, options.revision).await?;
            }
            let client = Client::connect(options).await.map_err(|error| failed(&error))?;
            let surface = surface(&client).await.map_err(|error| failed(&error));
            client.close().await;
            surface
        };
        tokio::select! {
            surface = conversed => surface,
            signal = &mut interrupted => Err(Exit::Interrupted(signal)),
        }
    });
    runtime.shutdown_background();
    Ok(surface?.to_snapshot())
}

fn failed(error: &ClientError) -> Exit {
    tell_redacted(&format!("error: {}", error.describe(asking)));
    Exit::NoAnswer
}

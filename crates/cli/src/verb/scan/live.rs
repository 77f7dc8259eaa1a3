//! Servers that are asked for everything they declare, and for the texts of their prompts. No tool is called.

use client::{Client, ClientError, Params};
use guard::scan::{Item, Kind, Scanner, items};
use net::client::Address;
use report::render::text::count;
use serde_json::Value;
use suite::snapshot::surface;

use super::config::Entry;
use super::{Addressed, no_address};
use crate::advice::asking;
use crate::args::scan::ScanArgs;
use crate::exit::{Exit, tell, tell_redacted};
use crate::run::Run;
use crate::verb::connecting::connected;

/// The most prompts of one server whose texts are read.
const PROMPTS: usize = 100;

/// What a server said.
struct Said {
    surface: Value,
    /// Texts of prompts.
    texts: Vec<Item>,
    /// Prompts whose texts were not read: they need arguments, or the server refused.
    without: usize,
    /// Why no more texts were read.
    broken: Option<String>,
}

/// Scans one server; returns the name by which reports call it.
pub(super) fn server(
    run: &Run,
    args: &ScanArgs,
    address: Address,
    name: &str,
    scanner: &mut Scanner,
    notes: &mut Vec<String>,
) -> Result<String, Exit> {
    let said = asked(run, args, address)?;
    let server = said.surface["server"]["name"].as_str().unwrap_or(name).to_owned();
    if said.scan(&server, scanner, notes) == 0 {
        tell(format_args!("error: {} lists nothing, so there is nothing to scan", wire::escape::line(&server)));
        return Err(Exit::NoAnswer);
    }
    Ok(server)
}

/// Starts the servers of a configuration one after the other. Those that could not be read make the scan incomplete.
pub(super) fn entries(
    run: &Run,
    args: &ScanArgs,
    entries: &[&Entry],
    scanner: &mut Scanner,
    notes: &mut Vec<String>,
) -> Option<Exit> {
    let mut failed = None;
    let addressed = entries.iter().map(|entry| -> Addressed<'_> { (entry, entry.address()) });
    for (entry, address) in addressed {
        let read = match address {
            Err(why) => Err((Exit::NoAnswer, why)),
            Ok(address) => asked(run, args, address).map_err(|exit| (exit, "it did not answer".to_owned())),
        };
        match read {
            Ok(said) => {
                said.scan(&entry.server, scanner, notes);
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

impl Said {
    /// Scans it; returns how many items the server declares.
    fn scan(&self, server: &str, scanner: &mut Scanner, notes: &mut Vec<String>) -> usize {
        let found = items(&self.surface, server);
        for item in found.iter().map(|(_, item)| item).chain(&self.texts) {
            scanner.item(server, item);
        }
        let shown = wire::escape::line(server);
        if self.without > 0 {
            let prompts = count(self.without, "prompt");
            notes.push(format!(
                "{prompts} of {shown}: only the definition was scanned, because it needs arguments or was refused."
            ));
        }
        if let Some(why) = &self.broken {
            scanner.note_incomplete(format!("server {shown}: prompts/get: {}", wire::escape::line(why)));
        }
        found.len()
    }
}

/// Everything that a server declares, and the texts of its prompts.
fn asked(run: &Run, args: &ScanArgs, address: Address) -> Result<Said, Exit> {
    connected(run, &args.reach, address, args.revision, async |options| {
        let client = Client::connect(options).await.map_err(|error| failed(&error))?;
        let said = match surface(&client).await {
            Ok(surface) => Ok(texts(&client, surface.to_snapshot()).await),
            Err(error) => Err(failed(&error)),
        };
        client.close().await;
        said
    })
}

/// Asks for the text of each prompt that needs no argument.
async fn texts(client: &Client, surface: Value) -> Said {
    let prompts: Vec<_> =
        items(&surface, "").into_iter().map(|(_, item)| item).filter(|item| item.kind == Kind::Prompt).collect();
    let mut said = Said { surface, texts: Vec::new(), without: 0, broken: None };
    for (index, prompt) in prompts.iter().enumerate() {
        let mut arguments = prompt.value["arguments"].as_array().into_iter().flatten();
        if index >= PROMPTS || arguments.any(|argument| argument["required"] == true) {
            said.without += 1;
            continue;
        }
        let params = Params::new().with("name", prompt.name.as_str());
        match client.request_once("prompts/get", &params).await {
            Ok(answer) => {
                let value = answer.result().cloned().unwrap_or_default();
                said.texts.push(Item { kind: Kind::Result, name: format!("prompts/get {}", prompt.name), value });
            }
            Err(ClientError::Rpc { .. }) => said.without += 1,
            Err(error) => {
                said.broken = error.to_string().lines().next().map(str::to_owned);
                break;
            }
        }
    }
    said
}

fn failed(error: &ClientError) -> Exit {
    tell_redacted(&format!("error: {}", error.describe(asking)));
    Exit::NoAnswer
}

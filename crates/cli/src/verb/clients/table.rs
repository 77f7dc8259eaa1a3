//! `proof clients`: the clients that proof knows, and where their files are.

use std::fmt::Write as _;

use clients::{Client, Scope, clients};
use report::render::text::wrap;
use serde_json::{Value, json};

use super::machine::Machine;
use crate::args::clients::ClientsArgs;
use crate::exit::Exit;
use crate::verb::output;

/// Prints them.
pub(crate) fn run(args: &ClientsArgs) -> Exit {
    printed(args).map_or_else(|exit| exit, |()| Exit::Clean)
}

fn printed(args: &ClientsArgs) -> Result<(), Exit> {
    args.to.check(&[])?;
    let machine = Machine::here()?;
    let all: Vec<_> = clients().iter().map(|client| (client, machine.is_found(client))).collect();
    let shown: Vec<_> = all.into_iter().filter(|(_, is_found)| *is_found || !args.found).collect();
    if args.json {
        let list = shown.iter().map(|(client, is_found)| document(&machine, client, *is_found));
        let value = json!({ "schema": "proof.clients/1", "clients": list.collect::<Value>() });
        let text = serde_json::to_string_pretty(&value).unwrap_or_default();
        return args.to.write(&format!("{}\n", wire::escape::json(&text)));
    }
    let (mut text, paint) = (String::new(), args.to.paint());
    for (client, is_found) in &shown {
        let mark = if *is_found { paint.green("  (found)") } else { String::new() };
        let _ = writeln!(text, "{} {}{mark}", paint.bold(&format!("{:<20}", client.id)), client.name);
        for scope in [Scope::User, Scope::Project].into_iter().filter(|scope| client.scopes().contains(scope)) {
            if let Some(path) = machine.file(client, scope) {
                wrap(&mut text, 4, &format!("{scope}: {}", output::shown(&path)));
            }
        }
    }
    let found = shown.iter().filter(|(_, is_found)| *is_found).count();
    let _ = writeln!(text, "{} clients, {found} found on this machine", shown.len());
    args.to.write(&text)
}

fn document(machine: &Machine, client: &'static Client, is_found: bool) -> Value {
    let scopes = client
        .scopes()
        .into_iter()
        .filter_map(|scope| Some(json!({ "scope": scope.to_string(), "file": machine.file(client, scope)? })));
    json!({
        "id": client.id, "name": client.name, "aliases": client.aliases, "found": is_found, "scopes": scopes.collect::<Value>(),
        "servers_at": client.key, "by_url": client.is_remote(), "references": client.syntax(), "then": client.reload,
        "discontinued": client.discontinued,
    })
}

//! `docs/clients.md`, from the data file of the crate `clients`.

use std::fmt::Write as _;
use std::fs;

use clients::place::shown;
use clients::text::Format;
use clients::{Client, Platform, Scope, clients};

use crate::{Verdict, root};

const PAGE: &str = "docs/clients.md";

/// Writes the page, or with `check` verifies that it is fresh.
pub(super) fn page(check: bool) -> Verdict {
    let path = root().join(PAGE);
    let page = text();
    if fs::read_to_string(&path).is_ok_and(|old| old == page) {
        return Ok(true);
    }
    if check {
        println!("{PAGE} is not fresh – run `cargo xtask docs`");
        return Ok(false);
    }
    fs::write(&path, page)?;
    println!("{PAGE}: {} clients", clients().len());
    Ok(true)
}

fn text() -> String {
    let mut out = String::from(
        "# Clients\n\nMade by `cargo xtask docs` from `crates/foundation/clients/src/clients.json`; do not edit.\n\n\
         `proof clients` prints the files of this user. `proof add`, `proof list` and `proof scan --all-clients` use the same \
         table;\n[add](add.md) shows how.\n\n\
         A file that starts with a variable, such as `$CODEX_HOME/…`, is in the folder that the variable names, or in the \
         client's\nown folder below the user's. `$XDG_CONFIG_HOME` is `~/.config` where it is not set.\n\n\
         *Servers at* is the key that holds the servers. *URL* says whether the file may name servers by URL. *References* is \
         how\nthe client takes the variable `NAME` from its environment; without one, secrets stand in clear or the server \
         is left out.\n\n## Overview\n\n| id | client | format | servers at | scopes | URL | references |\n|---|---|---|---|---|---|---|\n",
    );
    for client in clients() {
        let scopes: Vec<_> = client.scopes().iter().map(Scope::to_string).collect();
        let _ = writeln!(
            out,
            "| `{}` | {}{} | {} | `{}`{} | {} | {} | {} |",
            client.id,
            client.name,
            if client.discontinued { " (discontinued)" } else { "" },
            format(client.format),
            client.key.join("."),
            if client.list { " (list)" } else { "" },
            scopes.join(", "),
            if client.is_remote() { "yes" } else { "no" },
            references(client),
        );
    }
    out.push_str("\n## Files\n\n| id | Linux | macOS | Windows | project |\n|---|---|---|---|---|\n");
    for client in clients() {
        let files = |platform: Platform| {
            let files: Vec<_> =
                client.user.of(platform).iter().map(|place| format!("`{}`", shown(place, platform))).collect();
            files.join(", ")
        };
        let [linux, macos, windows] = [Platform::Linux, Platform::MacOs, Platform::Windows].map(files);
        let macos = if macos == linux { "as Linux".to_owned() } else { macos };
        let project: Vec<_> = client.project.iter().map(|file| format!("`{file}`")).collect();
        let _ = writeln!(out, "| `{}` | {linux} | {macos} | {windows} | {} |", client.id, project.join(", "));
    }
    out.push_str("\nOf several files, the first that exists is used; the first is made where none exists.\n");
    out
}

const fn format(format: Format) -> &'static str {
    match format {
        Format::Json => "JSON",
        Format::Yaml => "YAML",
        Format::Toml => "TOML",
    }
}

fn references(client: &Client) -> String {
    let syntax = client.syntax();
    let input = if client.inputs { ", `${input:…}` for secrets" } else { "" };
    if client.reference.is_some() { format!("`{}`{input}", syntax.replace(", ", "`, `")) } else { syntax }
}

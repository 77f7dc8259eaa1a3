//! The servers in a client's configuration: JSON with comments, YAML or TOML.

use std::path::Path;

use clients::Launch;
use clients::findings;
use clients::text::Format;
use guard::scan::{Item, Kind};
use net::client::Address;
use serde_json::Value;

use crate::exit::{Exit, usage};
use crate::verb::clients::connect;
use crate::verb::{given_file, output};

/// The largest configuration.
const LARGEST: u64 = 64 << 20;

/// One server.
pub(super) struct Entry {
    pub(super) server: String,
    pub(super) value: Value,
}

impl Entry {
    /// The entry as a scan takes it.
    pub(super) fn item(&self) -> Item {
        Item { kind: Kind::Configuration, name: self.server.clone(), value: self.value.clone() }
    }

    /// Where the server is; `Err` says why it cannot be reached.
    pub(super) fn address(&self) -> Result<Address, String> {
        let launch = Launch::of_entry(&self.value).ok_or("it has neither a command nor a URL")?;
        connect::address(&launch, self.value["cwd"].as_str().map(Path::new))
    }
}

/// Why a configuration cannot be read, and what to do.
pub(super) struct Unread {
    pub(super) what: String,
    remedy: &'static str,
}

/// Reads the servers of a configuration that must name one.
pub(super) fn read(path: &Path) -> Result<Vec<Entry>, Exit> {
    let entries = open(path).map_err(|unread| usage(&unread.what, unread.remedy))?;
    if entries.is_empty() {
        let what = format!("{} names no MCP server, so there is nothing to scan", output::shown(path));
        return Err(usage(
            &what,
            "give a file with `mcpServers`, `servers`, `context_servers` or `[mcp_servers.NAME]`",
        ));
    }
    Ok(entries)
}

/// Reads the servers of a configuration, which may name none.
pub(super) fn open(path: &Path) -> Result<Vec<Entry>, Unread> {
    let shown = output::shown(path);
    let text = given_file::text(path, LARGEST).map_err(|error| Unread {
        what: format!("cannot read {shown}: {error}"),
        remedy: "check the path and its permissions",
    })?;
    let value = clients::text::read(&text, Format::of_path(path)).map_err(|error| {
        let at = error.at.map(|at| format!("line {}, column {}: ", at.line, at.column)).unwrap_or_default();
        Unread {
            what: format!("{shown} is damaged: {at}{}", wire::escape::line(&error.what)),
            remedy: "repair the file; clients read it the same way",
        }
    })?;
    Ok(entries(&value))
}

/// The servers in a configuration of any client.
pub(super) fn entries(value: &Value) -> Vec<Entry> {
    findings::entries(value).into_iter().map(|(server, value)| Entry { server, value }).collect()
}

//! `--fault` and `--list-faults`: deliberate violations of the reference server, and of the reference client.

use clap::Args;
use faults::client;
use faults::server::{self, Fault};

use super::suggestion;
use crate::exit::{Exit, usage};

/// Faults of the reference server.
#[derive(Args)]
#[group(skip)]
pub(crate) struct FaultArgs {
    /// Break a rule on purpose; see --list-faults
    #[arg(long = "fault", value_name = "NAME[,NAME]", value_delimiter = ',')]
    names: Vec<String>,
    /// List all faults and the rules that they break
    #[arg(long = "list-faults")]
    pub(crate) list: bool,
}

impl FaultArgs {
    /// The faults named with `--fault`.
    pub(crate) fn selected(&self) -> Result<Vec<&'static Fault>, Exit> {
        let unknown = |name| unknown(name, "serve", server::all().map(|fault| fault.name));
        self.names.iter().map(|name| server::find(name).ok_or_else(|| unknown(name))).collect()
    }
}

/// Faults of the reference client.
#[derive(Args)]
#[group(skip)]
pub(crate) struct ClientFaultArgs {
    /// Break a rule on purpose; see --list-faults
    #[arg(long = "fault", global = true, value_name = "NAME[,NAME]", value_delimiter = ',', help_heading = "Modes")]
    names: Vec<String>,
    /// List all faults and the rules that they break
    #[arg(long = "list-faults", help_heading = "Modes")]
    pub(crate) list: bool,
}

impl ClientFaultArgs {
    /// The faults named with `--fault`.
    pub(crate) fn selected(&self) -> Result<Vec<&'static client::Fault>, Exit> {
        let unknown = |name| unknown(name, "client", client::all().map(|fault| fault.name));
        self.names.iter().map(|name| client::find(name).ok_or_else(|| unknown(name))).collect()
    }
}

/// Reports an unknown fault, with a suggestion.
fn unknown<'f>(name: &str, verb: &str, known: impl Iterator<Item = &'f str>) -> Exit {
    let what = format!("unknown fault `{}`", wire::escape::line(name));
    let list = format!("`proof {verb} --list-faults` lists all faults");
    match suggestion(name, known) {
        Some(similar) => usage(&what, &format!("`{similar}`; {list}")),
        None => usage(&what, &list),
    }
}

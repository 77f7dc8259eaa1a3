//! `--fault` and `--list-faults`: deliberate violations of the reference server, and of the reference client.

use clap::Args;
use faults::client;
use faults::server::{self, Fault};

use super::meant;
use crate::exit::{Exit, usage};

/// What is to be wrong with the reference server.
#[derive(Args)]
#[group(skip)]
pub(crate) struct FaultArgs {
    /// Break a rule on purpose; --list-faults tells the names
    #[arg(long = "fault", value_name = "NAME[,NAME]", value_delimiter = ',')]
    names: Vec<String>,
    /// List the faults there are, and the rule each of them breaks
    #[arg(long = "list-faults")]
    pub(crate) list: bool,
}

impl FaultArgs {
    /// The faults that are named.
    pub(crate) fn meaning(&self) -> Result<Vec<&'static Fault>, Exit> {
        let unknown = |name| unknown(name, "serve", server::all().map(|fault| fault.name));
        self.names.iter().map(|name| server::find(name).ok_or_else(|| unknown(name))).collect()
    }
}

/// What is to be wrong with the reference client.
#[derive(Args)]
#[group(skip)]
pub(crate) struct ClientFaultArgs {
    /// Break a rule on purpose; --list-faults tells the names
    #[arg(
        long = "fault",
        global = true,
        value_name = "NAME[,NAME]",
        value_delimiter = ',',
        help_heading = "What to do"
    )]
    names: Vec<String>,
    /// List the faults there are, and the rule each of them breaks
    #[arg(long = "list-faults", help_heading = "What to do")]
    pub(crate) list: bool,
}

impl ClientFaultArgs {
    /// The faults that are named.
    pub(crate) fn meaning(&self) -> Result<Vec<&'static client::Fault>, Exit> {
        let unknown = |name| unknown(name, "client", client::all().map(|fault| fault.name));
        self.names.iter().map(|name| client::find(name).ok_or_else(|| unknown(name))).collect()
    }
}

/// Says that there is no such fault, and which may have been meant.
fn unknown<'f>(name: &str, verb: &str, there: impl Iterator<Item = &'f str>) -> Exit {
    let what = format!("no fault is called `{}`", wire::escape::line(name));
    let list = format!("`proof {verb} --list-faults` lists every fault");
    match meant(name, there) {
        Some(meant) => usage(&what, &format!("`{meant}`; {list}")),
        None => usage(&what, &list),
    }
}

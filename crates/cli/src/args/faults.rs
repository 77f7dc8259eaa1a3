//! `--fault` and `--list-faults`: deliberate violations of the reference server.

use clap::Args;
use reference::faults::{self, Fault};

use super::ALIKE;
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
        self.names.iter().map(|name| faults::find(name).ok_or_else(|| unknown(name))).collect()
    }
}

/// Says that there is no such fault, and which may have been meant.
fn unknown(name: &str) -> Exit {
    let what = format!("no fault is called `{}`", wire::escape::line(name));
    let alike = faults::all().map(|fault| (strsim::jaro_winkler(fault.name, name), fault.name));
    match alike.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(likeness, _)| *likeness > ALIKE) {
        Some((_, meant)) => usage(&what, &format!("`{meant}`; `proof serve --list-faults` lists every fault")),
        None => usage(&what, "`proof serve --list-faults` lists every fault"),
    }
}

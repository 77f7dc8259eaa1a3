//! Servers of a client's configuration, to be picked on the page. What the user named is connected to at once; what the author of
//! a project wrote is only started when the page asks for it.

use console::Console;
use net::client::Address;
use wire::redact::Secrets;

use crate::args::inspect::InspectArgs;
use crate::args::suggestion;
use crate::exit::{Exit, tell, usage};
use crate::run::Run;
use crate::verb::client_options;
use crate::verb::clients::offered::{Offered, offered};

/// The servers that can be reached.
pub(super) struct Imported {
    servers: Vec<(Offered, Address)>,
}

impl Imported {
    /// Reads the configuration of a client: `names` are the client and, perhaps, one server. Adds what is secret in its entries.
    pub(super) fn read(run: &Run, names: &[String], secrets: &mut Secrets) -> Result<Option<Self>, Exit> {
        let [client, rest @ ..] = names else { return Ok(None) };
        let mut found = offered(run, client, secrets)?;
        if let Some(name) = rest.first() {
            let near = suggestion(name, found.iter().map(|one| one.name.as_str())).map(str::to_owned);
            found.retain(|one| one.name == *name);
            if found.is_empty() {
                let what = format!("the client has no server `{}` here", wire::escape::line(name));
                let near = near.map(|near| format!("`{}`; ", wire::escape::line(&near))).unwrap_or_default();
                return Err(usage(&what, &format!("{near}leave the name out to see all")));
            }
        }
        let mut servers = Vec::new();
        for mut one in found {
            match std::mem::replace(&mut one.address, Err(String::new())) {
                Ok(address) => servers.push((one, address)),
                Err(why) => {
                    let (name, why) = (wire::escape::line(&one.name), wire::escape::line(&why));
                    tell(format_args!("note: {name} is left out: {why}"));
                }
            }
        }
        if servers.is_empty() {
            return Err(usage("no server of the client can be reached", "`proof doctor NAME` says what is missing"));
        }
        Ok(Some(Self { servers }))
    }

    /// Adds them to the page. Returns whether the user must pick one there.
    pub(super) fn add(self, run: &Run, args: &InspectArgs, console: &Console) -> Result<bool, Exit> {
        let mut must_pick = true;
        let is_one = self.servers.len() == 1;
        for (one, address) in self.servers {
            let options = client_options::options(run, &args.server.reach, address, args.revision)?;
            let label = format!("{} ({})", one.name, one.how);
            let target = console.offer_server(&label, options);
            if is_one && !one.is_of_project {
                console.connect(target);
                must_pick = false;
            }
        }
        Ok(must_pick)
    }
}

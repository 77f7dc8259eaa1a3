//! The servers that a client uses in this folder, for verbs that connect to them. Starts nothing.

use clients::{Launch, Scope};
use net::client::Address;
use wire::redact::Secrets;

use super::effective::judged;
use super::list::{entries, launched};
use super::machine::Machine;
use super::restrictions::Restrictions;
use super::secrets::add;
use super::{connect, syntax};
use crate::exit::{Exit, tell, usage};
use crate::run::Run;

/// A server that a client has an entry of.
pub(in crate::verb) struct Offered {
    pub(in crate::verb) name: String,
    /// How the client reaches it, in words.
    pub(in crate::verb) how: String,
    /// Where it is, or why it cannot be reached as its client reaches it.
    pub(in crate::verb) address: Result<Address, String>,
    /// Whether the entry is of the project: its author wrote it, not the user.
    pub(in crate::verb) is_of_project: bool,
}

/// The servers of a client; one that the client does not use comes with the reason. Adds what is secret in their entries.
pub(in crate::verb) fn offered(run: &Run, client: &str, secrets: &mut Secrets) -> Result<Vec<Offered>, Exit> {
    let machine = Machine::here()?;
    let named = Machine::named(&[client.to_owned()])?;
    let mut restrictions = Restrictions::read(&machine, &named, None)?;
    let (entries, mut refused) = entries(run, &machine, &named);
    refused.append(&mut restrictions.problems);
    for one in &refused {
        tell(format_args!("error: {}: {}\n  try: {}", one.place, one.what, one.remedy));
    }
    for entry in &entries {
        add(&entry.value, secrets);
    }
    let judged = judged(&machine, &restrictions.policy, entries);
    if judged.is_empty() {
        let name = named.first().map_or(client, |client| client.name.as_str());
        let what = format!("{} has no server here", wire::escape::line(name));
        return Err(usage(&what, "`proof list` shows the servers of all clients"));
    }
    let is_used = |name: &str| judged.iter().any(|other| other.is_used() && other.entry.name == name);
    // Of several entries of one name, the one that is used counts.
    let counts = judged.iter().filter(|one| one.is_used() || !is_used(&one.entry.name));
    let servers = counts.map(|one| {
        let entry = &one.entry;
        let folder =
            matches!(entry.launch, Launch::Stdio { .. }).then(|| syntax::folder(&entry.value, &machine.project));
        let foreign = syntax::foreign(entry.client, &entry.value).into_iter().next();
        let address = match foreign {
            _ if !one.is_used() => Err(one.words()),
            Some(why) => Err(why),
            None => connect::address(&entry.launch, folder.as_deref()),
        };
        let is_of_project = entry.scope == Scope::Project;
        Offered { name: entry.name.clone(), how: launched(&entry.launch), address, is_of_project }
    });
    Ok(servers.collect())
}

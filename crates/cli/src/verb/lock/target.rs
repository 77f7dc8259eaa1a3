//! What a target tells the model, read strictly: a live server, listed twice and once more under another client name, or a
//! trace. Must not know the lock.

use client::{Client, ClientError, Identity as ClientName, Options};
use lock::recorded::recorded;
use lock::{Change, Entry, Identity, Kind, Launch, Surface, Unlockable, unstable};
use net::client::Address;
use suite::snapshot::{Undigestible, strict_surface};
use wire::Revision;

use crate::args::lock::{OTHER_CLIENT, TargetArgs};
use crate::args::reach::{ServerArgs, environment};
use crate::exit::{Exit, tell_redacted};
use crate::run::Run;
use crate::verb::connecting::connected;
use crate::verb::snapshot::failed;
use crate::verb::{output, traces};

/// What was found.
pub(in crate::verb) struct Found {
    pub(in crate::verb) entry: Entry,
    /// What differs between listings, and names that stand twice.
    pub(in crate::verb) unstable: Vec<Change>,
    /// Whether it is from a trace, which knows neither address nor command.
    pub(in crate::verb) is_recorded: bool,
}

impl Found {
    /// The kinds that were not listed, so that nothing is known of them.
    pub(in crate::verb) fn unlisted(&self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(|kind| !self.entry.listed.contains(kind))
    }

    /// The same, if this is where the locked server is: a server at another address is not of its package.
    pub(in crate::verb) fn complete_at_place(&mut self, locked: &Entry) {
        let is_same = self.entry.launch == locked.launch && self.entry.identity.url == locked.identity.url;
        if self.is_recorded || is_same {
            self.complete(locked);
        }
    }

    /// Adds what a target cannot show itself from what was locked.
    pub(in crate::verb) fn complete(&mut self, locked: &Entry) {
        let known = &mut self.entry.identity;
        if self.is_recorded {
            known.url.clone_from(&locked.identity.url);
            self.entry.launch.clone_from(&locked.launch);
        }
        for (found, locked) in [
            (&mut known.registry, &locked.identity.registry),
            (&mut known.package_digest, &locked.identity.package_digest),
        ] {
            *found = found.take().or_else(|| locked.clone());
        }
        if known.package.is_none() && (self.is_recorded || self.entry.launch == locked.launch) {
            known.package.clone_from(&locked.identity.package);
        }
    }
}

/// The revision to speak with a target, by where it is and how it is started.
pub(in crate::verb) type RevisionOf<'r> = &'r dyn Fn(&Identity, Option<&Launch>) -> Result<Option<Revision>, Exit>;

/// Why a server could not be read.
pub(in crate::verb) enum Unread {
    /// Reported already.
    Reported(Exit),
    /// It did not answer.
    Client(ClientError),
    /// Its answers cannot be digested: why, and what to do.
    Undigestible(String, &'static str),
}

impl From<Exit> for Unread {
    fn from(exit: Exit) -> Self {
        Self::Reported(exit)
    }
}

impl Unread {
    /// The reason, in one line.
    pub(in crate::verb) fn reason(&self) -> String {
        match self {
            Self::Reported(_) => "the server could not be reached".to_owned(),
            Self::Client(error) => error.to_string(),
            Self::Undigestible(why, _) => why.clone(),
        }
    }

    /// Reports it; returns the exit code.
    pub(in crate::verb) fn report(self) -> Exit {
        match self {
            Self::Reported(exit) => exit,
            Self::Client(error) => failed(&error),
            Self::Undigestible(what, remedy) => {
                tell_redacted(&format!("error: {what}\n  try: {remedy}"));
                Exit::NoAnswer
            }
        }
    }
}

/// Reads the target.
pub(in crate::verb) fn found(run: &Run, args: &TargetArgs, revision_of: RevisionOf<'_>) -> Result<Option<Found>, Exit> {
    if let Some(path) = &args.trace {
        let trace = traces::trace(path)?;
        let recorded = recorded(&trace).map_err(|why| {
            let what = format!("cannot lock {}: {why}", output::shown(path));
            Unread::Undigestible(what, "use a trace with every page of a list").report()
        })?;
        let entry = entry(stated(args, Identity::default()), None, &recorded.surface).map_err(Unread::report)?;
        return Ok(Some(Found { entry, unstable: recorded.unstable, is_recorded: true }));
    }
    let Some(address) = args.server.address()? else { return Ok(None) };
    at(run, args, address, revision_of).map(Some)
}

/// Reads the server at an address, with the other options of the target.
pub(in crate::verb) fn at(
    run: &Run,
    args: &TargetArgs,
    address: Address,
    revision_of: RevisionOf<'_>,
) -> Result<Found, Exit> {
    let (identity, launch) = origin(run, &args.server, &address);
    let revision = revision_of(&identity, launch.as_ref())?;
    let surfaces = listed(run, &args.server, &args.client, address, revision);
    let compared = surfaces.and_then(|surfaces| compared(&args.client, (stated(args, identity), launch), &surfaces));
    compared.map_err(Unread::report)
}

/// Reads a live server, as `found` does by default; at a revision, if one is given.
pub(in crate::verb) fn live(
    run: &Run,
    server: &ServerArgs,
    address: Address,
    revision: Option<Revision>,
) -> Result<Found, Unread> {
    let origin = origin(run, server, &address);
    compared(OTHER_CLIENT, origin, &listed(run, server, OTHER_CLIENT, address, revision)?)
}

/// The first of three listings, and what differs in the others.
fn compared(
    client: &str,
    (identity, launch): (Identity, Option<Launch>),
    surfaces: &[Surface; 3],
) -> Result<Found, Unread> {
    let entries = surfaces.each_ref().map(|surface| entry(identity.clone(), launch.clone(), surface));
    let [entry, again, as_other] = entries;
    let (entry, again, as_other) = (entry?, again?, as_other?);
    let mut differing = surfaces[0].repeated_names();
    differing.extend(unstable(&entry, &again, "listed again"));
    differing.extend(unstable(&entry, &as_other, &format!("as the client {client}")));
    Ok(Found { entry, unstable: differing, is_recorded: false })
}

/// The identity with what the command line states of it.
fn stated(args: &TargetArgs, identity: Identity) -> Identity {
    Identity {
        registry: args.registry.clone(),
        package: args.package.clone().or(identity.package),
        package_digest: args.package_digest.clone(),
        ..identity
    }
}

fn entry(identity: Identity, launch: Option<Launch>, surface: &Surface) -> Result<Entry, Unread> {
    Entry::new(identity, launch, surface).map_err(|why: Unlockable| {
        Unread::Undigestible(format!("cannot lock the server: {why}"), "check it with `proof check` first")
    })
}

/// Where the server is and how it is started, without secrets.
fn origin(run: &Run, server: &ServerArgs, address: &Address) -> (Identity, Option<Launch>) {
    let redactor = run.redactor_of(&server.secrets()).masked();
    let masked = |text: &str| redactor.redact_known(text).into_owned();
    match address {
        Address::Stdio(command) => {
            let words = std::iter::once(&command.program).chain(&command.args);
            let reach = &server.reach;
            let set = reach.env.iter().filter_map(|pair| pair.split_once('=')).map(|(name, _)| name.to_owned());
            let mut env: Vec<String> = set.chain(reach.inherit_env.iter().cloned()).collect();
            env.sort();
            env.dedup();
            let command: Vec<String> = words.map(|word| masked(word)).collect();
            let package = package(&command);
            (Identity { package, ..Identity::default() }, Some(Launch { command, env }))
        }
        Address::Http(http) | Address::Sse(http) | Address::WebSocket(http) => {
            (Identity { url: Some(masked(http.url.as_str())), ..Identity::default() }, None)
        }
    }
}

/// The package that a command starts: that of `npx` and `uvx`.
fn package(command: &[String]) -> Option<String> {
    let program = command.first()?.rsplit('/').next()?;
    let named = |flags: &[&str]| {
        let at = command.iter().position(|word| flags.contains(&word.as_str()));
        at.and_then(|at| command.get(at + 1)).or_else(|| command[1..].iter().find(|word| !word.starts_with('-')))
    };
    match program {
        "npx" => {
            let spec = named(&["-p", "--package"])?;
            // A scope begins with an at sign, too.
            let version = spec.get(1..)?.find('@').map(|at| at + 1);
            let (name, version) = version.map_or((spec.as_str(), None), |at| (&spec[..at], Some(&spec[at + 1..])));
            Some(format!("pkg:npm/{}{}", name.replace('@', "%40"), suffix(version)))
        }
        "uvx" => {
            let spec = named(&["--from"])?;
            let (name, version) = spec
                .split_once("==")
                .or_else(|| spec.split_once('@'))
                .map_or((spec.as_str(), None), |(name, version)| (name, Some(version)));
            Some(format!("pkg:pypi/{}{}", name.to_lowercase(), suffix(version)))
        }
        _ => None,
    }
}

fn suffix(version: Option<&str>) -> String {
    version.filter(|version| !version.is_empty()).map(|version| format!("@{version}")).unwrap_or_default()
}

/// Three listings: two on one connection, the third under another client name.
fn listed(
    run: &Run,
    server: &ServerArgs,
    other_client: &str,
    address: Address,
    revision: Option<Revision>,
) -> Result<[Surface; 3], Unread> {
    let run = &run.with_environment(environment(&server.reach.inherit_env));
    connected(run, &server.reach, address, revision, async |options| {
        let [first, again] = twice(options.clone()).await?;
        // The revision that the first connection found, so that both speak the same.
        let revision = first.revision.as_deref().and_then(|name| name.parse().ok());
        let identity = ClientName { name: other_client.to_owned(), ..options.identity.clone() };
        let [other, _] = twice(Options { identity, revision, ..options }).await?;
        Ok([first, again, other])
    })
}

/// Connects and lists twice.
async fn twice(options: Options) -> Result<[Surface; 2], Unread> {
    let client = Client::connect(options).await.map_err(Unread::Client)?;
    let surfaces = async {
        let first = strict_surface(&client).await?;
        Ok([first, strict_surface(&client).await?])
    }
    .await;
    client.close().await;
    surfaces.map_err(|error| match error {
        Undigestible::Client(error) => Unread::Client(error),
        why @ Undigestible::Text(..) => Unread::Undigestible(why.to_string(), "report it to the server's author"),
    })
}

#[cfg(test)]
mod tests {
    use super::package;

    #[test]
    fn packages_are_read_off_commands() {
        for (command, expected) in [
            ("npx -y my-server@1.2.3", Some("pkg:npm/my-server@1.2.3")),
            ("/usr/bin/npx @scope/server@latest --stdio", Some("pkg:npm/%40scope/server@latest")),
            ("npx --package @scope/server server", Some("pkg:npm/%40scope/server")),
            ("uvx My-Server==1.0", Some("pkg:pypi/my-server@1.0")),
            ("uvx --from server@2 run", Some("pkg:pypi/server@2")),
            ("node server.js", None),
            ("npx", None),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(package(&words).as_deref(), expected, "{command}");
        }
    }
}

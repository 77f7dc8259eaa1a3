//! The verbs: each opens what it needs, and hands in what it found to be shown.

pub(crate) mod changing;
mod entries;
pub(crate) mod reading;
pub(crate) mod running;
pub(crate) mod starting;
pub(crate) mod ui;

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use fleet::child::Runner;
use fleet::config::Fleet;
use fleet::keeping::Keeping;
use fleet::state::ServerState;
use fleet_store::{Id, Millis};
use net::Children;

use crate::tell::Failure;

/// A fleet with its store.
pub(crate) struct Session {
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) keeping: Keeping,
    pub(crate) runner: Runner,
}

/// Milliseconds since 1970.
pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

/// Who calls.
pub(crate) fn caller() -> String {
    known_caller().unwrap_or_else(|| "unknown".to_owned())
}

/// Who calls, where the environment says it.
pub(crate) fn known_caller() -> Option<String> {
    let names = ["USER", "LOGNAME", "USERNAME"];
    names.iter().find_map(|name| std::env::var(name).ok().filter(|name| !name.is_empty()))
}

/// Reads a fleet.
pub(crate) fn load(file: &Path) -> Result<Fleet, Failure> {
    Fleet::load(file).map_err(Failure::said)
}

impl Session {
    pub(crate) async fn open(file: &Path, children: &Children) -> Result<Self, Failure> {
        let fleet = Arc::new(load(file)?);
        let remedy = "put `proof` beside `proof-fleet` or on the PATH";
        let runner = Runner::find(children).await.map_err(|why| Failure::usage(why, remedy))?;
        let keeping = Keeping::open(&fleet).await?;
        Ok(Self { fleet, keeping, runner })
    }

    pub(crate) async fn states(&self) -> Result<Vec<ServerState<'_>>, Failure> {
        Ok(self.keeping.states(&self.fleet, self.runner.version(), now()).await?)
    }

    /// The state of one server.
    pub(crate) async fn state(&self, name: &str) -> Result<ServerState<'_>, Failure> {
        self.known(name)?;
        let states = self.states().await?;
        states.into_iter().find(|state| state.server.name == name).ok_or_else(|| Failure::bug("a server has no state"))
    }

    /// Refuses a name that the inventory does not have.
    pub(crate) fn known(&self, name: &str) -> Result<(), Failure> {
        if self.fleet.server(name).is_some() {
            return Ok(());
        }
        let names = self.fleet.servers.iter().map(|server| server.name.as_str());
        let what = format!("the fleet has no server {}", document::quoted(name));
        Err(Failure::usage(what, &document::nearest(name, names)))
    }

    /// The id of a server in the store, which gets it where it is not there yet.
    pub(crate) async fn id(&self, name: &str) -> Result<Id, Failure> {
        self.known(name)?;
        let ids = self.keeping.put_servers(&self.fleet, now()).await?;
        ids.get(name).copied().ok_or_else(|| Failure::bug("a server has no id"))
    }
}

//! Finds out what each target serves before it is judged. Where the newest revision of each era is judged of a command, no more
//! than those are offered first, and the run goes on with the child that agreed: a start may cost more than all that is said.

use net::Tap;
use net::client::{
    Address, ConnectOptions, Detected, Greeted, Newest, OpenError, detect_any, detect_newest, detect_older,
};
use report::Served;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Duration, sleep};
use wire::trace::Header;
use wire::{Revision, Transport};

use super::context::{Setting, client_capabilities};
use super::greeting::look_past_discovery;
use super::places::Places;
use super::run::SHARED_SESSION;
use super::spawn_limit::SpawnLimit;
use super::time_limit::TimeLimit;
use super::{Options, RevisionChoice};

/// What is found at a target.
pub struct Found {
    /// What it serves.
    pub detected: Detected,
    /// Why it cannot be used, where it answers and agrees to nothing.
    pub failure: Option<OpenError>,
    greeted: Vec<Greeted>,
    untried: Vec<Revision>,
}

/// What is found at a target, later.
pub type Looking = JoinHandle<Result<Found, OpenError>>;

/// Looks at one target; `modern` is the setting of a run there at the newest revision.
pub fn look(options: &Options, address: &Address, modern: Setting) -> Looking {
    let address = address.clone();
    let connect = ConnectOptions::new(options.limits.clone(), &options.children).lenient();
    let is_newest = options.revisions == RevisionChoice::NewestOfEachEra && address.transport() == Transport::Stdio;
    tokio::spawn(async move {
        let mut found = if is_newest {
            Found::newest(&address, &connect).await?
        } else {
            let (detected, failure) = detect_any(&address, &connect, Tap::new).await?;
            Found { detected, failure, greeted: Vec::new(), untried: Vec::new() }
        };
        look_past_discovery(&mut found.detected, modern).await;
        Ok(found)
    })
}

impl Found {
    async fn newest(address: &Address, connect: &ConnectOptions) -> Result<Self, OpenError> {
        // The shared session goes on with what crossed.
        let tap = |header: Header| Tap::new(Header { case: SHARED_SESSION.to_owned(), ..header });
        let Newest { detected, failure, greeted, untried } =
            detect_newest(address, connect, tap, client_capabilities).await?;
        Ok(Self { detected, failure, greeted, untried })
    }

    /// The connection on which it agreed to `revision`, once.
    pub fn take(&mut self, revision: Revision) -> Option<Greeted> {
        let at = self.greeted.iter().position(|greeted| greeted.revision == revision)?;
        Some(self.greeted.swap_remove(at))
    }

    /// What it serves and is not judged at, where the user did not choose: who chose knows.
    pub fn also_served(
        self,
        options: &Options,
        judged: &[Revision],
        (places, spawns, time): (Places, SpawnLimit, TimeLimit),
    ) -> AlsoServed {
        let Self { detected, untried, greeted, .. } = self;
        let connect = ConnectOptions::new(options.limits.clone(), &options.children).lenient();
        let unnamed = options.revisions == RevisionChoice::NewestOfEachEra;
        let revisions = detected.revisions.iter().copied().filter(|revision| unnamed && !judged.contains(revision));
        let revisions = revisions.collect();
        let (transport, mut older) = (detected.transport, JoinSet::new());
        older.spawn(async move {
            for unused in greeted {
                unused.close().await;
            }
            if untried.is_empty() {
                return Vec::new();
            }
            let served = async {
                sleep(AFTER_OTHERS).await;
                let _place = places.one(Transport::Stdio).await;
                let _start = spawns.acquire(Transport::Stdio).await;
                detect_older(&detected.address, &connect, Tap::new, &untried).await
            };
            tokio::select! {
                served = served => served,
                () = time.up() => Vec::new(),
            }
        });
        AlsoServed { transport, revisions, older }
    }
}

/// Nothing but a line of the report depends on the older revisions: what else begins goes first.
const AFTER_OTHERS: Duration = Duration::from_secs(1);

/// What a target serves and is not judged at.
pub struct AlsoServed {
    transport: Transport,
    revisions: Vec<Revision>,
    /// The older revisions that were not offered at first.
    older: JoinSet<Vec<Revision>>,
}

/// As all of it is reported.
pub async fn known(all: Vec<AlsoServed>) -> Vec<Served> {
    let mut served = Vec::new();
    for one in all {
        served.extend(one.known().await);
    }
    served
}

impl AlsoServed {
    /// As it is reported, if it is anything.
    async fn known(self) -> Option<Served> {
        let Self { transport, mut revisions, older } = self;
        revisions.extend(older.join_all().await.into_iter().flatten());
        revisions.sort_unstable();
        revisions.dedup();
        (!revisions.is_empty()).then_some(Served { transport, revisions })
    }
}

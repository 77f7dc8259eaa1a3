//! What a server may do that no check of servers finds broken, but that tries clients. `proof check-client` plays them as
//! scenarios.

mod asking;
mod calls;
mod client_tasks;
mod greetings;
mod ids;
mod issuers;
mod lists;
mod rounds;
mod streams;
mod unexpected;

use super::{Fault, Kind, fault};

pub use self::asking::*;
pub use self::calls::*;
pub use self::client_tasks::*;
pub use self::greetings::*;
pub use self::ids::*;
pub use self::issuers::*;
pub use self::lists::*;
pub use self::rounds::*;
pub use self::streams::*;
pub use self::unexpected::*;

const FAMILIES: [&[&Fault]; 10] =
    [CALLS, LISTS, GREETINGS, IDS, STREAMS, ROUNDS, UNEXPECTED, CLIENT_TASKS, ISSUERS, ASKING];

/// Every quirk, family by family.
pub fn all() -> impl Iterator<Item = &'static Fault> {
    FAMILIES.into_iter().flatten().copied()
}

/// A quirk that shows at every revision, over every transport.
const fn quirk(name: &'static str, kind: Kind) -> Fault {
    fault(name, "", "", kind)
}

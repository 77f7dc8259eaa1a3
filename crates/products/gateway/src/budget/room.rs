//! How many bytes the plans that clients give take in all, and those of one principal. Must not know what they are for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Owner;

/// The most bytes of all plans, and of those of one principal. Without principals, all may be one client's.
const MOST: usize = 16 << 20;
const MOST_OF_ONE: usize = 1 << 20;
/// What a plan takes in addition to its names, and what each name does.
const OF_PLAN: usize = 256;
const OF_NAME: usize = size_of::<String>();

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by_owner: HashMap<Owner, usize>,
}

/// The room that plans have.
#[derive(Debug, Default)]
pub(super) struct Room(Mutex<Taken>);

impl Room {
    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for these names, until the lease is dropped; `None` where no room is left.
    pub(super) fn take(self: &Arc<Self>, owner: &Owner, names: &[String]) -> Option<Lease> {
        let bytes = OF_PLAN + names.iter().map(|name| name.len() + OF_NAME).sum::<usize>();
        let most = if owner.is_some() { MOST_OF_ONE } else { MOST };
        let mut taken = self.taken();
        let owned = taken.by_owner.get(owner).copied().unwrap_or_default();
        if taken.all + bytes > MOST || owned + bytes > most {
            return None;
        }
        taken.all += bytes;
        taken.by_owner.insert(owner.clone(), owned + bytes);
        Some(Lease { room: Arc::clone(self), owner: owner.clone(), bytes })
    }
}

/// Room that is taken.
#[derive(Debug)]
pub(super) struct Lease {
    room: Arc<Room>,
    owner: Owner,
    bytes: usize,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut taken = self.room.taken();
        taken.all = taken.all.saturating_sub(self.bytes);
        if let Some(owned) = taken.by_owner.get_mut(&self.owner) {
            *owned = owned.saturating_sub(self.bytes);
            if *owned == 0 {
                taken.by_owner.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use net::server::http::HeaderValue;

    use super::{MOST, MOST_OF_ONE, Room};

    #[test]
    fn plans_are_bounded_for_each_principal_and_in_all() {
        let room = Arc::new(Room::default());
        let steps = vec!["x".repeat(256); 64];
        let fill = |name: &str| {
            let owner = Some(HeaderValue::from_str(name).expect("a name"));
            std::iter::from_fn(|| room.take(&owner, &steps)).collect::<Vec<_>>()
        };
        let one = fill("one");
        let each = MOST_OF_ONE / one.len();
        assert!((64 * 256..20_000).contains(&each), "{each}");
        let others: Vec<_> = (0..100).map(|number| fill(&number.to_string())).collect();
        let all = one.len() + others.iter().map(Vec::len).sum::<usize>();
        assert!(all <= MOST / (64 * 256) && all > MOST / 20_000, "{all}");
        assert!(room.take(&None, &steps).is_none());
        drop(others);
        assert!(room.take(&None, &steps).is_some() && fill("one").is_empty());
        drop(one);
        assert!(room.taken().by_owner.is_empty() && room.taken().all == 0);
    }
}

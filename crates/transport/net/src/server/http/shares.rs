//! How many connections each address has, so that one address cannot take them all. Knows no request.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What one peer may have of `all`.
pub(super) const fn share_of(all: usize) -> usize {
    all - all / 4
}

/// A peer by its address. A host has a whole network of IPv6 addresses: its first 64 bits name it.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// The places that are taken, by address.
#[derive(Clone)]
pub(super) struct Shares {
    taken: Arc<Mutex<HashMap<IpAddr, usize>>>,
    most: usize,
}

/// One place; dropped, it is free again.
pub(super) struct Share {
    shares: Shares,
    address: Option<IpAddr>,
}

impl Shares {
    pub(super) fn new(most: usize) -> Self {
        Self { taken: Arc::default(), most }
    }

    /// A place for this address, unless it has its share. A peer without an address needs none.
    pub(super) fn take(&self, address: Option<IpAddr>) -> Option<Share> {
        let address = address.map(network);
        if let Some(address) = address {
            let mut taken = self.taken();
            let count = taken.entry(address).or_default();
            if *count >= self.most {
                return None;
            }
            *count += 1;
        }
        Some(Share { shares: self.clone(), address })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let Some(address) = self.address else { return };
        let mut taken = self.shares.taken();
        if let Some(count) = taken.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_leaves_places_for_others() {
        let shares = Shares::new(share_of(4));
        let address = |text: &str| Some(text.parse().unwrap());
        let held: Vec<_> = (0..3).map(|_| shares.take(address("2001:db8::1")).unwrap()).collect();
        assert!(shares.take(address("2001:db8::2")).is_none(), "the same network");
        assert!(shares.take(address("2001:db8:0:1::1")).is_some() && shares.take(None).is_some());
        drop(held);
        assert!(shares.take(address("2001:db8::2")).is_some() && shares.taken().is_empty());
    }
}

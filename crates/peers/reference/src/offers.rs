//! What a server offers, in all its versions: a catalogue may be replaced while requests still use the one before. Knows nothing
//! of files.

use std::sync::{Arc, OnceLock};

use crate::catalogue::Catalogue;
use crate::tools::Toolbox;

/// How often a catalogue may be replaced. Every version is kept as long as the server.
const MOST: usize = 1000;

/// A catalogue, and what is made of its tools once.
pub(crate) struct Offer {
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) toolbox: Toolbox,
    next: OnceLock<Box<Offer>>,
}

/// Every version, the first to the latest.
pub(crate) struct Offers(Offer);

impl Offer {
    fn new(catalogue: Arc<Catalogue>) -> Self {
        Self { toolbox: Toolbox::new(&catalogue), catalogue, next: OnceLock::new() }
    }
}

impl Offers {
    pub(crate) fn new(catalogue: Arc<Catalogue>) -> Self {
        Self(Offer::new(catalogue))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Offer> {
        std::iter::successors(Some(&self.0), |offer| offer.next.get().map(Box::as_ref))
    }

    pub(crate) fn latest(&self) -> &Offer {
        self.all().last().unwrap_or(&self.0)
    }

    /// Adds a version; `false` where there are too many.
    pub(crate) fn replace(&self, catalogue: Arc<Catalogue>) -> bool {
        let mut offer = Box::new(Offer::new(catalogue));
        for (at, version) in self.all().enumerate() {
            if at + 1 >= MOST {
                return false;
            }
            match version.next.set(offer) {
                Ok(()) => return true,
                Err(back) => offer = back,
            }
        }
        false
    }
}

impl Drop for Offers {
    /// One after the other: a long chain that drops itself from within needs a deep stack.
    fn drop(&mut self) {
        let mut next = self.0.next.take();
        while let Some(mut offer) = next {
            next = offer.next.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{MOST, Offers};
    use crate::catalogue::Catalogue;

    #[test]
    fn the_latest_version_counts_and_there_are_not_too_many() {
        let empty = Catalogue { tools: Vec::new(), ..Catalogue::standard() };
        let version = |at: usize| Arc::new(Catalogue { version: at.to_string().into(), ..empty.clone() });
        let offers = Offers::new(version(0));
        let first = offers.latest();
        for at in 1..MOST {
            assert!(offers.replace(version(at)));
        }
        assert!(!offers.replace(version(MOST)));
        assert_eq!(first.catalogue.version, "0", "who still uses it, keeps it");
        assert_eq!(offers.latest().catalogue.version, (MOST - 1).to_string());
    }
}

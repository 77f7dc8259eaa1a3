//! The official catalogue: what the official conformance suite expects of a server.

use super::Catalogue;

pub(super) fn catalogue() -> Catalogue {
    Catalogue::new("proof-official", env!("CARGO_PKG_VERSION"))
}

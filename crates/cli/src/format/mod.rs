//! Text that is not a report of findings: the rules themselves, test files, generated tests, snapshots.

pub(crate) mod drift;
pub(crate) mod eval;
pub(crate) mod generated;
pub(crate) mod lock;
mod page;
pub(crate) mod painted;
pub(crate) mod replay;
pub(crate) mod rule_list;
mod sarif;
pub(crate) mod scan;
pub(crate) mod suite;

//! What several rules read out of a trace: questions, tasks, timeouts, references, values and schemas.
//!
//! Nothing here is a rule. It must not know what a rule demands.

pub(crate) mod batches;
pub(crate) mod content;
pub(crate) mod entropy;
pub(crate) mod fetching;
pub(crate) mod holes;
pub(crate) mod liveness;
pub(crate) mod questions;
pub(crate) mod references;
pub(crate) mod schema_fit;
pub(crate) mod task_polling;
pub(crate) mod tasks;
pub(crate) mod timeouts;

//! One module per verb: from its arguments to its exit code.

mod baselines;
pub(crate) mod check;
pub(crate) mod check_client;
pub(crate) mod client;
mod client_options;
pub(crate) mod completion;
mod conclude;
pub(crate) mod explain;
pub(crate) mod gateway;
pub(crate) mod generate;
mod generated_file;
pub(crate) mod given_file;
pub(crate) mod output;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod rules;
pub(crate) mod saved;
pub(crate) mod scan;
pub(crate) mod serve;
mod serving;
mod sign_in;
pub(crate) mod snapshot;
pub(crate) mod test;
mod traces;

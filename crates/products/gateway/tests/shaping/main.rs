//! `authzen`, `confirm`, `context`, `inputs`, `outputs`, `sanitize`, `search` and `sequences` over HTTP: what servers learn of principals, what clients get of
//! what servers say, which calls are made; and what attackers try at all stages.

mod attacks;
mod authzen;
mod confirm;
mod context;
mod hostile;
mod identity;
mod inputs;
mod outputs;
mod sanitize;
mod scene;
mod search;
mod sequences;

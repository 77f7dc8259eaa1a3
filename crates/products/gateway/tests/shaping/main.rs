//! `confirm`, `context`, `outputs`, `sanitize` and `sequences` over HTTP: what servers learn of principals, what clients get of
//! what servers say, and which calls are made.

mod confirm;
mod context;
mod outputs;
mod sanitize;
mod scene;
mod sequences;

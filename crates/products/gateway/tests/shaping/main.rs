//! `confirm`, `context`, `sanitize`, `sequences` and `outputs` over HTTP: what servers learn of principals, and what clients get of what servers say.

mod confirm;
mod context;
mod outputs;
mod sanitize;
mod scene;
mod sequences;

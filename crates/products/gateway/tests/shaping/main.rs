//! `context`, `sanitize` and `outputs` over HTTP: what servers learn of principals, and what clients get of what servers say.

mod context;
mod sanitize;
mod outputs;
mod scene;

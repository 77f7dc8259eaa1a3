//! `context` and `sanitize` over HTTP: what servers learn of principals, and what clients get of what servers say.

mod attacks;
mod context;
mod identity;
mod sanitize;
mod scene;

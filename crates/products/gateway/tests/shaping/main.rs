//! `context` and `sanitize` over HTTP: what servers learn of principals, and what clients get of what servers say; and what
//! attackers try at all stages.

mod attacks;
mod context;
mod identity;
mod sanitize;
mod scene;

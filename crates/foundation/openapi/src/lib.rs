//! OpenAPI descriptions (Swagger 2, OpenAPI 3.0 and 3.1) as MCP tools: what they say ([`model`]), what a model sees of each
//! operation, which request a call becomes, and what of the answer goes back.
//!
//! Pure: it knows no model, runtime, clock, file or socket. Whatever a stranger wrote is bounded here.

pub mod answer;
pub mod model;
pub mod request;

pub use model::{Api, Operation};

//! OpenAPI descriptions (Swagger 2, OpenAPI 3.0 and 3.1) as MCP tools: what they say ([`model`]), what a model sees of each
//! operation, which request a call becomes, and what of the answer goes back.
//!
//! Pure: it knows no model, runtime, clock, file or socket. Whatever a stranger wrote is bounded here.

pub mod answer;
pub mod choice;
mod limits;
pub mod lint;
pub mod model;
pub mod naming;
pub mod propose;
mod prose;
mod reading;
pub mod request;
mod schemas;
mod text;
pub mod tools;

pub use choice::Choice;
pub use limits::Limits;
pub use model::{Api, Operation};
pub use reading::{ReadError, answer_schema, read, read_chosen};
pub use text::{LARGEST, parse};
pub use tools::{Tool, ToolLimits};

//! The Model Context Protocol as values: JSON-RPC messages, the five revisions, the method table, message shapes,
//! framing, and the [`trace`] of everything that crossed.
//!
//! This crate knows no runtime, clock, socket, file or randomness: time and identifiers come in as arguments.

mod applies;
pub mod error_code;
pub mod escape;
pub mod framing;
pub mod http;
pub mod json;
mod level;
pub mod message;
pub mod meta;
pub mod method;
pub mod pointer;
pub mod redact;
pub mod revision;
pub mod serf;
mod severity;
pub mod shape;
pub mod splice;
pub mod timestamp;
pub mod trace;
pub mod translate;

pub use applies::Applies;
pub use level::Level;
pub use message::{Kind, Message, RequestId};
pub use revision::{Era, Revision, Transport};
pub use severity::Severity;
pub use trace::{Party, Trace};

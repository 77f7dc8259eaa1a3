//! Configurations of MCP clients: which clients there are, where their files are, what an entry looks like in each, and changes
//! of one entry that leave the rest of a file as it is. Values in, values out: files are read and written elsewhere.

pub mod catalogue;
pub mod check;
pub mod claude_command;
pub mod findings;
mod merge;
pub mod needed;
pub mod place;
pub mod plan;
pub mod policy;
pub mod reference;
pub mod registry;
pub mod scope;
pub mod server;
pub mod shape;
pub mod text;

pub use catalogue::{Client, clients, find};
pub use document::{FileError, Position};
pub use place::{Platform, Variables};
pub use scope::Scope;
pub use server::{Launch, Server, Transport};

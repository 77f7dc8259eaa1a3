//! Peers that attack: a web server with scripted answers, and an MCP server that breaks its promises, over HTTP or as a child
//! process. They run in this program, so nothing needs to be installed.

pub(super) mod http;
pub(super) mod mcp;
pub(crate) mod stdio;

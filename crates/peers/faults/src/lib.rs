//! Deliberate violations of the specification, to test clients, servers and our own rules with. Nothing here is linked into
//! a product: only the judge, the command line, `xtask` and tests may use it.

/// Faults of the client.
pub mod client;

/// Faults and quirks of the reference server.
pub mod server;

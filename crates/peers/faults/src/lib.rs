//! Deliberate violations of the protocol, and legal oddities, put around peers that know nothing of them.

/// Faults and quirks of the reference server.
pub mod server;

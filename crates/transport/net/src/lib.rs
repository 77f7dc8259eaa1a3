//! The four transports, both ends, and child processes: the only crate that opens sockets or starts programs. Every frame
//! that crosses is written down by a [`tap::Tap`] as it crosses. This crate must not know what the specification demands of
//! a peer: it reports what happened and judges nothing.

#[cfg(not(unix))]
compile_error!("proof runs on Linux and macOS only: it ends peers by process groups and signals");

pub mod client;
pub mod egress;
mod local_socket;
pub mod process;
mod redaction;
mod regular_file;
pub mod server;
pub mod service;
pub mod started;
pub mod tap;
mod tls;
pub mod upstream;

pub use client::{
    Address, ConnectOptions, Connection, Detected, Exchange, HttpAddress, Limits, OpenError, Outgoing, SendError,
    detect,
};
pub use local_socket::{LocalListener, LocalStream, connect_local, local_sockets, socket_folder};
pub use process::{Children, Environment};
pub use redaction::new_redactor;
pub use regular_file::{open_at_once, open_regular};
pub use tap::Tap;

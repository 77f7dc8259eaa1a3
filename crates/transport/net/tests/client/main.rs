//! The client end against children in shell and fakes that write canned bytes: no test here needs a network or a server.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod detect;
mod egress;
mod end;
mod http;
mod other_addresses;
mod stdio;
mod tls;
mod upstream;
mod websocket;

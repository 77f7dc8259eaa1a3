//! The client end of a connection to an MCP server, over any transport.

mod address;
mod advice;
mod attempt;
mod authorizer;
mod body;
mod channel;
mod connection;
mod detect;
pub(crate) mod dial;
mod document;
mod error;
mod exchange;
pub(crate) mod http;
mod inbox;
mod lenient;
pub mod negotiation;
mod old_sse;
mod options;
mod other_addresses;
mod outgoing;
mod pool;
mod raw;
mod request;
mod staged;
mod stdio;
mod views;
mod waiting;
mod websocket;

pub(crate) use self::{
    body::{Cuts, Pieces},
    pool::{Link, Pool},
    stdio::not_started,
    websocket::{Socket, open_socket},
};
pub use address::{Address, HttpAddress, Identity, without_scheme};
pub use advice::Advice;
pub use attempt::{Greeted, failure_of, redirect_target};
pub use authorizer::{Authorizer, Authorizing, Refusal};
pub use connection::Connection;
pub use detect::{
    Detected, Introduction, Newest, OtherGreeting, detect, detect_any, detect_newest, detect_older, follow,
};
pub use dial::{Dialer, Io, secure};
pub use document::{DocumentError, document};
pub use error::{OpenError, SendError};
pub use exchange::Exchange;
pub use http::header_list;
pub use options::{ConnectOptions, Limits};
pub use outgoing::Outgoing;
pub use staged::{Reached, Secured};
pub use views::{ChildView, HttpView};
pub use waiting::is_up_within;

pub use crate::process::{Command, Signal};

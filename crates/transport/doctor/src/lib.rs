//! Walks the way to a server step by step: name, connection, encryption, HTTP, documents, authorization, handshake, first list;
//! for a command: program, start, output, handshake, first list. The first step that fails says what fixes it. Must not judge
//! what a server says beyond that, and changes nothing there.

mod authorization;
mod command;
mod conversation;
mod http;
mod network;
mod step;
mod walk;

use std::sync::Arc;
use std::time::Duration;

use net::Children;
use net::client::{Address, Authorizer};
use wire::redact::Redactor;

pub use step::{Outcome, Report, Step, StepName};

use walk::Walk;

/// How long one step may take, unless the caller says otherwise.
pub const STEP: Duration = Duration::from_secs(10);
/// How many steps' time a whole walk may take.
const STEPS: u32 = 4;

/// Gives the words for advice that needs an option of the program.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// About connections.
    pub connecting: fn(&net::client::Advice) -> String,
    /// About requests.
    pub asking: fn(&client::Advice) -> String,
    /// About authorization.
    pub authorizing: fn(oauth::Advice) -> String,
    /// How a person signs in with this program.
    pub sign_in: &'static str,
}

/// What is examined, and how.
#[derive(Clone)]
pub struct Options {
    /// Where the server is.
    pub address: Address,
    /// Owns the process of a command.
    pub children: Children,
    /// How long one step may take; the whole walk may take four times as long.
    pub step: Duration,
    /// Gets a token where the server requires one; without it, nothing is registered and nobody signs in.
    pub authorizer: Option<Arc<dyn Authorizer>>,
    /// Replaces secrets in everything that is reported.
    pub redactor: Redactor,
    /// The words for advice.
    pub words: Words,
    /// Hears every step when it is over.
    pub observer: Arc<dyn Fn(&Step) + Send + Sync>,
}

/// Walks to the server as far as it goes.
pub async fn examine(options: Options) -> Report {
    let limit = options.step * STEPS;
    let mut walk = Walk::new(options, limit);
    if matches!(walk.options.address, Address::Stdio(_)) {
        command::walk(&mut walk).await;
    } else {
        network::walk(&mut walk).await;
    }
    walk.report()
}

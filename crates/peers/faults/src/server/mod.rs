//! Deliberate violations, one at a time or several: to test clients with, and to prove that our own rules notice. They
//! stand beside the server, which knows nothing of them: a fault alters what goes in or what comes out, by decorating the
//! service ([`service`]) or the transport ([`transport`], [`lines`]). One table per family.

mod asking;
mod authorization;

mod completion;
mod crashes;
mod discovery;
mod envelopes;
mod errors;
mod headers;
mod http;
mod jsonrpc;
mod lifecycle;
mod lines;
mod lists;
mod logging;
mod meta;
mod mixups;
mod outgoing;
mod patterns;
mod ping;
mod prompts;
pub mod quirks;
mod renamed;
mod resources;
mod rounds;
mod serf;
mod service;
mod serving;
mod sessions;
mod side_effects;
mod sse;
mod state;
mod stdio;
mod streams;
mod tasks;
mod tools;
mod transport;
mod valid_tokens;
mod wrong_peer;

use std::sync::Arc;

use net::server::http::{Bytes, HeaderMap, Parts, Uri};
use net::service::{Call, Context, Link, Reply};
use serde_json::Value;
use wire::meta::PREFIX;
use wire::revision::R2026_07_28;
use wire::{Applies, Era, Revision, Transport};

pub use self::lists::PAGES_IN_CIRCLES;
pub use self::patterns::CANCELLATION_IGNORED;
pub use self::serving::FaultyServer;
pub use self::sessions::SESSION_ID_CHANGES;
pub use self::stdio::{LINGERS, LINGERS_MODERN, STDOUT_BANNER};
pub use self::streams::STREAM_WITHOUT_RESPONSE;
pub use self::tools::{INPUT_SCHEMA_NULL, STRUCTURED_OTHERWISE, TOOL_NAME_TWICE};

use self::outgoing::Outgoing;
use self::state::State;

/// One deliberate violation.
#[derive(Debug)]
pub struct Fault {
    /// What it is called on the command line.
    pub name: &'static str,
    /// The rule it breaks.
    pub rule: &'static str,
    /// Rules that it cannot but break as well.
    pub consequences: &'static [&'static str],
    /// What it does, in one line.
    pub about: &'static str,
    /// Where it shows.
    pub applies: Applies,
    /// Whether it shows only where the server demands a bearer token.
    pub token: bool,
    kind: Kind,
}

/// What a fault gets hold of.
enum Kind {
    /// A request or notification that came in, before anything looks at it.
    Receives(fn(&mut IncomingMessage<'_>)),
    /// The result of a method, within its envelope.
    Results(&'static str, fn(&mut Value)),
    /// The error of a method, within its envelope.
    Errors(&'static str, fn(&mut Value)),
    /// A list: a copy of its first item, altered, is added under this member.
    Lists(&'static str, &'static str, fn(&mut Value)),
    /// The answer of the service, before the transport has it.
    Answers(fn(&ServiceRequest, &mut Value)),
    /// A notification or request that a request sends beside its answer.
    SideMessage(&'static str, fn(&mut Value)),
    /// What a request sends beside its answer: nothing, the same or more.
    SideMessages(fn(&ServiceRequest, Value) -> Vec<Value>),
    /// The whole handling of a request.
    Handles(fn(&ServiceRequest, &Link, Reply) -> Reply),
    /// What is said after a message on the same way out, where that takes more than one.
    Follows(fn(&Value, &State) -> Option<Value>),
    /// Every message on its way out, errors of the transport included.
    Sends(fn(&mut Value)),
    /// Every message on its way out, as bytes.
    Writes(fn(&[u8]) -> Vec<u8>),
    /// HTTP: the head of a request and the response to it.
    Http(Http),
    /// HTTP: ids of sessions.
    Sessions(sessions::SessionIds),
    /// stdio: lines and the ends of the process.
    Stdio(stdio::Process),
    /// Several that only together are the violation.
    Several(&'static [Kind]),
}

impl Kind {
    /// What it consists of: itself, unless it is several.
    const fn parts(&'static self) -> &'static [Self] {
        match self {
            Self::Several(parts) => parts,
            one => std::slice::from_ref(one),
        }
    }
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Kind")
    }
}

/// A fault of the HTTP endpoint.
struct Http {
    /// Whether a valid token takes the place of whatever a request carries.
    authorizes: fn(&Uri, &HeaderMap) -> bool,
    head: fn(&mut Parts, &State),
    response: fn(&Parts, &mut Outgoing<'_>),
    /// Alters each event of a stream that answers the request; the bytes are whole events.
    event: Option<fn(&Parts, Bytes, &State) -> Bytes>,
}

const HTTP: Http = Http { authorizes: |_, _| false, head: |_, _| (), response: |_, _| (), event: None };

/// A message that came in. Over HTTP with its headers.
struct IncomingMessage<'h> {
    message: &'h mut Value,
    headers: Option<&'h mut HeaderMap>,
    /// What the faults of this server remember.
    state: &'h State,
}

impl IncomingMessage<'_> {
    fn is(&self, method: &str) -> bool {
        self.message["method"] == method
    }

    /// The reserved member of its `_meta`; null where there is none.
    fn meta(&self, name: &str) -> &Value {
        &self.message["params"]["_meta"][format!("{PREFIX}{name}")]
    }

    fn set_meta(&mut self, name: &str, value: Value) {
        self.message["params"]["_meta"][format!("{PREFIX}{name}")] = value;
    }

    fn is_modern(&self) -> bool {
        let version = self.message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion");
        version.is_some()
    }
}

/// A request that the service is asked.
struct ServiceRequest {
    message: Value,
    context: Context,
    /// How many requests the server was asked before, and how many of those were calls of tools.
    before: usize,
    calls: usize,
    /// What the faults of this server remember.
    state: Arc<State>,
}

impl ServiceRequest {
    fn new(call: &Call, before: usize, calls: usize, state: Arc<State>) -> Self {
        Self { message: call.message.value().clone(), context: call.context.clone(), before, calls, state }
    }

    fn is(&self, method: &str) -> bool {
        self.message["method"] == method
    }

    fn param(&self, name: &str) -> &Value {
        &self.message["params"][name]
    }

    fn has_no_params(&self) -> bool {
        self.message.get("params").is_none()
    }

    /// The reserved member of its `_meta`; null where there is none.
    fn meta(&self, name: &str) -> &Value {
        &self.message["params"]["_meta"][format!("{PREFIX}{name}")]
    }

    fn is_modern(&self) -> bool {
        self.context.era() == Era::Modern
    }

    /// Whether it is every other request of a client that counts its ids up.
    fn is_odd(&self) -> bool {
        self.message["id"].as_i64().is_some_and(|id| id % 2 != 0)
    }
}

fn drop_member(value: &mut Value, name: &str) {
    if let Some(members) = value.as_object_mut() {
        members.remove(name);
    }
}

/// A fault that shows at every revision, over every transport.
const fn fault(name: &'static str, rule: &'static str, about: &'static str, kind: Kind) -> Fault {
    Fault { name, rule, consequences: &[], about, applies: Applies::EVERYWHERE, token: false, kind }
}

impl Fault {
    /// What it does, piece by piece.
    fn kinds(&'static self) -> impl Iterator<Item = &'static Kind> {
        self.kind.parts().iter()
    }

    /// Names rules that it breaks as well, where it shows and they apply.
    const fn breaks_too(mut self, rules: &'static [&'static str]) -> Self {
        self.consequences = rules;
        self
    }

    const fn since(mut self, since: Revision) -> Self {
        self.applies = self.applies.since(since);
        self
    }

    const fn until(mut self, until: Revision) -> Self {
        self.applies = self.applies.until(until);
        self
    }

    const fn modern(self) -> Self {
        self.since(R2026_07_28)
    }

    const fn legacy(self) -> Self {
        self.until(Revision::NEWEST_LEGACY)
    }

    const fn on(mut self, transport: Transport) -> Self {
        self.applies = self.applies.on(&[transport]);
        self
    }

    const fn except(mut self, transport: Transport) -> Self {
        self.applies = self.applies.except(transport);
        self
    }

    const fn http(self) -> Self {
        self.on(Transport::StreamableHttp)
    }

    const fn token(mut self) -> Self {
        self.token = true;
        self
    }

    const fn stdio(self) -> Self {
        self.on(Transport::Stdio)
    }

    /// Where it shows, in words.
    pub fn place(&self) -> String {
        let token = if self.token { ", with a bearer token" } else { "" };
        format!("{}{token}", self.applies)
    }
}

const FAMILIES: [&[&Fault]; 30] = [
    jsonrpc::FAULTS,
    ping::FAULTS,
    envelopes::FAULTS,
    errors::FAULTS,
    meta::FAULTS,
    lifecycle::FAULTS,
    discovery::FAULTS,
    tools::FAULTS,
    serf::FAULTS,
    resources::FAULTS,
    prompts::FAULTS,
    completion::FAULTS,
    lists::FAULTS,
    side_effects::FAULTS,
    logging::FAULTS,
    patterns::FAULTS,
    rounds::FAULTS,
    asking::FAULTS,
    wrong_peer::FAULTS,
    stdio::FAULTS,
    crashes::FAULTS,
    http::FAULTS,
    headers::FAULTS,
    sessions::FAULTS,
    streams::FAULTS,
    sse::FAULTS,
    authorization::FAULTS,
    tasks::core::FAULTS,
    tasks::extension::FAULTS,
    mixups::FAULTS,
];

/// Every fault, family by family.
pub fn all() -> impl Iterator<Item = &'static Fault> {
    FAMILIES.into_iter().flatten().copied()
}

/// The fault of this name, or of this former name.
pub fn find(name: &str) -> Option<&'static Fault> {
    let name = renamed::current(name);
    all().find(|fault| fault.name == name)
}

/// Faults, and what those of one server remember.
#[derive(Clone, Debug, Default)]
struct Active {
    faults: Vec<&'static Fault>,
    state: Arc<State>,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{all, quirks};

    #[test]
    fn names_are_unique_and_plain() {
        let mut seen = BTreeSet::new();
        for fault in all().chain(quirks::all()) {
            assert!(seen.insert(fault.name), "{} stands twice", fault.name);
            assert!(fault.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
            assert!(!fault.applies.is_empty(), "{} shows nowhere", fault.name);
        }
    }
}

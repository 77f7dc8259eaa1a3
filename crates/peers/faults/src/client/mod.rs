//! Deliberate violations of what is demanded of clients, one at a time or several: to test servers with, and to prove that
//! our own rules notice. The client knows nothing of them: a fault wraps its connection ([`hooks`]) or what gets it a token
//! ([`authorization`]). One table per family.

mod answers;
mod authorization;
mod hooks;
mod http;
mod lifecycle;
mod messages;
mod oauth;
mod renamed;
mod results;
mod rounds;
mod tasks;

use net::client::Outgoing;
use serde_json::{Value, json};
use wire::revision::R2026_07_28;
use wire::{Applies, Era, Revision, Transport};

pub use authorization::authorizer;
pub use hooks::connector;

use authorization::{Decision, Step};
use hooks::Channel;

/// One deliberate violation.
#[derive(Debug)]
pub struct Fault {
    /// What it is called on the command line.
    pub name: &'static str,
    /// The rule it breaks.
    pub rule: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Where it shows.
    pub applies: Applies,
    /// The scenario of `proof check-client` in which it surely shows.
    pub scenario: &'static str,
    /// The transport over which it surely shows there.
    pub seen_over: Transport,
    /// Rules that it cannot but break as well.
    pub consequences: &'static [&'static str],
    kind: Kind,
}

/// What a fault gets hold of.
enum Kind {
    /// A message on its way out; whether it was altered.
    Sends(fn(&mut Value) -> bool),
    /// What goes out in place of a message; `None` where it goes out as it is.
    Instead(fn(&Value) -> Option<Vec<String>>),
    /// One more message, once, ahead of the first request that is no greeting.
    AlsoSends(fn() -> Vec<String>),
    /// The HTTP request that carries a message.
    Carries(fn(&Value, Outgoing) -> Outgoing),
    /// The result of a request before the client understands it; whether it was altered.
    Receives(fn(&mut Value) -> bool),
    /// The HTTP request that opens a stream, or goes on with it.
    Opens(fn(Outgoing) -> Outgoing),
    /// The event after which it resumes a stream.
    ResumesAfter(fn(&str) -> String),
    /// It resumes a stream without waiting.
    ResumesAtOnce,
    /// It resumes no stream.
    NeverResumes,
    /// It sends the first cursor that it had in place of every other.
    KeepsCursor,
    /// The answer to a question that the server cancelled.
    AnswersCancelled(fn(&Value) -> String),
    /// It says nothing more after the answer to a cancelled request.
    Chokes,
    /// It goes without a word.
    Vanishes,
    /// The parameters of a request to an authorization server.
    Seeks(fn(Step, &mut Vec<(String, String)>)),
    /// What it registers with.
    Registers(fn(&mut Value)),
    /// It accepts what a strict verifier refuses.
    Waives(Decision),
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Kind")
    }
}

/// A scenario in which nothing happens but a list and a call.
const TOOLS: &str = "tools_call";

/// A fault that shows at every revision, over every transport.
const fn fault(name: &'static str, rule: &'static str, about: &'static str, kind: Kind) -> Fault {
    Fault {
        name,
        rule,
        about,
        applies: Applies::EVERYWHERE,
        scenario: TOOLS,
        seen_over: Transport::StreamableHttp,
        consequences: &[],
        kind,
    }
}

impl Fault {
    const fn since(mut self, since: Revision) -> Self {
        self.applies = self.applies.since(since);
        self
    }

    const fn modern(self) -> Self {
        self.since(R2026_07_28)
    }

    const fn legacy(mut self) -> Self {
        self.applies = self.applies.era(Era::Legacy);
        self
    }

    const fn http(mut self) -> Self {
        self.applies = self.applies.on(&[Transport::StreamableHttp]);
        self
    }

    const fn stdio(mut self) -> Self {
        self.applies = self.applies.on(&[Transport::Stdio]);
        self.seen_over(Transport::Stdio)
    }

    /// Names the scenario in which it surely shows.
    const fn seen_in(mut self, scenario: &'static str) -> Self {
        self.scenario = scenario;
        self
    }

    /// Names the transport over which it surely shows, where it is no one's alone.
    const fn seen_over(mut self, transport: Transport) -> Self {
        self.seen_over = transport;
        self
    }

    /// Names rules that it breaks as well, where it shows and they apply.
    const fn breaks_too(mut self, rules: &'static [&'static str]) -> Self {
        self.consequences = rules;
        self
    }

    /// Whether it shows in an era, over a transport.
    fn shows_in(&self, place: Channel) -> bool {
        self.applies.touches(place.era) && self.applies.runs_on(place.transport)
    }

    /// Where it surely shows: the transport and the revision.
    pub fn surely_at(&self) -> (Transport, Revision) {
        (self.applies.only_transport().unwrap_or(self.seen_over), self.applies.last())
    }

    /// Where it shows, in words, and the scenario in which it surely does.
    pub fn place_and_scenario(&self) -> String {
        let only = self.applies.only_transport().is_none() && self.seen_over != Transport::StreamableHttp;
        let over = if only { format!(" over {}", self.seen_over.as_str()) } else { String::new() };
        format!("{}; scenario {}{over}", self.applies, self.scenario)
    }
}

const FAMILIES: [&[Fault]; 8] = [
    messages::FAULTS,
    lifecycle::FAULTS,
    results::FAULTS,
    rounds::FAULTS,
    answers::FAULTS,
    tasks::FAULTS,
    http::FAULTS,
    oauth::FAULTS,
];

/// Every fault, family by family.
pub fn all() -> impl Iterator<Item = &'static Fault> {
    FAMILIES.into_iter().flatten()
}

/// The fault of this name, or of this former name.
pub fn find(name: &str) -> Option<&'static Fault> {
    let name = renamed::current(name);
    all().find(|fault| fault.name == name)
}

fn is(message: &Value, method: &str) -> bool {
    message["method"] == method
}

/// Whether it is an answer.
fn answers(message: &Value) -> bool {
    message.get("result").is_some() || message.get("error").is_some()
}

fn drop_member(value: &mut Value, name: &str) -> bool {
    value.as_object_mut().is_some_and(|members| members.shift_remove(name).is_some())
}

/// Gives an error of that code, with these words in it, another code.
fn refuses(message: &mut Value, code: i64, words: &str, other: i64) -> bool {
    let Some(error) = message.get_mut("error") else { return false };
    let found = error["code"] == json!(code) && error["message"].as_str().is_some_and(|text| text.contains(words));
    if found {
        error["code"] = json!(other);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::all;

    #[test]
    fn names_are_unique_and_plain() {
        let mut seen = BTreeSet::new();
        for fault in all() {
            assert!(seen.insert(fault.name), "{} stands twice", fault.name);
            assert!(fault.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
            assert!(!fault.applies.is_empty(), "{} shows nowhere", fault.name);
        }
    }
}

//! Marks: facts in a trace that the wire does not show, written by the side that knows them.
//!
//! Each mark is declared once, in [`MarkKind::declaration`]; `docs/trace.md` shows the same table. A mark never says what
//! should happen.

mod stimulus;

use serde_json::{Value, json};

pub use self::stimulus::{Stimulus, StimulusKind};
use crate::message::RequestId;

/// A fact about the observer's own side.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A probe or a scenario did something on purpose.
    Stimulus(Stimulus),
    /// Listening began without anything being sent; what for.
    WindowOpened(String),
    /// Listening ended, and whatever it was for had all its time; what for.
    WindowClosed(String),
    /// The child's stdin was closed.
    StdinClosed,
    /// A signal was sent to the child's process group: a server's, or (on connection 0) that of the client under test.
    Signal(Signal),
    /// How many processes of the group were left after the child's end.
    Survivors(u64),
    /// The child's resident memory, in bytes.
    Memory(u64),
    /// A request was not answered in time.
    Unanswered {
        /// The request's id.
        id: RequestId,
        /// How long it was waited for, in milliseconds.
        after_ms: u64,
    },
    /// The port of a server that was reached at a loopback address was tried at another address of the machine.
    PortTried {
        /// The other address, with the port.
        address: String,
        /// Whether an HTTP server answered there.
        open: bool,
    },
    /// A client under test was given a scenario to play; its name.
    Scenario(String),
    /// The command of a client under test was started.
    CommandStarted,
    /// More crossed than is kept, and what followed was dropped.
    Limit(Limit),
    /// A mark of a newer or another writer, or one whose value this reader does not understand.
    Unknown(Unread),
}

/// A mark as a file has it. Only [`Mark::read`] makes one.
#[derive(Clone, Debug, PartialEq)]
pub struct Unread {
    name: String,
    value: Value,
}

/// A signal that we send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT, as a terminal's Ctrl-C.
    Int,
    /// SIGTERM: please end.
    Term,
    /// SIGKILL: no choice.
    Kill,
}

impl Signal {
    const ALL: [Self; 3] = [Self::Int, Self::Term, Self::Kill];

    /// The name in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Int => "INT",
            Self::Term => "TERM",
            Self::Kill => "KILL",
        }
    }
}

/// What there was too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Bytes of the whole trace.
    Trace,
    /// Bytes on a connection that is not read any more.
    Connection,
    /// Bytes of one message.
    Message,
    /// Lines on stdout that are not messages.
    Garbage,
    /// Bytes on stderr.
    Stderr,
}

impl Limit {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Trace, Self::Connection, Self::Message, Self::Garbage, Self::Stderr];

    /// The name in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Connection => "connection",
            Self::Message => "message",
            Self::Garbage => "garbage",
            Self::Stderr => "stderr",
        }
    }
}

/// Who writes a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Writer {
    /// `check`: its probes and the client ends of its connections. In traces of servers.
    Check,
    /// `check-client`: its scenarios and what runs the client's command. In traces of clients.
    CheckClient,
}

impl Writer {
    /// The verb.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::CheckClient => "check-client",
        }
    }
}

/// What there is to say of one kind of mark or stimulus.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// The name in files.
    pub name: &'static str,
    /// What happened.
    pub happened: &'static str,
    /// What the value holds; empty where there is none.
    pub value: &'static str,
    /// Who writes it.
    pub written_by: &'static [Writer],
}

const fn declare(
    name: &'static str,
    happened: &'static str,
    value: &'static str,
    written_by: &'static [Writer],
) -> Declaration {
    Declaration { name, happened, value, written_by }
}

const CHECK: &[Writer] = &[Writer::Check];
const CHECK_CLIENT: &[Writer] = &[Writer::CheckClient];
const BOTH: &[Writer] = &[Writer::Check, Writer::CheckClient];

/// The kinds of marks that we write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
    /// [`Mark::Stimulus`].
    Stimulus,
    /// [`Mark::WindowOpened`].
    WindowOpened,
    /// [`Mark::WindowClosed`].
    WindowClosed,
    /// [`Mark::StdinClosed`].
    StdinClosed,
    /// [`Mark::Signal`].
    Signal,
    /// [`Mark::Survivors`].
    Survivors,
    /// [`Mark::Memory`].
    Memory,
    /// [`Mark::Unanswered`].
    Unanswered,
    /// [`Mark::PortTried`].
    PortTried,
    /// [`Mark::Scenario`].
    Scenario,
    /// [`Mark::CommandStarted`].
    CommandStarted,
    /// [`Mark::Limit`].
    Limit,
}

impl MarkKind {
    /// All of them. A mark is only read back if its kind is listed here.
    pub const ALL: [Self; 12] = [
        Self::Stimulus,
        Self::WindowOpened,
        Self::WindowClosed,
        Self::StdinClosed,
        Self::Signal,
        Self::Survivors,
        Self::Memory,
        Self::Unanswered,
        Self::PortTried,
        Self::Scenario,
        Self::CommandStarted,
        Self::Limit,
    ];

    /// The one declaration of a mark.
    pub const fn declaration(self) -> Declaration {
        match self {
            Self::Stimulus => declare(
                "stimulus",
                "a probe or a scenario did something on purpose",
                "its name, or an object with `what` (its name) and its particulars",
                BOTH,
            ),
            Self::WindowOpened => {
                declare("window-opened", "listening began without anything being sent", "what is waited for", BOTH)
            }
            Self::WindowClosed => {
                declare("window-closed", "listening ended; whatever it was for had all its time", "the same", BOTH)
            }
            Self::StdinClosed => declare("stdin-closed", "the child's stdin was closed", "", CHECK),
            Self::Signal => declare(
                "signal",
                "a signal was sent to the child's process group; on `conn` 0 the child is the client under test",
                "`TERM`, `KILL` or `INT`",
                BOTH,
            ),
            Self::Survivors => declare(
                "survivors",
                "the process group was looked at after the child's end",
                "how many processes are left",
                CHECK,
            ),
            Self::Memory => declare("memory", "the child's resident memory was sampled", "bytes", CHECK),
            Self::Unanswered => {
                declare("unanswered", "a request was not answered in time", "`id` and `after_ms`", BOTH)
            }
            Self::PortTried => declare(
                "port-tried",
                "the port of a server that was reached at a loopback address was tried at another address of the machine",
                "`address`, and `open`: whether an HTTP server answered there",
                CHECK,
            ),
            Self::Scenario => {
                declare("scenario", "a client under test was told which scenario to play", "its name", CHECK_CLIENT)
            }
            Self::CommandStarted => {
                declare("command-started", "the command of a client under test was started", "", CHECK_CLIENT)
            }
            Self::Limit => declare(
                "limit",
                "more crossed than is kept; what followed was dropped",
                "`trace`, `connection`, `message`, `garbage` or `stderr`",
                BOTH,
            ),
        }
    }

    /// The name in files.
    pub const fn as_str(self) -> &'static str {
        self.declaration().name
    }
}

impl Mark {
    /// Its kind; `None` for a mark that we do not know.
    pub const fn kind(&self) -> Option<MarkKind> {
        Some(match self {
            Self::Stimulus(_) => MarkKind::Stimulus,
            Self::WindowOpened(_) => MarkKind::WindowOpened,
            Self::WindowClosed(_) => MarkKind::WindowClosed,
            Self::StdinClosed => MarkKind::StdinClosed,
            Self::Signal(_) => MarkKind::Signal,
            Self::Survivors(_) => MarkKind::Survivors,
            Self::Memory(_) => MarkKind::Memory,
            Self::Unanswered { .. } => MarkKind::Unanswered,
            Self::PortTried { .. } => MarkKind::PortTried,
            Self::Scenario(_) => MarkKind::Scenario,
            Self::CommandStarted => MarkKind::CommandStarted,
            Self::Limit(_) => MarkKind::Limit,
            Self::Unknown(_) => return None,
        })
    }

    /// The name in files.
    pub fn name(&self) -> &str {
        match (self, self.kind()) {
            (Self::Unknown(unread), _) => &unread.name,
            (_, kind) => kind.map_or("", MarkKind::as_str),
        }
    }

    /// The value in files; null where there is none.
    pub fn value(&self) -> Value {
        match self {
            Self::Stimulus(stimulus) => stimulus.value(),
            Self::WindowOpened(name) | Self::WindowClosed(name) | Self::Scenario(name) => json!(name),
            Self::StdinClosed | Self::CommandStarted => Value::Null,
            Self::Signal(signal) => json!(signal.as_str()),
            Self::Survivors(count) | Self::Memory(count) => json!(count),
            Self::Unanswered { id, after_ms } => json!({ "id": id.to_value(), "after_ms": after_ms }),
            Self::PortTried { address, open } => json!({ "address": address, "open": open }),
            Self::Limit(limit) => json!(limit.as_str()),
            Self::Unknown(unread) => unread.value.clone(),
        }
    }

    /// Reads a mark of a file. A mark with an unknown member is kept unchanged.
    pub fn read(name: &str, value: Value) -> Self {
        let value = stimulus::shortened(name, value);
        match understood(name, &value).filter(|mark| mark.value() == value) {
            Some(mark) => mark,
            None => Self::Unknown(Unread { name: name.to_owned(), value }),
        }
    }
}

fn understood(name: &str, value: &Value) -> Option<Mark> {
    let text = || value.as_str().map(str::to_owned);
    let kind = MarkKind::ALL.into_iter().find(|kind| kind.as_str() == name)?;
    Some(match kind {
        MarkKind::Stimulus => Mark::Stimulus(Stimulus::read(value)),
        MarkKind::WindowOpened => Mark::WindowOpened(text()?),
        MarkKind::WindowClosed => Mark::WindowClosed(text()?),
        MarkKind::StdinClosed => Mark::StdinClosed,
        MarkKind::Signal => Mark::Signal(Signal::ALL.into_iter().find(|signal| value == signal.as_str())?),
        MarkKind::Survivors => Mark::Survivors(value.as_u64()?),
        MarkKind::Memory => Mark::Memory(value.as_u64()?),
        MarkKind::Unanswered => Mark::Unanswered {
            id: RequestId::from_value(value.get("id")?)?,
            after_ms: value.get("after_ms")?.as_u64()?,
        },
        MarkKind::PortTried => {
            Mark::PortTried { address: value.get("address")?.as_str()?.to_owned(), open: value.get("open")?.as_bool()? }
        }
        MarkKind::Scenario => Mark::Scenario(text()?),
        MarkKind::CommandStarted => Mark::CommandStarted,
        MarkKind::Limit => Mark::Limit(Limit::ALL.into_iter().find(|limit| value == limit.as_str())?),
    })
}

impl From<Stimulus> for Mark {
    fn from(stimulus: Stimulus) -> Self {
        Self::Stimulus(stimulus)
    }
}

//! A message to send, with deviations from the protocol that HTTP can express. A value; the transports send it.

use std::time::Duration;

use super::body::Cuts;

/// One message, or any HTTP request in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outgoing {
    pub(crate) method: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) query: Option<String>,
    pub(crate) session: Session,
    pub(crate) edits: Vec<Edit>,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) cuts: Cuts,
}

/// Which session id is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Session {
    /// The connection's own, if it has one.
    #[default]
    Own,
    /// None.
    None,
    /// Another.
    Other(String),
}

/// One change to the headers, applied after ours and the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    Set(String, String),
    Add(String, String),
    Remove(String),
    /// Every header whose name begins with this.
    RemoveAll(String),
}

impl Outgoing {
    /// `body`, sent like a message, which it need not be.
    pub fn message(body: impl Into<Vec<u8>>) -> Self {
        Self { body: Some(body.into()), ..Self::default() }
    }

    /// The method of the MCP request that it carries, if it carries one.
    pub fn method_asked(&self) -> Option<String> {
        match wire::message::parse(self.body.as_deref()?) {
            Ok(wire::message::Packet::Message(message)) if message.kind() == wire::Kind::Request => {
                message.method().map(str::to_owned)
            }
            _ => None,
        }
    }

    /// A request of `method` without a body.
    pub fn bare(method: impl Into<String>) -> Self {
        Self { method: Some(method.into()), ..Self::default() }
    }

    /// Another HTTP method.
    #[must_use]
    pub fn method(mut self, method: impl Into<String>) -> Self {
        self.method = Some(method.into());
        self
    }

    /// Another request target: path and query.
    #[must_use]
    pub fn target(mut self, target: impl Into<String>) -> Self {
        self.target = Some(target.into());
        self
    }

    /// More of a query after the request target.
    #[must_use]
    pub fn query(mut self, more: impl Into<String>) -> Self {
        self.query = Some(more.into());
        self
    }

    /// Sets header `name`, replacing any other value.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.edits.push(Edit::Set(name.into(), value.into()));
        self
    }

    /// One more header `name`, in addition to existing ones.
    #[must_use]
    pub fn another_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.edits.push(Edit::Add(name.into(), value.into()));
        self
    }

    /// No header `name`.
    #[must_use]
    pub fn without(mut self, name: impl Into<String>) -> Self {
        self.edits.push(Edit::Remove(name.into()));
        self
    }

    /// No header whose name begins with `prefix`.
    #[must_use]
    pub fn without_all(mut self, prefix: impl Into<String>) -> Self {
        self.edits.push(Edit::RemoveAll(prefix.into()));
        self
    }

    /// Another session id.
    #[must_use]
    pub fn session(mut self, id: impl Into<String>) -> Self {
        self.session = Session::Other(id.into());
        self
    }

    /// No session id.
    #[must_use]
    pub fn without_session(mut self) -> Self {
        self.session = Session::None;
        self
    }

    /// The body cut into pieces, with a pause before each but the first.
    #[must_use]
    pub fn in_pieces(mut self, at: Vec<usize>, pause: Duration) -> Self {
        self.cuts = Cuts { at, pause };
        self
    }

    /// The body, if there is one.
    pub fn body(&self) -> Option<&[u8]> {
        self.body.as_deref()
    }

    /// Whether it has anything that only HTTP can send.
    pub(crate) fn is_http_only(&self) -> bool {
        *self != Self { body: self.body.clone(), ..Self::default() } || self.body.is_none()
    }
}

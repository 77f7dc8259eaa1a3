//! The suite has two legs: what it wants of servers, and what of clients. Everything in which they differ but the commands.

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leg {
    Server,
    Client,
}

impl Leg {
    pub(super) const ALL: [Self; 2] = [Self::Server, Self::Client];

    /// Its name in the suite's lists.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
        }
    }

    /// What its results at a revision are called.
    pub(super) fn of(self, revision: &str) -> String {
        match self {
            Self::Server => revision.to_owned(),
            Self::Client => format!("client {revision}"),
        }
    }

    /// What the folders of its scenarios begin with.
    pub(super) const fn prefix(self) -> &'static str {
        match self {
            Self::Server => "server-",
            Self::Client => "",
        }
    }
}

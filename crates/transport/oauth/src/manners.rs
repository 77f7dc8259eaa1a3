//! A seam for clients that misbehave on purpose on their way to a token. Left alone it changes nothing. Knows no fault by
//! name.

use std::fmt::Debug;

use serde_json::Value;

/// What is asked of an authorization server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// The consent of a user.
    Authorization,
    /// A token for a code, or for a refresh token.
    Token,
}

/// A reason to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The answer does not bring the state of the question back.
    State,
    /// The answer is not from the issuer that was asked.
    Answerer,
    /// The metadata is that of another issuer.
    Issuer,
    /// Nobody says that PKCE is supported.
    Pkce,
    /// The issuer is not the one that knows the client.
    Stranger,
}

/// The manners of a client on its way to a token. Every method leaves things as they are unless overridden.
pub trait Manners: Debug + Send + Sync {
    /// Alters the parameters of a request before it goes out.
    fn asks(&self, what: Asking, parameters: &mut Vec<(String, String)>) {
        let _ = (what, parameters);
    }

    /// Alters what the client registers with.
    fn registers(&self, document: &mut Value) {
        let _ = document;
    }

    /// Whether a doubt stops it.
    fn heeds(&self, doubt: Doubt) -> bool {
        let _ = doubt;
        true
    }
}

/// Does everything as it ought to be done.
#[derive(Debug)]
pub(crate) struct Perfect;

impl Manners for Perfect {}

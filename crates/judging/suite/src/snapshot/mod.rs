//! Everything that a live server declares, as a [`Surface`]: for `proof snapshot`, `proof lock` and `proof verify`.

use std::fmt;

use client::{Client, ClientError};
use lock::strict::Unreadable;
use lock::{Kind, Surface};
use wire::error_code::METHOD_NOT_FOUND;

/// Requests everything that the server declares.
pub async fn surface(client: &Client) -> Result<Surface, ClientError> {
    let greeting = client.greeting();
    let mut surface = Surface::default();
    surface.introduce(greeting.revision, greeting.result.as_ref().map(|(result, _)| result));
    for kind in Kind::ALL {
        if let Some(listed) = listed(client, kind).await? {
            surface.add(kind, listed.items);
        }
    }
    Ok(surface)
}

/// Why the texts of a server are not taken.
#[derive(Debug)]
pub enum Undigestible {
    /// The server did not answer.
    Client(ClientError),
    /// An answer that two readers may read differently: which one, and why.
    Text(&'static str, Unreadable),
}

impl fmt::Display for Undigestible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(error) => error.fmt(f),
            Self::Text(method, why) => write!(f, "the answer to `{method}` is ambiguous: {why}"),
        }
    }
}

impl std::error::Error for Undigestible {}

/// The same, read strictly from the texts that came, for digests. A list that the server does not offer counts as listed.
/// Cached results are not used: two surfaces are compared to find a server that changes its lists.
pub async fn strict_surface(client: &Client) -> Result<Surface, Undigestible> {
    client.forget_results();
    let greeting = client.greeting();
    let mut surface = Surface::default();
    match &greeting.result {
        Some((_, text)) => {
            let ambiguous = |why| Undigestible::Text("the introduction", why);
            surface.introduce_text(greeting.revision, text).map_err(ambiguous)?;
        }
        None => surface.introduce(greeting.revision, None),
    }
    for kind in Kind::ALL {
        surface.add(kind, []);
        for text in listed(client, kind).await.map_err(Undigestible::Client)?.iter().flat_map(|listed| &listed.texts) {
            surface.add_text(kind, text).map_err(|why| Undigestible::Text(kind.method(), why))?;
        }
    }
    Ok(surface)
}

/// A list of the server; `None` where it does not offer one.
async fn listed(client: &Client, kind: Kind) -> Result<Option<client::Listed>, ClientError> {
    if !client.greeting().may_have(kind.capability()) {
        return Ok(None);
    }
    match client.list(kind.method(), kind.list()).await {
        Ok(listed) => Ok(Some(listed)),
        // A server with resources need not support templates.
        Err(ClientError::Rpc { code: METHOD_NOT_FOUND, .. }) if kind == Kind::Template => Ok(None),
        Err(error) => Err(error),
    }
}

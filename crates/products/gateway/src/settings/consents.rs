//! Where users' consents are kept, and how users show who they are: `consents`.

use std::path::PathBuf;
use std::time::Duration;

use oauth::{Client, Secret};

/// Consents of users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsentSettings {
    /// The folder of their file; without one, they are in the store that several gateways share.
    pub folder: Option<PathBuf>,
    /// Keys of 32 bytes in base64: the first one seals, and all of them open.
    pub keys: Vec<Secret>,
    /// How a browser shows whose it is.
    pub login: ConsentLogin,
    /// How long a user may take.
    pub wait: Duration,
}

/// How a browser shows whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConsentLogin {
    /// Its user signs in at the issuer of `auth`, and must be the one who is asked.
    Client {
        /// The gateway, as that issuer knows it.
        client: Client,
        /// The scopes to ask for.
        scopes: Vec<String>,
    },
    /// It does not: a page shows whose requests the server will get.
    Page,
}

//! Where what must outlive one gateway is kept: `store`.

use std::path::PathBuf;

use oauth::Secret;

/// Where keys of calls are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreSettings {
    /// In a folder of one gateway.
    Folder(PathBuf),
    /// In a Redis or Valkey that several gateways share.
    Shared(SharedStoreSettings),
}

/// A Redis or Valkey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedStoreSettings {
    /// Its host name or IP address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The number of its database.
    pub database: i64,
    /// Whether the connection is encrypted, and its certificate checked.
    pub tls: bool,
    /// The name of the gateway there.
    pub user: Option<String>,
    /// Its password.
    pub password: Option<Secret>,
    /// What becomes of calls with a key while it is away.
    pub on_loss: StoreLoss,
}

/// What becomes of calls with a key while the shared store is away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoreLoss {
    /// They are refused before they run.
    #[default]
    Refuse,
    /// Each gateway keeps its own keys: a call can run once for each of them.
    Local,
}

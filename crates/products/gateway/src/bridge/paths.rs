//! Where the bridge answers.

/// What a browser opens, and where the form of its page goes.
pub(super) const AUTHORIZE: &str = "/oauth/authorize";
/// Where browsers come back from the provider.
pub(super) const CALLBACK: &str = "/oauth/callback";
pub(super) const TOKEN: &str = "/oauth/token";
pub(super) const REGISTER: &str = "/oauth/register";
pub(super) const KEYS: &str = "/oauth/keys";
/// The metadata (RFC 8414).
pub(super) const METADATA: &str = "/.well-known/oauth-authorization-server";

/// All of them.
pub(super) const ALL: [&str; 6] = [AUTHORIZE, CALLBACK, TOKEN, REGISTER, KEYS, METADATA];

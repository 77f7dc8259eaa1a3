//! What the page may do: its own style and script, known by their hashes, and nothing else.

use std::borrow::Cow;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};

/// A style or script as it stands in the page. A browser hashes it with its line ends made line feeds, so they are that
/// from the start, however the sources were checked out.
pub fn asset(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// The policy for a page with this one style and this one script; none where that is empty.
pub fn content_security_policy(style: &str, script: &str) -> String {
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        source(&asset(style)),
        if script.is_empty() { "'none'".to_owned() } else { source(&asset(script)) }
    )
}

fn source(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text.as_bytes())))
}

//! Signed manifests: where they are, and how they are read. Must not know what becomes of them.

pub(crate) mod findings;
pub(crate) mod rules;

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lock::admission::Signed;
use lock::manifest::{Manifest, WELL_KNOWN};
use net::client::{Address, HttpAddress, document};
use url::Url;
use wire::escape;

use crate::args::reach::Reach;
use crate::exit::{self, Exit, tell, usage};
use crate::run::Run;
use crate::verb::connecting::until_interrupted;
use crate::verb::{given_file, output};

/// The most bytes of a manifest in a file, and of one that is fetched.
const LONGEST: u64 = 32 << 20;
const LONGEST_FETCHED: usize = 8 << 20;
/// The default timeout of a manifest that is fetched.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time, in milliseconds since the epoch.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
}

/// The manifest in a file.
pub(crate) fn read(path: &Path) -> Result<Signed, Exit> {
    Ok(read_with_text(path)?.0)
}

/// The manifest in a file, and the text of the file.
pub(crate) fn read_with_text(path: &Path) -> Result<(Signed, String), Exit> {
    let shown = output::shown(path);
    let wrong = |why: String| {
        let what = format!("{shown} is not a manifest: {}", escape::line(&why));
        usage(&what, "a manifest or an envelope that `proof sign` wrote")
    };
    let text = given_file::text(path, LONGEST)
        .map_err(|error| usage(&format!("cannot read {shown}: {error}"), "check the path and its permissions"))?;
    let signed = Signed::read(&text).map_err(|why| wrong(why.to_string()))?;
    Ok((signed, text))
}

/// Why no manifest was fetched.
pub(crate) enum Unfetched {
    /// Reported already, or interrupted.
    Reported(Exit),
    /// The manifest is missing: the reason, in one line.
    Missing(String),
    /// What is there is not a manifest: why, in one line.
    Invalid(String),
}

impl From<Exit> for Unfetched {
    fn from(exit: Exit) -> Self {
        Self::Reported(exit)
    }
}

impl Unfetched {
    /// Reports it; returns the exit code.
    pub(crate) fn report(self) -> Exit {
        let (what, remedy, exit) = match self {
            Self::Reported(exit) => return exit,
            Self::Missing(what) => (what, "ask the publisher for the manifest, and give it as a file", Exit::NoAnswer),
            Self::Invalid(what) => (what, "a manifest or an envelope that `proof sign` wrote", Exit::Usage),
        };
        exit::tell_redacted(&format!("error: {what}\n  try: {remedy}"));
        exit
    }
}

/// The manifest at an address.
pub(crate) fn fetch(run: &Run, reach: &Reach, address: &HttpAddress) -> Result<Signed, Unfetched> {
    let at = escape::line(address.url.as_str()).into_owned();
    let missing = |why: &dyn std::fmt::Display| Unfetched::Missing(format!("no manifest at {at}: {why}"));
    let invalid = |why: &dyn std::fmt::Display| {
        let why = why.to_string();
        Unfetched::Invalid(format!("what is at {at} is not a manifest: {}", escape::line(&why)))
    };
    let limit = reach.timeout.unwrap_or(PATIENCE);
    let bytes = until_interrupted(run, async {
        document(address, limit, LONGEST_FETCHED).await.map_err(|error| missing(&error))
    })?;
    let text = std::str::from_utf8(&bytes).map_err(|_| invalid(&"it is not UTF-8"))?;
    Signed::read(text).map_err(|why| invalid(&why))
}

/// Says that nothing ends the validity of a manifest, where no lock remembers newer ones either.
pub(crate) fn warn_of_no_expiry(manifest: &Manifest) {
    if manifest.expires.is_none() {
        tell("note: the manifest never expires; only with --lock is an older one refused");
    }
}

/// Where a server publishes its manifest; a command publishes none.
pub(crate) fn well_known(server: &Address) -> Option<HttpAddress> {
    let (Address::Http(http) | Address::Sse(http) | Address::WebSocket(http)) = server else { return None };
    let mut url = over_http(&http.url)?;
    url.set_path(WELL_KNOWN);
    url.set_query(None);
    url.set_fragment(None);
    Some(HttpAddress { url, ..http.clone() })
}

/// The address of a manifest. What is sent to the server goes nowhere else.
pub(crate) fn elsewhere(url: Url, server: &Address, reach: &Reach) -> HttpAddress {
    let headers = match server {
        Address::Http(http) | Address::Sse(http) | Address::WebSocket(http)
            if over_http(&http.url).is_some_and(|own| own.origin() == url.origin()) =>
        {
            http.headers.clone()
        }
        _ => Vec::new(),
    };
    HttpAddress { headers, ca: reach.ca_file.clone(), ..HttpAddress::new(url) }
}

/// The address with the scheme of HTTP, without a password in it.
fn over_http(url: &Url) -> Option<Url> {
    let mut url = url.clone();
    let scheme = match url.scheme() {
        "ws" | "http" => "http",
        _ => "https",
    };
    url.set_scheme(scheme).ok()?;
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    Some(url)
}

#[cfg(test)]
mod tests {
    use net::client::{Address, HttpAddress};
    use url::Url;

    use super::well_known;

    #[test]
    fn a_manifest_is_at_the_origin_of_its_server() {
        for (server, manifest) in [
            ("http://127.0.0.1:3000/mcp", "http://127.0.0.1:3000/.well-known/mcp-manifest.json"),
            ("https://me:secret@shop.example/a/mcp?key=1#x", "https://shop.example/.well-known/mcp-manifest.json"),
            ("wss://shop.example/ws", "https://shop.example/.well-known/mcp-manifest.json"),
            ("ws://[::1]:8080/ws", "http://[::1]:8080/.well-known/mcp-manifest.json"),
        ] {
            let address = Address::Http(HttpAddress::new(Url::parse(server).expect(server)));
            assert_eq!(well_known(&address).expect(server).url.as_str(), manifest, "{server}");
        }
    }
}

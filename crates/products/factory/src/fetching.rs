//! A description at an address that the user named.

use net::egress::Reach;
use net::server::http::{Bytes, HeaderMap, Method};
use tokio::time::timeout;
use url::{Host, Url};

use crate::config::Network;
use crate::error::SetupError;
use crate::sending::{Bound, Outgoing, Sender, header};
use crate::{Base, shown};

/// How long it may take.
const PATIENCE: std::time::Duration = std::time::Duration::from_mins(1);

/// The text at `url`, of at most `limit` bytes. Redirects stay on the origin.
pub async fn fetch(url: &str, limit: usize) -> Result<(Url, Vec<u8>), SetupError> {
    let bad = |why: &str| SetupError::new(format!("{} {why}", shown(url)), "the address of the description, or a file");
    let parsed = Url::parse(url).map_err(|_| bad("is not a URL"))?;
    let mut base = parsed.clone();
    base.set_query(None);
    base.set_fragment(None);
    // A description may be anywhere on its origin: nothing goes with the request.
    base.set_path("/");
    let base = Base::named(base.as_str())?;
    // The user names a host of a private network on purpose.
    let network = Network { allows_private: !is_address(&parsed), ..Network::default() };
    let sender = Sender::new(&base, &network)?;
    let headers: HeaderMap = header("accept", "application/json, application/yaml, */*;q=0.5").into_iter().collect();
    let request = Outgoing { method: Method::GET, url: parsed.clone(), headers, body: Bytes::new() };
    let bound = Bound { bytes: limit, may_cut: false };
    let answer = timeout(PATIENCE, sender.exchange(request, &base.url, bound)).await;
    let answer = answer.map_err(|_| bad("does not answer within 60 s"))?;
    match answer {
        Ok(answer) if answer.status == 200 => Ok((parsed, answer.body)),
        Ok(answer) => Err(bad(&format!("answers with HTTP {}", answer.status))),
        Err(unanswered) => Err(bad(&format!("cannot be read: {}", unanswered.why()))),
    }
}

/// Whether a URL names a number that is not public: then it leads there, and no name does.
fn is_address(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => Reach::of(ip.into()) != Reach::Public,
        Some(Host::Ipv6(ip)) => Reach::of(ip.into()) != Reach::Public,
        _ => false,
    }
}

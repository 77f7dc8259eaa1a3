//! Which operations cannot be called because of where their addresses lead, before any call. Must not know descriptions.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::timeout;
use url::{Host, Url};

use crate::operation::CallableOperation;
use crate::{Factory, SetupError, shown};

/// How long one name is looked up.
const LOOK_UP: Duration = Duration::from_secs(5);

impl Factory {
    /// Why calls of these operations would be refused as things are now: each address with the number of its operations. Looks up
    /// names, connects to nothing. A name that has no address is not refused: it may have one later.
    pub async fn refused<'o>(
        &self,
        operations: impl Iterator<Item = &'o CallableOperation>,
    ) -> Vec<(SetupError, usize)> {
        let mut addresses = BTreeMap::<&Url, usize>::new();
        for operation in operations {
            *addresses.entry(&operation.0.base).or_default() += 1;
        }
        let mut refused = Vec::new();
        for (url, count) in addresses {
            // A resolver that does not answer says nothing about the address.
            let Ok(Some((refusal, private_helps))) = timeout(LOOK_UP, self.0.sender.refusal(url)).await else {
                continue;
            };
            let what = format!("requests to {} are refused: {}", shown(&refusal.host), reason(&refusal.why));
            refused.push((SetupError::new(what, self.remedy(url, private_helps)), count));
        }
        refused
    }

    fn remedy(&self, url: &Url, private_helps: bool) -> String {
        let is_written = !matches!(url.host(), Some(Host::Domain(name)) if name != "localhost");
        let is_own = url.origin() == self.0.base.url.origin();
        let allow = "`network: { private: allow }` in the configuration";
        match (is_written && is_own && !self.0.base.is_named, private_helps) {
            (true, true) => format!("--base-url {url}, or {allow}"),
            (true, false) => format!("--base-url {url}"),
            (false, true) => allow.to_owned(),
            (false, false) => "another address: --base-url URL".to_owned(),
        }
    }
}

/// Why, without the advice after it.
fn reason(why: &str) -> &str {
    why.split_once(';').map_or(why, |(reason, _)| reason)
}

//! Reads how gateways reach each other: `replicas`.

use std::net::{IpAddr, SocketAddr};

use document::{Entry, quoted};
use url::{Host, Url};

use super::Reader;
use super::members::Members;
use crate::settings::{ReplicaSettings, StoreSettings};

const MEMBERS: &[&str] = &["self", "listen", "keys"];
const KEYS: &str = "keys: [{ from_env: REPLICA_KEY }]";
const OWN: &str = "http://10.0.0.1:3001: where the other gateways reach this one";

impl Reader<'_> {
    /// `replicas` of the file. The gateways find each other in the store.
    pub(super) fn replicas(&mut self, members: &Members<'_>, store: Option<&StoreSettings>) -> Option<ReplicaSettings> {
        let entry = members.get("replicas")?;
        let has_other = matches!(store, Some(StoreSettings::Folder(_)));
        if has_other || members.get("store").is_none() {
            self.error(entry.at, "`replicas` needs a store that gateways share", "add store: redis://redis.example");
        }
        let members = self.members("`replicas`", entry.at, &entry.node, MEMBERS)?;
        let own = self.required(entry, &members, "self", &format!("self: {OWN}"));
        let own = own.and_then(|entry| self.own_address(entry));
        let listen = members.get("listen").map(|entry| self.address(entry));
        let keys = self
            .required(entry, &members, "keys", KEYS)
            .and_then(|entry| self.seal_keys(entry, "[{ from_env: REPLICA_KEY }]"));
        let own = own?;
        let listen = match listen {
            Some(address) => address?,
            None => self.same_address(entry, &own)?,
        };
        Some(ReplicaSettings { own, listen, keys: keys? })
    }

    fn own_address(&mut self, entry: &Entry) -> Option<Url> {
        let text = self.text(entry)?;
        let is_one = |url: &Url| {
            let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
            let is_anonymous = url.username().is_empty() && url.password().is_none();
            url.scheme() == "http" && url.port().is_some() && is_bare && is_anonymous
        };
        let url = Url::parse(text).ok().filter(is_one);
        if url.is_none() {
            self.error(entry.at, format!("{} is not http:// with a host and a port", quoted(&entry.key)), OWN);
        }
        url
    }

    /// Where the gateway listens if only its address for the others is known.
    fn same_address(&mut self, entry: &Entry, own: &Url) -> Option<SocketAddr> {
        let address = match own.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            Some(Host::Domain(_)) | None => None,
        };
        if address.is_none() {
            let what = "`self` has a host name, and `replicas` has no `listen`";
            self.error(entry.at, what, "add listen: 0.0.0.0:3001, or an address that only the gateways reach");
        }
        Some(SocketAddr::new(address?, own.port()?))
    }
}

//! Reads where clients reach the gateway: `listen`, with its certificate and those of clients.

use std::net::SocketAddr;

use document::{Content, Entry};
use net::server::tls::{ClientCertificates, TlsSettings};

use super::Reader;

const LISTEN: &[&str] = &["address", "tls"];
const TLS: &[&str] = &["certificate", "key", "clients"];
const CLIENTS: &[&str] = &["roots", "required"];

impl Reader<'_> {
    /// An address, or a mapping of an address and what else belongs to it.
    pub(super) fn listen(&mut self, entry: &Entry, has_auth: bool) -> (Option<SocketAddr>, Option<TlsSettings>) {
        if !matches!(entry.node.content, Content::Map(_)) {
            return (self.address(entry), None);
        }
        let Some(members) = self.members("`listen`", entry.at, &entry.node, LISTEN) else { return (None, None) };
        if members.get("address").is_none() && !members.has_unknown {
            self.error(entry.at, "`listen` has no `address`", "add `address`: 127.0.0.1:3000");
        }
        let address = members.get("address").and_then(|entry| self.address(entry));
        (address, members.get("tls").and_then(|entry| self.tls(entry, has_auth)))
    }

    fn tls(&mut self, entry: &Entry, has_auth: bool) -> Option<TlsSettings> {
        let members = self.members("`tls`", entry.at, &entry.node, TLS)?;
        let [certificate, key] = ["certificate", "key"].map(|name| {
            let found = members.get(name);
            if found.is_none() && !members.has_unknown {
                self.error(entry.at, format!("`tls` has no `{name}`"), format!("add `{name}`: a file in PEM"));
            }
            found.and_then(|entry| self.path(entry))
        });
        let clients = members.get("clients").map(|entry| self.clients(entry, has_auth));
        // Without its section, a mistake in it would let everybody in.
        let clients = match clients {
            Some(clients) => Some(clients?),
            None => None,
        };
        Some(TlsSettings { certificate: certificate?, key: key?, clients })
    }

    fn clients(&mut self, entry: &Entry, has_auth: bool) -> Option<ClientCertificates> {
        let members = self.members("`clients`", entry.at, &entry.node, CLIENTS)?;
        if members.get("roots").is_none() && !members.has_unknown {
            let remedy = "add `roots`: a file in PEM with the authorities that sign certificates of clients";
            self.error(entry.at, "`clients` has no `roots`", remedy);
        }
        let roots = members.get("roots").and_then(|entry| self.path(entry));
        let required = members.get("required").and_then(|entry| self.flag(entry)).unwrap_or(true);
        if !required && !has_auth {
            let what = "without `auth`, `required: false` lets in every client without a certificate";
            self.error(entry.at, what, "remove it, or add `auth`");
        }
        Some(ClientCertificates { roots: roots?, required })
    }
}

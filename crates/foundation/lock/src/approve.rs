//! Takes over what a person approved, and nothing else. Must not know who approves.

use serde_json::json;

use crate::drift::is_twin;
use crate::entry::is_called;
use crate::{Digest, Entry, Kind};

impl Entry {
    /// Takes over the part `of` from what was found (`tool echo`, `instructions`, `launch`, `identity`, `server`, `capability tools`),
    /// and returns its digest, where it has one.
    pub fn take_over(&mut self, of: &str, found: &Self) -> Option<Digest> {
        match of {
            "instructions" => {
                self.instructions.clone_from(&found.instructions);
                self.instructions_digest()
            }
            "launch" => {
                self.launch.clone_from(&found.launch);
                None
            }
            "identity" => {
                self.identity = found.identity.clone();
                self.take_name(found);
                None
            }
            "server" => {
                self.take_introduction(found);
                None
            }
            _ => match of.strip_prefix("capability ") {
                Some(name) => {
                    self.take_capability(name, found);
                    None
                }
                None => self.take_item(of, found),
            },
        }
    }

    /// Takes over one capability, or that it is gone.
    fn take_capability(&mut self, name: &str, found: &Self) {
        let new = found.capabilities.as_ref().and_then(|all| all.get(name)).cloned();
        let all = self.capabilities.get_or_insert_with(|| json!({}));
        match (all.as_object_mut(), new) {
            (Some(all), Some(new)) => _ = all.insert(name.to_owned(), new),
            (Some(all), None) => _ = all.shift_remove(name),
            (None, _) => self.capabilities.clone_from(&found.capabilities),
        }
    }

    /// What the server says of itself but its name, which is part of its identity.
    pub fn take_introduction(&mut self, found: &Self) {
        let name = self.server.as_ref().and_then(|server| server.get("name")).cloned();
        self.server.clone_from(&found.server);
        self.protocol.clone_from(&found.protocol);
        if let (Some(server), Some(name)) = (&mut self.server, name) {
            server["name"] = name;
        }
    }

    fn take_name(&mut self, found: &Self) {
        let name = found.server.as_ref().and_then(|server| server.get("name")).cloned();
        match (&mut self.server, name) {
            (Some(server), Some(name)) => server["name"] = name,
            _ => self.server.clone_from(&found.server),
        }
    }

    fn take_item(&mut self, of: &str, found: &Self) -> Option<Digest> {
        let key = |entry: &Self| entry.items.keys().find(|(kind, name)| is_called(of, *kind, name)).cloned();
        let (old, new) = (key(self), key(found));
        if let Some((kind, name)) = new {
            let item = found.items[&(kind, name.clone())].clone();
            let digest = item.digest;
            self.items.insert((kind, name), item);
            self.list(kind);
            return Some(digest);
        }
        // It is gone, or has another name now.
        let (kind, name) = old?;
        let old = self.items.remove(&(kind, name))?;
        let twin = found.items.iter().find(|((other, name), new)| {
            *other == kind && !self.items.contains_key(&(kind, name.clone())) && is_twin(kind, &old, new)
        });
        let ((_, name), item) = twin?;
        self.items.insert((kind, name.clone()), item.clone());
        Some(item.digest)
    }

    fn list(&mut self, kind: Kind) {
        if !self.listed.contains(&kind) {
            self.listed.push(kind);
            self.listed.sort();
        }
    }

    /// Takes over the digests of `_meta` of items that are the same otherwise: they do not decide.
    pub fn take_meta(&mut self, found: &Self) {
        for (key, item) in &mut self.items {
            if let Some(new) = found.items.get(key).filter(|new| new.digest == item.digest) {
                item.meta = new.meta;
            }
        }
    }
}

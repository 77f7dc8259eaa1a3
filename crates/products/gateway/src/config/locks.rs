//! Reads which lock servers are held against: `lock`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use document::{Entry, nearest, quoted};

use super::Reader;
use super::members::Members;
use crate::settings::{LockSettings, ManifestSettings, Unlocked, UpstreamSettings};

const MEMBERS: &[&str] = &["file", "servers", "unlocked", "each_call", "manifests"];
const MANIFEST: &[&str] = &["file", "keys"];

impl Reader<'_> {
    pub(super) fn lock(&mut self, entry: &Entry, upstreams: &[UpstreamSettings]) -> Option<LockSettings> {
        let members = self.members("`lock`", entry.at, &entry.node, MEMBERS)?;
        let file = self.required_path(&members, "file", ("`lock`", entry), "mcp.lock");
        let mut servers = BTreeMap::new();
        if let Some(entry) = members.get("servers") {
            for entry in self.by_upstream(entry, upstreams, "a mapping: { files: filesystem }") {
                if let Some(name) = self.text(entry) {
                    servers.insert(entry.key.clone(), name.to_owned());
                }
            }
        }
        let words = [("withhold", Unlocked::Withhold), ("pass", Unlocked::Pass)];
        let unlocked = members.get("unlocked").and_then(|entry| self.word_of(entry, &words)).unwrap_or_default();
        let each_call = members.get("each_call").is_none_or(|entry| self.yes_or_no(entry).unwrap_or(true));
        let mut manifests = BTreeMap::new();
        if let Some(entry) = members.get("manifests") {
            let example = "a mapping: { files: { file: manifest.json, keys: keys.json } }";
            for entry in self.by_upstream(entry, upstreams, example) {
                manifests.extend(self.manifest(entry).map(|manifest| (entry.key.clone(), manifest)));
            }
        }
        Some(LockSettings { file: file?, servers, unlocked, each_call, manifests })
    }

    fn manifest(&mut self, entry: &Entry) -> Option<ManifestSettings> {
        let name = quoted(&entry.key);
        let members = self.members(&name, entry.at, &entry.node, MANIFEST)?;
        let keys = members.get("keys").and_then(|entry| self.path(entry));
        let file = self.required_path(&members, "file", (&name, entry), "manifest.json")?;
        Some(ManifestSettings { file, keys })
    }

    /// The members of a mapping whose keys are upstreams.
    fn by_upstream<'n>(&mut self, entry: &'n Entry, upstreams: &[UpstreamSettings], example: &str) -> Vec<&'n Entry> {
        let mut found = self.named(entry, example, false);
        let names = || upstreams.iter().map(|upstream| upstream.name.as_str());
        found.retain(|one| {
            let is_known = names().any(|name| name == one.key);
            if !is_known {
                let what = format!("{} names no upstream: {}", quoted(&entry.key), quoted(&one.key));
                self.error(one.at, what, nearest(&one.key, names()));
            }
            is_known
        });
        found
    }

    /// The path in a member that has to be there.
    fn required_path(
        &mut self,
        members: &Members<'_>,
        member: &str,
        (of, whole): (&str, &Entry),
        example: &str,
    ) -> Option<PathBuf> {
        let Some(entry) = members.get(member) else {
            if !members.has_unknown {
                self.error(whole.at, format!("{of} has no `{member}`"), format!("add {member}: {example}"));
            }
            return None;
        };
        self.path(entry)
    }
}

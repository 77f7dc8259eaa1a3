//! Reads what a program that the gateway starts may reach: `sandbox` of an upstream.

use std::path::PathBuf;

use document::{Content, Entry, nearest, quoted};
use net::process::{Ports, Sandbox};

use super::Reader;

const MEMBERS: &[&str] = &["mode", "readable", "writable", "connect", "listen"];
const MODES: [&str; 2] = ["required", "preferred"];

impl Reader<'_> {
    pub(super) fn sandbox(&mut self, entry: &Entry) -> Option<Sandbox> {
        if matches!(entry.node.content, Content::Text(_)) {
            let is_required = self.sandbox_mode(entry)?;
            return Some(Sandbox { is_required, ..Sandbox::default() });
        }
        let members = self.members("`sandbox`", entry.at, &entry.node, MEMBERS)?;
        let Some(mode) = members.get("mode") else {
            if !members.has_unknown {
                self.error(entry.at, "`sandbox` has no `mode`", "add mode: required, or mode: preferred");
            }
            return None;
        };
        let is_required = self.sandbox_mode(mode);
        let readable = members.get("readable").map(|entry| self.paths(entry)).unwrap_or_default();
        let writable = members.get("writable").map(|entry| self.paths(entry)).unwrap_or_default();
        let connect = members.get("connect").map(|entry| match &entry.node.content {
            Content::Text(text) if text == "any" => Ports::Any,
            _ => Ports::Only(self.ports(entry, 1)),
        });
        let listen = members.get("listen").map(|entry| self.ports(entry, 0)).unwrap_or_default();
        Some(Sandbox { is_required: is_required?, readable, writable, connect: connect.unwrap_or_default(), listen })
    }

    /// Whether the sandbox is required.
    fn sandbox_mode(&mut self, entry: &Entry) -> Option<bool> {
        match self.text(entry)? {
            "required" => Some(true),
            "preferred" => Some(false),
            text => {
                let what = format!("{} does not say whether the sandbox is needed", quoted(text));
                self.error(entry.at, what, nearest(text, MODES.into_iter()));
                None
            }
        }
    }

    /// Paths, taken from the file's folder.
    fn paths(&mut self, entry: &Entry) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        for (text, at) in self.texts(entry, "[/data]") {
            if text.is_empty() || text.contains('\0') {
                self.error(at, format!("an entry of {} is not a path", quoted(&entry.key)), "/data");
            } else if text.starts_with('~') {
                self.error(at, format!("{} is not a path: `~` is a matter of shells", quoted(text)), "/home/me/data");
            } else {
                paths.push(self.folder.join(text));
            }
        }
        paths
    }
}

//! Reads what is removed from what servers say: `sanitize`.

use document::{Content, Entry, nearest, quoted};

use super::Reader;
use crate::settings::{Instructions, Personal, SanitizeSettings, TenantRecords};

const MEMBERS: &[&str] = &["hidden", "secrets", "personal", "tenants", "instructions", "result_bytes", "text_bytes"];
const TENANTS: &[&str] = &["fields", "claim"];
/// The smallest and the largest `result_bytes`.
const RESULT: (usize, usize) = (1 << 10, 64 << 20);
/// The smallest and the largest `text_bytes`.
const TEXT: (usize, usize) = (256, 64 << 20);
/// The most fields that name a tenant.
const MOST_FIELDS: usize = 16;

impl Reader<'_> {
    pub(super) fn sanitize(&mut self, entry: &Entry, has_auth: bool) -> Option<SanitizeSettings> {
        let mut sanitize = SanitizeSettings::default();
        // The key alone removes what is never wanted.
        if matches!(entry.node.content, Content::Null) {
            return Some(sanitize);
        }
        let members = self.members("`sanitize`", entry.at, &entry.node, MEMBERS)?;
        for (name, flag) in [("hidden", &mut sanitize.hidden), ("secrets", &mut sanitize.secrets)] {
            if let Some(yes) = members.get(name).and_then(|entry| self.flag(entry)) {
                *flag = yes;
            }
        }
        if let Some(entry) = members.get("personal") {
            sanitize.personal = self.personal(entry);
        }
        if let Some(entry) = members.get("tenants") {
            self.needs_auth(has_auth, entry.at, "`tenants`");
            sanitize.tenants = self.tenants(entry);
        }
        sanitize.instructions = members.get("instructions").and_then(|entry| self.instructions(entry));
        if let Some(bytes) = members.get("result_bytes").and_then(|entry| self.size(entry, RESULT, "1KiB to 64MiB")) {
            sanitize.result_bytes = bytes;
        }
        sanitize.text_bytes = members.get("text_bytes").and_then(|entry| self.size(entry, TEXT, "256 bytes to 64MiB"));
        Some(sanitize)
    }

    pub(super) fn personal(&mut self, entry: &Entry) -> Vec<Personal> {
        let mut kinds = Vec::new();
        for (text, at) in self.texts(entry, "[email, iban]") {
            if let Some(kind) = Personal::ALL.into_iter().find(|kind| kind.as_str() == text) {
                kinds.push(kind);
            } else {
                let what = format!("{} is no kind of personal data", quoted(text));
                self.error(at, what, nearest(text, Personal::ALL.into_iter().map(Personal::as_str)));
            }
        }
        kinds
    }

    fn instructions(&mut self, entry: &Entry) -> Option<Instructions> {
        match self.text(entry)? {
            "mark" => Some(Instructions::Mark),
            "withhold" => Some(Instructions::Withhold),
            other => {
                let what = format!("{} does not say what becomes of instructions", quoted(other));
                self.error(entry.at, what, "mark or withhold");
                None
            }
        }
    }

    fn tenants(&mut self, entry: &Entry) -> Option<TenantRecords> {
        let members = self.members("`tenants`", entry.at, &entry.node, TENANTS)?;
        let Some(fields) = members.get("fields") else {
            if !members.has_unknown {
                self.error(entry.at, "`tenants` names no field", "add `fields: [tenant_id]`");
            }
            return None;
        };
        let names: Vec<String> =
            self.texts(fields, "[tenant_id]").into_iter().map(|(name, _)| name.to_owned()).collect();
        if names.is_empty() || names.len() > MOST_FIELDS || names.iter().any(String::is_empty) {
            let what = format!("`fields` does not have 1 to {MOST_FIELDS} names");
            self.error(fields.at, what, "the names of members that hold a tenant: [tenant_id]");
        }
        let claim = members.get("claim").and_then(|entry| self.text(entry)).unwrap_or("tenant_id").to_owned();
        Some(TenantRecords { fields: names, claim })
    }
}

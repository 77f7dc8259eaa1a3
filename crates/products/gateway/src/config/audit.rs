//! Reads the log of who asked for what: `audit`.

use document::{Content, Entry, quoted};

use super::Reader;
use crate::settings::{AuditInputs, AuditSettings};

const MEMBERS: &[&str] = &["folder", "required", "sync", "file_bytes", "files", "inputs", "tenant_claim", "key"];
/// The most files that can be kept.
const MOST_FILES: usize = 1_000_000;

impl Reader<'_> {
    pub(super) fn audit(&mut self, entry: &Entry) -> Option<AuditSettings> {
        if matches!(entry.node.content, Content::Text(_)) {
            return Some(AuditSettings::new(self.path(entry)?));
        }
        let members = self.members("`audit`", entry.at, &entry.node, MEMBERS)?;
        let folder = members.get("folder").and_then(|entry| self.path(entry));
        if members.get("folder").is_none() && !members.has_unknown {
            self.error(entry.at, "`audit` has no `folder`", "add the folder of the log");
        }
        let mut audit = AuditSettings::new(folder.unwrap_or_default());
        for (name, value) in [("required", &mut audit.required), ("sync", &mut audit.sync)] {
            if let Some(entry) = members.get(name) {
                *value = self.yes_or_no(entry)?;
            }
        }
        if let Some(entry) = members.get("files") {
            audit.files = self.whole_number(entry, MOST_FILES, "100");
        }
        if let Some(bytes) = members.get("file_bytes").and_then(|entry| self.file_bytes(entry)) {
            audit.file_bytes = bytes;
        }
        if let Some(entry) = members.get("inputs") {
            audit.inputs = match self.text(entry)? {
                "values" => AuditInputs::Values,
                "names" => AuditInputs::Names,
                "none" => AuditInputs::None,
                other => {
                    let what = format!("{} is not a value of `inputs`", quoted(other));
                    self.error(entry.at, what, "values, names or none");
                    return None;
                }
            };
        }
        if let Some(entry) = members.get("tenant_claim") {
            self.text(entry)?.clone_into(&mut audit.tenant_claim);
        }
        if let Some(entry) = members.get("key") {
            let (text, at) = self.value(entry)?;
            if let Err(why) = crate::audit::check_key(&text) {
                self.error(at, format!("`key` cannot be used: {why}"), "a file that `proof gateway audit key` made");
            }
            audit.key = Some(text);
        }
        Some(audit)
    }

    pub(super) fn yes_or_no(&mut self, entry: &Entry) -> Option<bool> {
        if let Content::Bool(value) = entry.node.content {
            return Some(value);
        }
        self.wrong_type(&quoted(&entry.key), entry.at, &entry.node, "true or false", "true");
        None
    }
}

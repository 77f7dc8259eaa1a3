//! Reads which calls become tasks of the gateway: `tasks`.

use document::{Content, Entry};

use super::Reader;
use crate::settings::TaskSettings;

const MEMBERS: &[&str] = &["over", "tools", "ttl", "poll", "per_principal"];
/// The most patterns, and the largest `per_principal`.
const MOST: usize = 1000;

impl Reader<'_> {
    pub(super) fn tasks(&mut self, entry: &Entry) -> Option<TaskSettings> {
        let mut tasks = TaskSettings::default();
        // The key alone sets the defaults.
        if matches!(entry.node.content, Content::Null) {
            return Some(tasks);
        }
        let members = self.members("`tasks`", entry.at, &entry.node, MEMBERS)?;
        for (name, time) in [("over", &mut tasks.over), ("ttl", &mut tasks.ttl), ("poll", &mut tasks.poll)] {
            if let Some(duration) = members.get(name).and_then(|entry| self.duration(entry)) {
                *time = duration;
            }
        }
        if let Some(entry) = members.get("tools") {
            tasks.tools = self.texts(entry, "[\"render_*\"]").into_iter().map(|(text, _)| text.to_owned()).collect();
            if tasks.tools.len() > MOST {
                self.error(entry.at, format!("`tools` has more than {MOST} entries"), "remove some");
            }
        }
        if let Some(most) = members.get("per_principal").and_then(|entry| self.whole_number(entry, MOST, "32")) {
            tasks.per_principal = most;
        }
        if let Some(entry) = members.get("poll").filter(|_| tasks.poll > tasks.ttl) {
            self.error(entry.at, "`poll` is longer than `ttl`", "a time shorter than `ttl`");
        }
        Some(tasks)
    }
}

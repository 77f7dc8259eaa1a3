//! Reads what of arguments reaches servers: `inputs`.

use document::{Content, Entry, nearest, quoted};

use super::Reader;
use super::members::Members;
use crate::settings::{InputRule, InputSettings, SecretInputs, UnknownInputs};

const MEMBERS: &[&str] = &["unknown", "secrets", "personal", "tools"];
const RULE: &[&str] = &["unknown", "secrets", "personal"];
/// The most patterns.
const MOST: usize = 1000;

impl Reader<'_> {
    pub(super) fn inputs(&mut self, entry: &Entry) -> Option<InputSettings> {
        let members = self.members("`inputs`", entry.at, &entry.node, MEMBERS)?;
        let rule = self.input_rule(&members, &InputRule::default());
        let mut tools = Vec::new();
        if let Some(entry) = members.get("tools") {
            for entry in self.named(entry, "a mapping: { \"login*\": { secrets: pass } }", false) {
                let name = quoted(&entry.key);
                if let Some(members) = self.members(&name, entry.at, &entry.node, RULE) {
                    tools.push((entry.key.clone(), self.input_rule(&members, &rule)));
                }
            }
        }
        if tools.len() > MOST {
            self.error(entry.at, format!("`tools` has more than {MOST} entries"), "use patterns: \"login*\"");
        }
        let default = InputRule::default();
        let does_nothing = |rule: &InputRule| rule.unknown == default.unknown && rule.secrets == default.secrets;
        if does_nothing(&rule) && tools.iter().all(|(_, rule)| does_nothing(rule)) && !members.has_unknown {
            self.error(entry.at, "`inputs` changes nothing", "add unknown: drop, or secrets: mask");
        }
        Some(InputSettings { rule, tools })
    }

    /// A rule; what it does not say is as in `other`.
    fn input_rule(&mut self, members: &Members<'_>, other: &InputRule) -> InputRule {
        let unknown = [("pass", UnknownInputs::Pass), ("drop", UnknownInputs::Drop), ("refuse", UnknownInputs::Refuse)];
        let secrets = [("pass", SecretInputs::Pass), ("mask", SecretInputs::Mask), ("refuse", SecretInputs::Refuse)];
        let unknown = members.get("unknown").and_then(|entry| self.word_of(entry, &unknown)).unwrap_or(other.unknown);
        let secrets = members.get("secrets").and_then(|entry| self.word_of(entry, &secrets)).unwrap_or(other.secrets);
        let personal = match members.get("personal") {
            None => other.personal.clone(),
            Some(entry) => {
                if secrets == SecretInputs::Pass {
                    self.error(
                        entry.at,
                        "`personal` has no effect with `secrets: pass`",
                        "add secrets: mask, or refuse",
                    );
                }
                self.personal(entry)
            }
        };
        InputRule { unknown, secrets, personal }
    }

    /// The value of one of some words.
    pub(super) fn word_of<T: Copy>(&mut self, entry: &Entry, words: &[(&str, T)]) -> Option<T> {
        if !matches!(entry.node.content, Content::Text(_)) {
            let expected: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            self.wrong_type(&quoted(&entry.key), entry.at, &entry.node, "a text", &expected.join(", "));
            return None;
        }
        let text = self.text(entry)?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let what = format!("{} is not a value of {}", quoted(text), quoted(&entry.key));
            self.error(entry.at, what, nearest(text, words.iter().map(|(word, _)| *word)));
        }
        found.map(|(_, value)| *value)
    }
}

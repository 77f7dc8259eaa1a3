//! Reads which calls need the user's answer, and which must not follow others: `confirm` and `sequences`.

use std::time::Duration;

use document::{Content, Entry, Node, quoted};

use super::Reader;
use crate::settings::{AccessRule, ConfirmSettings, Effect, SequenceRule, SequenceScope};

const CONFIRM: &[&str] = &["wait", "rules"];
const RULE: &[&str] = &["tools", "when"];
const SEQUENCE: &[&str] = &["after", "deny", "ttl", "per"];
/// The most rules of each kind.
const MOST: usize = 1000;
/// How long an answer of the user is waited for.
const WAIT: Duration = Duration::from_mins(2);

impl Reader<'_> {
    pub(super) fn confirm(&mut self, entry: &Entry) -> Option<ConfirmSettings> {
        let members = self.members("`confirm`", entry.at, &entry.node, CONFIRM)?;
        let wait = members.get("wait").and_then(|entry| self.duration(entry)).unwrap_or(WAIT);
        let Some(rules) = members.get("rules") else {
            if !members.has_unknown {
                self.error(entry.at, "`confirm` has no `rules`", "add rules: [{ tools: [\"delete_*\"] }]");
            }
            return None;
        };
        let rules = self.rules_of(rules, "[{ tools: [\"delete_*\"] }]");
        let rules = rules.iter().filter_map(|rule| self.confirm_rule(rule)).collect();
        Some(ConfirmSettings { rules, wait })
    }

    fn confirm_rule(&mut self, node: &Node) -> Option<AccessRule> {
        let members = self.members("a rule", node.at, node, RULE)?;
        let tools = members.get("tools").map(|entry| self.names(entry));
        let condition = members.get("when").and_then(|entry| self.condition(entry));
        let (prompts, resources, scopes) = (None, None, Vec::new());
        Some(AccessRule { effect: Effect::Deny, tools, prompts, resources, scopes, condition })
    }

    pub(super) fn sequences(&mut self, entry: &Entry) -> Vec<SequenceRule> {
        let rules = self.rules_of(entry, "[{ after: [read_secret], deny: [\"send_*\"], ttl: 15m }]");
        rules.iter().filter_map(|rule| self.sequence(rule)).collect()
    }

    fn sequence(&mut self, node: &Node) -> Option<SequenceRule> {
        let members = self.members("a rule", node.at, node, SEQUENCE)?;
        for name in ["after", "deny", "ttl"] {
            if members.get(name).is_none() && !members.has_unknown {
                let example = if name == "ttl" { "15m" } else { "[\"send_*\"]" };
                self.error(node.at, format!("the rule has no `{name}`"), format!("add {name}: {example}"));
            }
        }
        let [after, deny] = ["after", "deny"].map(|name| members.get(name).map(|entry| self.names(entry)));
        let ttl = members.get("ttl").and_then(|entry| self.duration(entry));
        let per = match members.get("per") {
            None => SequenceScope::default(),
            Some(entry) => match self.text(entry)? {
                "principal" => SequenceScope::Principal,
                "session" => SequenceScope::Session,
                "chain" => SequenceScope::Chain,
                other => {
                    self.error(
                        entry.at,
                        format!("{} is not a value of `per`", quoted(other)),
                        "principal, session or chain",
                    );
                    return None;
                }
            },
        };
        Some(SequenceRule { after: after?, deny: deny?, ttl: ttl?, per })
    }

    /// The entries of a list that has some, and not too many.
    fn rules_of<'n>(&mut self, entry: &'n Entry, example: &str) -> &'n [Node] {
        let Content::List(rules) = &entry.node.content else {
            self.wrong_type(&quoted(&entry.key), entry.at, &entry.node, "a list", &format!("a list: {example}"));
            return &[];
        };
        if rules.is_empty() || rules.len() > MOST {
            let what = format!("{} does not have 1 to {MOST} rules", quoted(&entry.key));
            self.error(entry.at, what, example);
        }
        &rules[..rules.len().min(MOST)]
    }
}

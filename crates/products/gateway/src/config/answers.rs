//! Reads what is kept of answers, and how failures are shown: `idempotency`, `cache` and `errors`.

use document::{Content, Entry, Node, quoted};

use super::Reader;
use super::members::Members;
use crate::settings::{AnswerSettings, CacheRule, CacheSettings, ErrorForm, IdempotencySettings, Writes};

const IDEMPOTENCY: &[&str] = &["writes", "ttl", "entries", "bytes"];
const CACHE: &[&str] = &["upstream_ttl", "max_ttl", "bytes", "rules"];
const RULE: &[&str] = &["tools", "resources", "lists", "ttl", "shared", "invalidated_by"];
const ERRORS: &[&str] = &["as"];
/// The lists that a rule can name, and their methods.
const LISTS: [(&str, &str); 4] = [
    ("tools", "tools/list"),
    ("prompts", "prompts/list"),
    ("resources", "resources/list"),
    ("templates", "resources/templates/list"),
];

/// The most keys.
const MAX_ENTRIES: usize = 1_000_000;
/// The smallest and the largest size of all that is kept.
const BYTES: (usize, usize) = (64 << 10, 1 << 30);
const BYTES_RANGE: &str = "64KiB to 1024MiB";
/// The most rules.
const MAX_RULES: usize = 1000;

impl Reader<'_> {
    pub(super) fn answers(&mut self, members: &Members<'_>) -> AnswerSettings {
        AnswerSettings {
            idempotency: members.get("idempotency").and_then(|entry| self.idempotency(entry)),
            cache: members.get("cache").and_then(|entry| self.cache(entry)),
            errors: members.get("errors").and_then(|entry| self.error_form(entry)).unwrap_or_default(),
        }
    }

    fn idempotency(&mut self, entry: &Entry) -> Option<IdempotencySettings> {
        let members = self.members("`idempotency`", entry.at, &entry.node, IDEMPOTENCY)?;
        let mut settings = IdempotencySettings::default();
        if let Some(entry) = members.get("writes") {
            settings.writes = match self.text(entry)? {
                "optional" => Writes::Optional,
                "require" => Writes::Require,
                other => return self.unknown_value(entry, other, "optional or require"),
            };
        }
        if let Some(entry) = members.get("ttl") {
            settings.ttl = self.duration(entry)?;
        }
        if let Some(entry) = members.get("entries") {
            settings.entries = self.whole_number(entry, MAX_ENTRIES, "10000")?;
        }
        if let Some(entry) = members.get("bytes") {
            settings.bytes = self.size(entry, BYTES, BYTES_RANGE)?;
        }
        Some(settings)
    }

    fn cache(&mut self, entry: &Entry) -> Option<CacheSettings> {
        let members = self.members("`cache`", entry.at, &entry.node, CACHE)?;
        let mut settings = CacheSettings::default();
        if let Some(entry) = members.get("upstream_ttl") {
            settings.upstream_ttl = self.yes_or_no(entry)?;
        }
        if let Some(entry) = members.get("max_ttl") {
            settings.max_ttl = self.duration(entry)?;
        }
        if let Some(entry) = members.get("bytes") {
            settings.bytes = self.size(entry, BYTES, BYTES_RANGE)?;
        }
        if let Some(entry) = members.get("rules") {
            settings.rules = self.cache_rules(entry);
        }
        Some(settings)
    }

    fn cache_rules(&mut self, entry: &Entry) -> Vec<CacheRule> {
        let Content::List(rules) = &entry.node.content else {
            let example = "a list of rules: [{ tools: [\"list_*\"], ttl: 5m }]";
            self.wrong_type("`rules`", entry.at, &entry.node, "a list", example);
            return Vec::new();
        };
        if rules.is_empty() || rules.len() > MAX_RULES {
            let what = if rules.is_empty() { "`rules` is empty" } else { "`rules` has more than 1000 rules" };
            self.error(entry.at, what, "1 to 1000 rules, or remove the key");
        }
        rules.iter().take(MAX_RULES).filter_map(|rule| self.cache_rule(rule)).collect()
    }

    fn cache_rule(&mut self, node: &Node) -> Option<CacheRule> {
        let members = self.members("a rule", node.at, node, RULE)?;
        let mut names = |name: &str| members.get(name).map(|entry| self.names(entry)).unwrap_or_default();
        let (tools, resources, invalidated_by) = (names("tools"), names("resources"), names("invalidated_by"));
        let lists = members.get("lists").map(|entry| self.lists(entry)).unwrap_or_default();
        let is_about_something = ["tools", "resources", "lists"].iter().any(|name| members.get(name).is_some());
        if !is_about_something && !members.has_unknown {
            self.error(node.at, "the rule is about nothing", "add `tools`, `resources` or `lists`");
        }
        let shared = match members.get("shared") {
            Some(entry) => self.yes_or_no(entry)?,
            None => false,
        };
        if members.get("ttl").is_none() && !members.has_unknown {
            self.error(node.at, "the rule has no `ttl`", "add how long results are kept: ttl: 30s");
        }
        let ttl = members.get("ttl").and_then(|entry| self.duration(entry))?;
        Some(CacheRule { tools, resources, lists, ttl, shared, invalidated_by })
    }

    fn lists(&mut self, entry: &Entry) -> Vec<String> {
        let before = self.errors.len();
        let mut methods = Vec::new();
        for (text, at) in self.texts(entry, "[tools]") {
            if let Some((_, method)) = LISTS.iter().find(|(name, _)| *name == text) {
                methods.push((*method).to_owned());
            } else {
                let what = format!("there is no list {}", quoted(text));
                self.error(at, what, "tools, prompts, resources or templates");
            }
        }
        if methods.is_empty() && self.errors.len() == before {
            self.error(entry.at, "`lists` is empty", "tools, prompts, resources or templates");
        }
        methods
    }

    fn error_form(&mut self, entry: &Entry) -> Option<ErrorForm> {
        let members = self.members("`errors`", entry.at, &entry.node, ERRORS)?;
        let entry = members.get("as")?;
        match self.text(entry)? {
            "error" => Some(ErrorForm::Error),
            "result" => Some(ErrorForm::Result),
            other => self.unknown_value(entry, other, "error or result"),
        }
    }

    fn unknown_value<T>(&mut self, entry: &Entry, value: &str, known: &str) -> Option<T> {
        let what = format!("{} is not a value of {}", quoted(value), quoted(&entry.key));
        self.error(entry.at, what, known);
        None
    }
}

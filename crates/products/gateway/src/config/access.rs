//! Reads who may use the gateway: `auth` and `access`.

use document::{Content, Entry, Node, Position, quoted};
use oauth::resource::Source;
use url::Url;

use super::Reader;
use super::members::Members;
use crate::settings::{AccessRule, AuthSettings, BridgeSettings, ConditionText, Effect};

const AUTH: &[&str] = &["issuer", "keys", "introspection", "audience", "public_url", "scopes", "bridge"];
const RULE: &[&str] = &["effect", "tools", "prompts", "resources", "scopes", "when"];

/// The most rules.
const MOST_RULES: usize = 1000;
/// The longest condition, in bytes.
const LONGEST_CONDITION: usize = 4096;

impl Reader<'_> {
    /// `auth`, and the authorization server that the gateway itself is.
    pub(super) fn auth(&mut self, entry: &Entry) -> (Option<AuthSettings>, Option<Box<BridgeSettings>>) {
        let Some(members) = self.members("`auth`", entry.at, &entry.node, AUTH) else { return (None, None) };
        match members.get("bridge") {
            Some(bridge) => (self.bridged(entry, &members), self.bridge(bridge).map(Box::new)),
            None => (self.issued(entry, &members), None),
        }
    }

    /// `auth` of a file whose tokens another issuer makes.
    fn issued(&mut self, entry: &Entry, members: &Members<'_>) -> Option<AuthSettings> {
        if members.get("issuer").is_none() && !members.has_unknown {
            self.error(entry.at, "`auth` has no `issuer`", "add `issuer`: its name as tokens have it in `iss`");
        }
        let introspected = members.get("introspection");
        if members.get("keys").is_none() && introspected.is_none() && !members.has_unknown {
            let remedy = "add `keys`: the URL or file of its JWKS; for tokens that are not signed, `introspection`";
            self.error(entry.at, "`auth` has no `keys`", remedy);
        }
        let issuer = members.get("issuer").and_then(|entry| self.text(entry));
        let keys = members.get("keys").and_then(|entry| self.keys(entry));
        let audience = members.get("audience").and_then(|entry| self.text(entry)).map(str::to_owned);
        let public_url = members.get("public_url").and_then(|entry| self.public_url(entry));
        let scopes = members.get("scopes").map(|entry| self.scopes(entry)).unwrap_or_default();
        let introspection = introspected.and_then(|entry| self.introspection(entry));
        let issuer = issuer?.to_owned();
        let egress = match (&keys, members.get("keys")) {
            (Some(Source::Address(url)), Some(entry)) => Some(self.egress_to(&self.egress.clone(), &[(url, entry.at)])),
            _ => None,
        };
        Some(AuthSettings { issuer, keys, introspection, audience, public_url, scopes, egress })
    }

    fn keys(&mut self, entry: &Entry) -> Option<Source> {
        let text = self.text(entry)?;
        if !text.contains("://") {
            return Some(Source::File(self.path(entry)?));
        }
        let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "https" | "http") && url.has_host());
        if url.is_none() {
            self.error(entry.at, format!("{} is not a URL", quoted(text)), "https://auth.example/jwks.json, or a file");
        }
        url.map(Source::Address)
    }

    pub(super) fn public_url(&mut self, entry: &Entry) -> Option<String> {
        let text = self.text(entry)?;
        let origin = Url::parse(text).ok().map(|url| url.origin().ascii_serialization());
        if origin.as_deref() == Some(text.trim_end_matches('/')) {
            return origin;
        }
        let what = format!("{} is not a scheme, a host and perhaps a port", quoted(text));
        self.error(entry.at, what, "https://mcp.example: the paths of the endpoints come after it");
        None
    }

    pub(super) fn scopes(&mut self, entry: &Entry) -> Vec<String> {
        let mut scopes = Vec::new();
        for (text, at) in self.texts(entry, "[mcp:read]") {
            // RFC 6749, 3.3.
            let is_scope = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
            if !text.is_empty() && text.bytes().all(is_scope) {
                scopes.push(text.to_owned());
            } else {
                self.error(at, format!("{} is not a scope", quoted(text)), "one word, such as mcp:read");
            }
        }
        scopes
    }

    pub(super) fn access(&mut self, entry: &Entry, has_auth: bool) -> Vec<AccessRule> {
        let Content::List(rules) = &entry.node.content else {
            let example = "a list of rules: [{ effect: allow, tools: [\"read_*\"] }]";
            self.wrong_type("`access`", entry.at, &entry.node, "a list", example);
            return Vec::new();
        };
        if rules.is_empty() || rules.len() > MOST_RULES {
            let what = if rules.is_empty() { "`access` is empty" } else { "`access` has more than 1000 rules" };
            self.error(entry.at, what, "without a rule that allows it, clients may use nothing");
        }
        rules.iter().take(MOST_RULES).filter_map(|rule| self.rule(rule, has_auth)).collect()
    }

    fn rule(&mut self, node: &Node, has_auth: bool) -> Option<AccessRule> {
        let members = self.members("a rule", node.at, node, RULE)?;
        let effect = members.get("effect");
        if effect.is_none() && !members.has_unknown {
            self.error(node.at, "the rule has no `effect`", "add effect: allow, or effect: deny");
        }
        let effect = effect.and_then(|entry| self.effect(entry));
        let [tools, prompts, resources] = ["tools", "prompts", "resources"].map(|name| {
            let entry = members.get(name)?;
            Some(self.names(entry))
        });
        let scopes = match members.get("scopes") {
            Some(entry) => {
                self.needs_auth(has_auth, entry.at, "`scopes`");
                self.scopes(entry)
            }
            None => Vec::new(),
        };
        let condition = members.get("when").and_then(|entry| self.condition(entry));
        Some(AccessRule { effect: effect?, tools, prompts, resources, scopes, condition })
    }

    pub(super) fn needs_auth(&mut self, has_auth: bool, at: Position, what: &str) {
        if !has_auth {
            self.error(at, format!("{what} needs tokens, and the file has no `auth`"), "add `auth`, or remove it");
        }
    }

    fn effect(&mut self, entry: &Entry) -> Option<Effect> {
        match self.text(entry)? {
            "allow" => Some(Effect::Allow),
            "deny" => Some(Effect::Deny),
            other => {
                self.error(entry.at, format!("{} is not an effect", quoted(other)), "allow or deny");
                None
            }
        }
    }

    pub(super) fn names(&mut self, entry: &Entry) -> Vec<String> {
        let before = self.errors.len();
        let names: Vec<_> = self.texts(entry, "[\"read_*\"]").into_iter().map(|(text, _)| text.to_owned()).collect();
        if names.is_empty() && self.errors.len() == before {
            let remedy = "add a name, with `*` for any characters, or remove the key";
            self.error(entry.at, format!("{} is empty", quoted(&entry.key)), remedy);
        }
        names
    }

    pub(super) fn condition(&mut self, entry: &Entry) -> Option<ConditionText> {
        let text = self.text(entry)?;
        if text.len() > LONGEST_CONDITION {
            self.error(entry.at, "the condition is longer than 4 KiB", "split it into several rules");
            return None;
        }
        Some(ConditionText { text: text.to_owned(), line: entry.node.at.line, column: entry.node.at.column })
    }
}

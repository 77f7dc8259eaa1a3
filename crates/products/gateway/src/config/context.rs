//! Reads what servers learn of principals: `context`.

use document::{Content, Entry, Position, quoted};

use super::{Reader, members};
use crate::settings::{ContextKind, ContextSettings, ContextValue, Target, UpstreamSettings};

const MEMBERS: &[&str] = &["upstreams", "tenant_id", "user_id", "scopes"];
const VALUE: &[&str] = &["claim", "header", "meta", "required"];
const SCOPES: &[&str] = &["header", "meta", "required"];

/// Headers that have another meaning on their way to a server.
const TAKEN: &[&str] = &[
    "age",
    "authorization",
    "baggage",
    "connection",
    "cookie",
    "date",
    "expect",
    "forwarded",
    "from",
    "host",
    "keep-alive",
    "last-event-id",
    "origin",
    "range",
    "referer",
    "te",
    "traceparent",
    "tracestate",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
];
/// The same by their beginning.
const TAKEN_FAMILIES: &[&str] =
    &["accept", "access-control-", "cache-", "content-", "if-", "mcp-", "proxy-", "sec-", "x-forwarded-"];

impl Reader<'_> {
    pub(super) fn context(
        &mut self,
        entry: &Entry,
        has_auth: bool,
        upstreams: &[UpstreamSettings],
    ) -> Option<ContextSettings> {
        let members = self.members("`context`", entry.at, &entry.node, MEMBERS)?;
        self.needs_auth(has_auth, entry.at, "`context`");
        let mut context = ContextSettings::default();
        if let Some(entry) = members.get("upstreams") {
            context.upstreams = Some(self.known_upstreams(entry, upstreams));
        }
        for kind in ContextKind::ALL {
            if let Some(entry) = members.get(kind.as_str()) {
                context.values.extend(self.context_value(entry, kind));
            }
        }
        if context.values.is_empty() && !members.has_unknown {
            let remedy = "add `tenant_id`, `user_id` or `scopes`, or remove `context`";
            self.error(entry.at, "`context` names no value", remedy);
        }
        self.header_collisions(entry.at, &context, upstreams);
        Some(context)
    }

    fn known_upstreams(&mut self, entry: &Entry, upstreams: &[UpstreamSettings]) -> Vec<String> {
        let names = self.texts(entry, "[crm]");
        for (name, at) in &names {
            if !upstreams.iter().any(|upstream| upstream.name == *name) {
                let what = format!("there is no upstream {}", quoted(name));
                self.error(*at, what, "the name of an entry of `upstreams`");
            }
        }
        names.into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    fn context_value(&mut self, entry: &Entry, kind: ContextKind) -> Option<ContextValue> {
        let mut value = ContextValue::new(kind);
        if matches!(entry.node.content, Content::Null) {
            return Some(value);
        }
        let known = if kind == ContextKind::Scopes { SCOPES } else { VALUE };
        let members = self.members(&quoted(&entry.key), entry.at, &entry.node, known)?;
        if let Some(claim) = members.get("claim").and_then(|entry| self.text(entry)) {
            claim.clone_into(&mut value.claim);
        }
        value.header = members.get("header").and_then(|entry| self.context_header(entry));
        for (name, flag) in [("meta", &mut value.meta), ("required", &mut value.required)] {
            if let Some(yes) = members.get(name).and_then(|entry| self.flag(entry)) {
                *flag = yes;
            }
        }
        if !value.meta && members.get("header").is_none() {
            let what = format!("{} goes nowhere", quoted(&entry.key));
            self.error(entry.at, what, "add `header`, or remove `meta: false`");
        }
        Some(value)
    }

    pub(super) fn context_header(&mut self, entry: &Entry) -> Option<String> {
        let name = self.text(entry)?.to_ascii_lowercase();
        // Proxies drop or rewrite names with an underscore.
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_name || name.len() > 64 {
            self.error(entry.at, format!("{} is no name for a header here", quoted(&name)), "such as X-Tenant-Id");
            return None;
        }
        if TAKEN.contains(&name.as_str()) || TAKEN_FAMILIES.iter().any(|family| name.starts_with(family)) {
            let what = format!("the header {} has another meaning", quoted(&name));
            self.error(entry.at, what, "a name of your own, such as X-Tenant-Id");
            return None;
        }
        Some(name)
    }

    pub(super) fn flag(&mut self, entry: &Entry) -> Option<bool> {
        if let Content::Bool(yes) = entry.node.content {
            return Some(yes);
        }
        let what = format!("{} {}, not true or false", quoted(&entry.key), members::is(&entry.node.content));
        self.error(entry.at, what, "true or false");
        None
    }

    /// A header says one thing.
    fn header_collisions(&mut self, at: Position, context: &ContextSettings, upstreams: &[UpstreamSettings]) {
        let headers: Vec<&str> = context.values.iter().filter_map(|value| value.header.as_deref()).collect();
        for (index, header) in headers.iter().enumerate() {
            if headers[..index].contains(header) {
                let what = format!("two values of `context` have the header {}", quoted(header));
                self.error(at, what, "give each a header of its own");
            }
            let configured = upstreams.iter().find(|upstream| {
                let sets = |(name, _): &(String, String)| name.eq_ignore_ascii_case(header);
                let asserts = upstream.assertion.as_ref().is_some_and(|assertion| assertion.header == *header);
                asserts || address(&upstream.target).is_some_and(|headers| headers.iter().any(sets))
            });
            if let Some(upstream) = configured {
                let what = format!("the upstream {} sets the header {} itself", quoted(&upstream.name), quoted(header));
                self.error(at, what, "choose another header in `context`");
            }
        }
    }
}

/// The headers that are configured for an upstream.
fn address(target: &Target) -> Option<&[(String, String)]> {
    match target {
        Target::Command { .. } => None,
        Target::Http(address) | Target::StreamableHttp(address) | Target::Sse(address) | Target::WebSocket(address) => {
            Some(&address.headers)
        }
    }
}

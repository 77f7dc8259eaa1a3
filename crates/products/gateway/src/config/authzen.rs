//! Reads which policy decision point is asked about access: `authzen`.

use std::time::Duration;

use document::{Entry, quoted};
use net::HttpAddress;
use oauth::is_loopback;

use super::Reader;
use super::members::Members;
use crate::settings::{AuthzenMapping, AuthzenSettings};

pub(super) const MEMBERS: &[&str] = &[
    "url",
    "discover",
    "headers",
    "ca",
    "subject",
    "subject_type",
    "claims",
    "arguments",
    "timeout",
    "cache",
    "cache_entries",
    "batch",
    "answer_bytes",
    "at_once",
];
/// The longest time that every request may wait for a decision.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// The longest time that a decision is used again: what was withdrawn is allowed for as long.
const LONGEST_CACHE: Duration = Duration::from_mins(5);
const MOST_ENTRIES: usize = 1_000_000;
const MOST_ITEMS: usize = 1000;
const MOST_AT_ONCE: usize = 10_000;
/// The least and the most bytes of an answer.
const ANSWER_BYTES: (usize, usize) = (1 << 10, 64 << 20);
/// A member of `subject.properties` that is always there.
const OWN_PROPERTY: &str = "scopes";

impl Reader<'_> {
    pub(super) fn authzen(&mut self, entry: &Entry, has_auth: bool) -> Option<AuthzenSettings> {
        let members = self.members("`authzen`", entry.at, &entry.node, MEMBERS)?;
        let Some(url) = members.get("url") else {
            if !members.has_unknown {
                self.error(entry.at, "`authzen` has no `url`", "add url: https://pdp.example");
            }
            return None;
        };
        let mapping = self.authzen_mapping(&members, has_auth);
        let address = self.decision_point(url, &members)?;
        let mut settings = AuthzenSettings { mapping, ..AuthzenSettings::new(address) };
        if let Some(discover) = members.get("discover").and_then(|entry| self.flag(entry)) {
            settings.discover = discover;
        }
        if let Some(time) = members.get("timeout").and_then(|entry| self.within(entry, LONGEST_WAIT, "1ms to 1m")) {
            settings.timeout = time;
        }
        settings.cache = members.get("cache").and_then(|entry| self.within(entry, LONGEST_CACHE, "1ms to 5m"));
        for (name, most, example, number) in [
            ("cache_entries", MOST_ENTRIES, "10000", &mut settings.cache_entries),
            ("batch", MOST_ITEMS, "50", &mut settings.batch),
            ("at_once", MOST_AT_ONCE, "32", &mut settings.at_once),
        ] {
            let entry = members.get(name);
            *number = entry.and_then(|entry| self.whole_number(entry, most, example)).unwrap_or(*number);
        }
        if let Some(entry) = members.get("cache_entries").filter(|_| members.get("cache").is_none()) {
            self.error(entry.at, "`cache_entries` needs `cache`", "add cache: 10s, or remove it");
        }
        if let Some(entry) = members.get("answer_bytes") {
            settings.answer_bytes = self.size(entry, ANSWER_BYTES, "1KiB to 64MiB").unwrap_or(settings.answer_bytes);
        }
        Some(settings)
    }

    /// What the decision point learns of a request.
    pub(super) fn authzen_mapping(&mut self, members: &Members<'_>, has_auth: bool) -> AuthzenMapping {
        let mut mapping = AuthzenMapping::default();
        for (name, text) in [("subject", &mut mapping.subject), ("subject_type", &mut mapping.subject_type)] {
            let Some(entry) = members.get(name) else { continue };
            self.needs_auth(has_auth, entry.at, &quoted(name));
            if let Some(given) = self.text(entry) {
                given.clone_into(text);
            }
        }
        if let Some(entry) = members.get("claims") {
            self.needs_auth(has_auth, entry.at, "`claims`");
            for entry in self.named(entry, "a mapping of properties and claims: { team: team }", false) {
                if entry.key == OWN_PROPERTY {
                    self.error(
                        entry.at,
                        "`scopes` is always in `subject.properties`",
                        "remove it, or use another name",
                    );
                } else if let Some(claim) = self.text(entry) {
                    mapping.claims.push((entry.key.clone(), claim.to_owned()));
                }
            }
        }
        if let Some(entry) = members.get("arguments") {
            mapping.arguments = self.names(entry);
        }
        mapping
    }

    fn decision_point(&mut self, entry: &Entry, members: &Members<'_>) -> Option<HttpAddress> {
        let headers = members.get("headers").map(|entry| self.headers(entry)).unwrap_or_default();
        let ca = members.get("ca").and_then(|entry| self.path(entry));
        let url = self.url(entry)?;
        if !matches!(url.scheme(), "http" | "https") || url.query().is_some() || url.fragment().is_some() {
            let what = "`url` of `authzen` is not an http or https URL without query and fragment";
            self.error(entry.at, what, "https://pdp.example: the paths of its endpoints come after it");
            return None;
        }
        // Who answers decides, and learns the secrets in `headers`.
        if url.scheme() != "https" && !is_loopback(&url) {
            let what = "`url` of `authzen` is not an https URL, nor one on this machine";
            self.error(entry.at, what, "https://pdp.example");
            return None;
        }
        if let Some(entry) = members.get("ca").filter(|_| url.scheme() != "https") {
            self.error(entry.at, "`ca` needs an https `url`", "remove it, or change the `url`");
        }
        let egress = Some(self.egress_to(&self.egress.clone(), &[(&url, entry.at)]));
        Some(HttpAddress { headers, ca, egress, ..HttpAddress::new(url) })
    }

    /// A duration of at most `most`.
    fn within(&mut self, entry: &Entry, most: Duration, range: &str) -> Option<Duration> {
        let time = self.duration(entry)?;
        if time > most {
            self.error(entry.at, format!("{} is too long", quoted(&entry.key)), range);
            return None;
        }
        Some(time)
    }
}

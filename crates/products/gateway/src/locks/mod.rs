//! What servers may tell models: their lists and instructions, held against the lock and against signed manifests. Must not know
//! requests.

mod book;
mod cause;
mod files;
mod manifest;
mod uris;

use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lock::{Digest, Entry, Item, Kind, Pins, Verdict, Verdicts};
use serde_json::Value;

use crate::catalogue::List;
use crate::settings::{LockSettings, Unlocked};

pub(crate) use self::book::{Book, Withheld};
pub(crate) use self::cause::Cause;
use self::files::Loaded;
pub use self::files::{LockError, LockFiles};
use self::manifest::SignedManifest;
pub(crate) use self::uris::{may_fit, withheld_spelling};

/// What is locked, by upstream.
#[derive(Debug, PartialEq)]
pub(crate) struct Locks {
    settings: LockSettings,
    upstreams: HashMap<String, Locked>,
}

/// What is locked of one upstream.
#[derive(Debug, PartialEq)]
struct Locked {
    entry: Entry,
    pins: Pins,
    manifest: Option<SignedManifest>,
}

/// The verdict on a list of one upstream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Judged {
    /// What is withheld, by the names at the upstream.
    pub(crate) blocked: HashMap<String, Cause>,
    /// Items that the lock does not know: they must not decide what the others are called.
    pub(crate) unknown: Vec<Value>,
    /// Why nobody can say what the list has.
    pub(crate) doubt: Option<Cause>,
    /// The verdicts, for the next look at the list.
    pub(crate) verdicts: Option<Verdicts>,
    /// How long it holds where the list cannot be had again.
    pub(crate) until: Option<Instant>,
}

/// Milliseconds since the epoch.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
}

/// The kind of the items of a list.
pub(crate) const fn kind(list: List) -> Kind {
    match list {
        List::Tools => Kind::Tool,
        List::Prompts => Kind::Prompt,
        List::Resources => Kind::Resource,
        List::Templates => Kind::Template,
    }
}

/// Why an item of a name is withheld.
type Judge<'l> = Box<dyn Fn(&str, &Value) -> Option<Cause> + 'l>;

impl Locks {
    /// Reads the lock and the manifests, for these upstreams.
    pub(crate) fn load<'u>(
        settings: &LockSettings,
        upstreams: impl Iterator<Item = &'u str>,
    ) -> Result<Self, LockError> {
        let loaded = Loaded::read(settings)?;
        let mut locked = HashMap::new();
        for upstream in upstreams {
            let Some((entry, pins)) = loaded.entry(settings, upstream)? else { continue };
            let manifest = match settings.manifests.get(upstream) {
                Some(manifest) => Some(SignedManifest::read(manifest, (&entry, &pins))?),
                None => None,
            };
            locked.insert(upstream.to_owned(), Locked { entry, pins, manifest });
        }
        Ok(Self { settings: settings.clone(), upstreams: locked })
    }

    /// Whether lists are fetched again before each call.
    pub(crate) const fn look_at_each_call(&self) -> bool {
        self.settings.each_call
    }

    /// Whether what an upstream says is judged.
    pub(crate) fn judges(&self, upstream: &str) -> bool {
        self.settings.unlocked == Unlocked::Withhold || self.upstreams.contains_key(upstream)
    }

    /// Why nothing of an upstream is passed on; `None` where that depends on each item.
    pub(crate) fn whole(&self, upstream: &str, now: u64) -> Option<Cause> {
        let Some(locked) = self.upstreams.get(upstream) else {
            return (self.settings.unlocked == Unlocked::Withhold).then_some(Cause::Unlocked);
        };
        locked.rejected(now).map(Cause::Manifest)
    }

    /// Whether the lock has an item.
    pub(crate) fn has(&self, upstream: &str, list: List, name: &str) -> bool {
        let key = (kind(list), name.to_owned());
        self.upstreams.get(upstream).is_some_and(|locked| locked.entry.items.contains_key(&key))
    }

    /// The verdict on a list, from the text of each page. Takes out of `items` what the lock does not know.
    pub(crate) fn judge(
        &self,
        (upstream, list): (&str, List),
        pages: &[&str],
        items: &mut Vec<Value>,
        (before, now): (Option<&Verdicts>, u64),
    ) -> Judged {
        let (kind, locked) = (kind(list), self.upstreams.get(upstream));
        let name = |item: &Value| item.get(kind.key()).and_then(Value::as_str).map(str::to_owned);
        let whole = self.whole(upstream, now);
        // Of a server that is withheld whole, no URI keeps others from one that is approved.
        let knows_none = whole.is_some() && matches!(list, List::Resources | List::Templates);
        let mut judged = Judged::default();
        let cause: Judge<'_> = match (whole, locked) {
            (Some(whole), _) => Box::new(move |_, _| Some(whole.clone())),
            // Without a lock and without a reason to withhold, nothing is judged.
            (None, None) => return judged,
            (None, Some(locked)) => match locked.pins(now).judge_list(kind, pages, before) {
                Err(why) => {
                    // It repeats names of the server.
                    tracing::debug!(upstream, "a list cannot be read: {}", wire::escape::line(&why.to_string()));
                    judged.doubt = Some(Cause::Unreadable);
                    Box::new(|_, _| Some(Cause::Unreadable))
                }
                Ok(verdicts) => {
                    judged.verdicts = Some(verdicts.clone());
                    Box::new(move |name, item| locked.cause(kind, name, item, &verdicts))
                }
            },
        };
        for item in &*items {
            let Some(name) = name(item) else { continue };
            judged.blocked.extend(cause(&name, item).map(|cause| (name, cause)));
        }
        let is_known = |item: &Value| !knows_none && name(item).is_some_and(|name| self.has(upstream, list, &name));
        judged.unknown = items.extract_if(.., |item| !is_known(item)).collect();
        if let Some(locked) = locked {
            for item in items.iter_mut() {
                locked.drop_other_meta(kind, item);
            }
        }
        judged
    }

    /// Why the instructions of an upstream are not passed on.
    pub(crate) fn refuses_instructions(&self, upstream: &str, text: Option<&str>, now: u64) -> Option<Cause> {
        if let Some(whole) = self.whole(upstream, now) {
            return Some(whole);
        }
        let locked = self.upstreams.get(upstream)?;
        match locked.pins(now).judge_instructions(text.map(Value::from).as_ref()) {
            Verdict::Approved => None,
            _ => Some(Cause::Changed(vec!["instructions"])),
        }
    }

    /// How long the verdicts of now hold: until the next manifest expires.
    pub(crate) fn holds_for(&self, now: u64) -> Option<Duration> {
        let manifests = self.upstreams.values().filter_map(|locked| locked.manifest.as_ref());
        manifests.filter_map(|manifest| manifest.holds_for(now)).min()
    }

    /// The states of all manifests, by upstream: why one is refused.
    pub(crate) fn manifests(&self, now: u64) -> Vec<(String, Option<String>)> {
        let signed = self.upstreams.iter().filter(|(_, locked)| locked.manifest.is_some());
        let mut states: Vec<_> = signed.map(|(name, locked)| (name.clone(), locked.refusal(now))).collect();
        states.sort();
        states
    }
}

impl Locked {
    /// The digests that count now.
    fn pins(&self, now: u64) -> Pins {
        let signed = |manifest: &SignedManifest| manifest.pins((&self.entry, &self.pins), now);
        self.manifest.as_ref().map_or_else(|| self.pins.clone(), signed)
    }

    /// Why the manifest is refused.
    fn refusal(&self, now: u64) -> Option<String> {
        self.manifest.as_ref()?.refusal((&self.entry, &self.pins), now)
    }

    /// The same without a text of the manifest.
    fn rejected(&self, now: u64) -> Option<&'static str> {
        self.manifest.as_ref()?.rejected((&self.entry, &self.pins), now)
    }

    /// Takes `_meta` out of an item where it is not the one that was locked: it decides nothing, and nobody reviewed it.
    fn drop_other_meta(&self, kind: Kind, item: &mut Value) {
        let name = item.get(kind.key()).and_then(Value::as_str).unwrap_or_default().to_owned();
        let locked = self.entry.items.get(&(kind, name)).and_then(|locked| locked.meta);
        if item.get("_meta").is_some()
            && Item::new(kind, item.clone()).meta != locked
            && let Some(members) = item.as_object_mut()
        {
            members.remove("_meta");
        }
    }

    /// Why an item of a list is withheld.
    fn cause(&self, kind: Kind, name: &str, item: &Value, verdicts: &Verdicts) -> Option<Cause> {
        let locked = self.entry.items.get(&(kind, name.to_owned()));
        match (verdicts.of(name), locked) {
            (Verdict::Approved, _) => None,
            (Verdict::Changed { .. }, Some(locked)) => {
                Some(Cause::Changed(classes(kind, locked, &Item::new(kind, item.clone()))))
            }
            (Verdict::Unapproved { found: None }, _) => Some(Cause::Repeated),
            (Verdict::Unapproved { found: Some(found) }, Some(locked)) => Some(unsigned(kind, (locked, found), item)),
            (Verdict::Changed { .. } | Verdict::Unapproved { .. }, None) => Some(Cause::Unapproved),
        }
    }
}

/// Why an item is withheld that is in the lock and not in the manifest.
fn unsigned(kind: Kind, (locked, found): (&Item, Digest), item: &Value) -> Cause {
    if locked.digest == found {
        return Cause::Unsigned;
    }
    Cause::Changed(classes(kind, locked, &Item::new(kind, item.clone())))
}

/// The classes of what changed, each once. No text of the server is among them.
fn classes(kind: Kind, locked: &Item, found: &Item) -> Vec<&'static str> {
    let alone = |item: &Item| Entry {
        items: [((kind, String::new()), Item { meta: None, ..item.clone() })].into(),
        listed: vec![kind],
        ..Entry::default()
    };
    let mut classes: Vec<_> = alone(locked).drift(&alone(found)).iter().map(|change| change.class).collect();
    classes.sort_unstable();
    classes.dedup();
    classes.into_iter().map(lock::Class::as_str).collect()
}

#[cfg(test)]
mod tests;

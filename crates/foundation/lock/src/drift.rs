//! The trust view: what differs between a locked server and the one that was found. Digests decide whether something differs;
//! the comparison of callers says what. Must not know files.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use schema::diff::from_to;
use serde_json::Value;

use crate::compatibility::{changes_of_capabilities, changes_of_item};
use crate::{Change, Class, Entry, Item, Kind};

impl Entry {
    /// Everything that differs in `found`. Kinds that were not listed there are not compared.
    pub fn drift(&self, found: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        self.origin(found, &mut changes);
        let introduced = changes.len();
        self.introduction(found, &mut changes);
        self.lists(found, &mut changes);
        let changed = changes[introduced..].iter().any(|one| defines(one.class));
        let same_version = self.version().is_some() && self.version() == found.version();
        if changed && same_version && self.name() == found.name() {
            let version = found.version().unwrap_or_default();
            let what = format!("version {version} was locked with other definitions");
            changes.insert(0, Change { of: "server".to_owned(), what, breaks: false, class: Class::ImmutableVersion });
        }
        changes
    }

    /// Who the server is and how it is started.
    fn origin(&self, found: &Self, changes: &mut Vec<Change>) {
        let mut add = |of: &str, what: String, class| {
            changes.push(Change { of: of.to_owned(), what, breaks: false, class });
        };
        let text = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::from);
        let (old, new) = (&self.identity, &found.identity);
        for (member, old, new) in [
            ("address", &old.url, &new.url),
            ("registry name", &old.registry, &new.registry),
            ("package", &old.package, &new.package),
            ("package digest", &old.package_digest, &new.package_digest),
        ] {
            if old != new {
                add("identity", format!("the {member} changed{}", from_to(&text(old), &text(new))), Class::Identity);
            }
        }
        if self.name() != found.name() {
            let name = |entry: &Self| entry.name().map_or(Value::Null, Value::from);
            add(
                "identity",
                format!("the server's name changed{}", from_to(&name(self), &name(found))),
                Class::Identity,
            );
        }
        match (&self.launch, &found.launch) {
            (Some(old), Some(new)) => {
                if old.command != new.command {
                    let line = |words: &[String]| Value::from(words.join(" "));
                    let words = from_to(&line(&old.command), &line(&new.command));
                    add("launch", format!("the command changed{words}"), Class::Launch);
                }
                let (was, is) = (old.env.iter().collect::<BTreeSet<_>>(), new.env.iter().collect::<BTreeSet<_>>());
                for name in is.difference(&was) {
                    add("launch", format!("gets the variable {name} now"), Class::Launch);
                }
                for name in was.difference(&is) {
                    add("launch", format!("no longer gets the variable {name}"), Class::Launch);
                }
            }
            (None, Some(_)) => add("launch", "is a program now".to_owned(), Class::Launch),
            (Some(_), None) => add("launch", "is no longer a program".to_owned(), Class::Launch),
            (None, None) => {}
        }
    }

    /// What the server says of itself.
    fn introduction(&self, found: &Self, changes: &mut Vec<Change>) {
        let nothing = Value::Null;
        let mut add = |of: &str, what: String, class| {
            changes.push(Change { of: of.to_owned(), what, breaks: false, class });
        };
        if self.protocol != found.protocol {
            let text = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::from);
            let words = from_to(&text(&self.protocol), &text(&found.protocol));
            add("server", format!("the protocol version changed{words}"), Class::ProtocolVersion);
        }
        let (old, new) = (self.server.as_ref().unwrap_or(&nothing), found.server.as_ref().unwrap_or(&nothing));
        let names = |value: &Value| {
            value.as_object().map(|all| all.keys().cloned().collect::<BTreeSet<String>>()).unwrap_or_default()
        };
        let members: BTreeSet<String> = names(old).union(&names(new)).cloned().collect();
        for member in members.iter().filter(|member| *member != "name" && old[*member] != new[*member]) {
            let class = if member == "version" { Class::ServerVersion } else { Class::Description };
            add("server", format!("`{member}` changed{}", from_to(&old[member], &new[member])), class);
        }
        if self.instructions_digest() != found.instructions_digest() {
            let text = |text: &Option<Value>| text.clone().unwrap_or_default();
            let words = from_to(&text(&self.instructions), &text(&found.instructions));
            add("instructions", format!("changed{words}"), Class::Instructions);
        }
        let capabilities = |entry: &Self| entry.capabilities.clone().unwrap_or_default();
        changes.extend(changes_of_capabilities(&capabilities(self), &capabilities(found)));
    }

    fn lists(&self, found: &Self, changes: &mut Vec<Change>) {
        let is_compared = |kind: Kind| found.listed.contains(&kind);
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        for ((kind, name), old) in self.items.iter().filter(|((kind, _), _)| is_compared(*kind)) {
            match found.items.get(&(*kind, name.clone())) {
                None => gone.push((*kind, name, old)),
                Some(new) => item_drift(*kind, name, old, new, changes),
            }
        }
        for ((kind, name), new) in found.items.iter().filter(|(key, _)| !self.items.contains_key(*key)) {
            come.push((*kind, name, new));
        }
        let mut twins: HashMap<(Kind, Vec<u8>), VecDeque<&String>> = HashMap::new();
        for (kind, name, new) in come.iter().filter(|_| !gone.is_empty()) {
            if let Some(nameless) = nameless(*kind, new) {
                twins.entry((*kind, nameless)).or_default().push_back(name);
            }
        }
        let mut renamed = HashSet::new();
        for (kind, name, old) in gone {
            let of = format!("{} {name}", kind.word());
            let twin = nameless(kind, old).and_then(|nameless| twins.get_mut(&(kind, nameless))?.pop_front());
            let (what, class) = match twin {
                Some(new) => {
                    renamed.insert((kind, new));
                    (format!("was renamed: {name} → {new}"), Class::Renamed)
                }
                None => ("was removed".to_owned(), Class::Removed),
            };
            changes.push(Change { of, what, breaks: true, class });
        }
        for (kind, name, _) in come.into_iter().filter(|(kind, name, _)| !renamed.contains(&(*kind, *name))) {
            let of = format!("{} {name}", kind.word());
            changes.push(Change { of, what: "was added".to_owned(), breaks: false, class: Class::Added });
        }
    }
}

/// Whether a change of this class is a change of what a version defines.
const fn defines(class: Class) -> bool {
    !matches!(class, Class::ServerVersion | Class::ProtocolVersion | Class::Meta | Class::Capability)
}

/// What differs between two listings of one server: nothing may.
pub fn unstable(one: &Entry, other: &Entry, when: &str) -> Vec<Change> {
    let differing = one.drift(other).into_iter().filter(|change| change.class != Class::ImmutableVersion);
    let told = |change: Change| Change { what: format!("{when}: {}", change.what), class: Class::Unstable, ..change };
    differing.filter(|change| change.class != Class::Meta).map(told).collect()
}

fn item_drift(kind: Kind, name: &str, old: &Item, new: &Item, changes: &mut Vec<Change>) {
    let of = format!("{} {name}", kind.word());
    if old.digest != new.digest {
        let found = changes_of_item(kind, &of, &old.definition, &new.definition);
        if found.is_empty() {
            let what = "changed in a member that callers do not notice".to_owned();
            changes.push(Change { of: of.clone(), what, breaks: false, class: Class::Other });
        }
        changes.extend(found);
    }
    if old.meta != new.meta {
        changes.push(Change { of, what: "`_meta` changed".to_owned(), breaks: false, class: Class::Meta });
    }
}

/// Whether two items are the same but for their names.
pub(crate) fn is_twin(kind: Kind, old: &Item, new: &Item) -> bool {
    nameless(kind, old).is_some_and(|old| nameless(kind, new) == Some(old))
}

/// An item without its name, in canonical form. Of two items that say nothing but their names, none is the other.
fn nameless(kind: Kind, item: &Item) -> Option<Vec<u8>> {
    let mut definition = item.definition.clone();
    let members = definition.as_object_mut()?;
    members.shift_remove(kind.key());
    (!members.is_empty()).then(|| wire::json::canonical(&definition))
}

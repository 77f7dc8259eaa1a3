//! What may be passed on to clients of a server: a lock as a gateway asks it. One hash for each item of a list that changed, one look
//! for each call. Must not know of requests.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::manifest::Manifest;
use crate::strict::Unreadable;
use crate::{Digest, Item, Kind, Lock, Surface};

/// What the lock says of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the one that was locked.
    Approved,
    /// It changed since.
    Changed {
        /// The digest in the lock.
        locked: Digest,
        /// The digest of what the server says now.
        found: Digest,
    },
    /// The lock does not know it.
    Unapproved {
        /// The digest of what the server says, if it lists the item.
        found: Option<Digest>,
    },
}

/// The digests of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    items: Arc<HashMap<(Kind, String), Digest>>,
    instructions: Option<Digest>,
}

/// The verdicts on a list, for as long as it stays the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdicts {
    list: Digest,
    /// By which digests: another lock may judge the same list in another way.
    by: Arc<HashMap<(Kind, String), Digest>>,
    items: HashMap<String, Verdict>,
}

impl Verdicts {
    /// The verdict on the item of a name: no hash, one look. What the list did not hold is not approved.
    pub fn of(&self, name: &str) -> Verdict {
        self.items.get(name).copied().unwrap_or(Verdict::Unapproved { found: None })
    }

    /// The items that are not approved.
    pub fn blocked(&self) -> impl Iterator<Item = (&str, Verdict)> {
        let blocked = self.items.iter().filter(|(_, verdict)| **verdict != Verdict::Approved);
        blocked.map(|(name, verdict)| (name.as_str(), *verdict))
    }
}

impl Lock {
    /// The digests of a server; `None` where the lock does not know it.
    pub fn pins(&self, server: &str) -> Option<Pins> {
        let entry = self.servers.get(server)?;
        let items = entry.items.iter().map(|(key, item)| (key.clone(), item.digest));
        Some(Pins { items: Arc::new(items.collect()), instructions: entry.instructions_digest() })
    }
}

impl Pins {
    /// Of these digests, those that an admitted manifest states, too. What only one of the two has is not approved.
    #[must_use]
    pub fn signed_by(mut self, manifest: &Manifest) -> Self {
        Arc::make_mut(&mut self.items).retain(|item, locked| manifest.items.get(item) == Some(locked));
        self.instructions = self.instructions.filter(|locked| manifest.instructions == Some(*locked));
        self
    }

    /// The verdict on one item as the server lists it.
    pub fn judge(&self, kind: Kind, item: Value) -> Verdict {
        let name = item[kind.key()].as_str().unwrap_or_default().to_owned();
        let found = Item::new(kind, item).digest;
        match self.items.get(&(kind, name)) {
            Some(&locked) if locked == found => Verdict::Approved,
            Some(&locked) => Verdict::Changed { locked, found },
            None => Verdict::Unapproved { found: Some(found) },
        }
    }

    /// The verdicts on a list, the text of each page as it came. Where `before` is of the same texts by the same digests, nothing
    /// is read again.
    /// Of two items with one name, neither is approved.
    pub fn judge_list(&self, kind: Kind, pages: &[&str], before: Option<&Verdicts>) -> Result<Verdicts, Unreadable> {
        let list = Digest::of_bytes(kind.list(), pages.join("\0").as_bytes());
        if let Some(before) = before.filter(|before| before.list == list && before.by == self.items) {
            return Ok(before.clone());
        }
        let mut surface = Surface::default();
        for page in pages {
            surface.add_text(kind, page)?;
        }
        let mut verdicts: HashMap<String, Verdict> = HashMap::new();
        for item in surface.items(kind) {
            let name = item[kind.key()].as_str().unwrap_or_default().to_owned();
            let verdict = self.judge(kind, item.clone());
            let repeated = |earlier: &mut Verdict| *earlier = Verdict::Unapproved { found: None };
            verdicts.entry(name).and_modify(repeated).or_insert(verdict);
        }
        Ok(Verdicts { list, by: Arc::clone(&self.items), items: verdicts })
    }

    /// The verdict on the instructions of the server.
    pub fn judge_instructions(&self, instructions: Option<&Value>) -> Verdict {
        match (self.instructions, instructions.map(|text| Digest::of("instructions", text))) {
            (locked, found) if locked == found => Verdict::Approved,
            (Some(locked), Some(found)) => Verdict::Changed { locked, found },
            (_, found) => Verdict::Unapproved { found },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Pins, Verdict, Verdicts};
    use crate::{Entry, Identity, Kind, Lock, Surface};

    fn pins(tools: Value) -> Pins {
        let surface = Surface::from_snapshot(&json!({ "tools": tools, "instructions": "Be kind." }));
        let entry = Entry::new(Identity::default(), None, &surface).expect("an entry");
        Lock { servers: [("s".to_owned(), entry)].into() }.pins("s").expect("the server")
    }

    #[test]
    fn only_what_changed_is_blocked() {
        let pins = pins(json!([{ "name": "a", "description": "A" }, { "name": "b" }]));
        let page =
            r#"{"tools":[{"description":"A","name":"a","_meta":{"x":1}},{"name":"b","description":"B"},{"name":"c"}]}"#;
        let verdicts = pins.judge_list(Kind::Tool, &[page], None).expect("a list");
        assert_eq!(verdicts.of("a"), Verdict::Approved);
        assert!(matches!(verdicts.of("b"), Verdict::Changed { locked, found } if locked != found));
        assert!(matches!(verdicts.of("c"), Verdict::Unapproved { found: Some(_) }));
        assert_eq!(verdicts.of("d"), Verdict::Unapproved { found: None });
        let mut blocked: Vec<&str> = verdicts.blocked().map(|(name, _)| name).collect();
        blocked.sort_unstable();
        assert_eq!(blocked, ["b", "c"]);
        assert_eq!(pins.judge_list(Kind::Tool, &[page], Some(&verdicts)), Ok(verdicts));
        // A prompt of the same name and text is not the tool.
        let prompts = pins.judge_list(Kind::Prompt, &[r#"{"prompts":[{"name":"b"}]}"#], None).expect("a list");
        assert!(matches!(prompts.of("b"), Verdict::Unapproved { .. }));
    }

    #[test]
    fn verdicts_by_another_lock_are_not_used_again() {
        let page = r#"{"tools":[{"name":"a","description":"new"}]}"#;
        let (old, new) = (pins(json!([{ "name": "a" }])), pins(json!([{ "name": "a", "description": "new" }])));
        let judged =
            |by: &Pins, before: &Verdicts| by.judge_list(Kind::Tool, &[page], Some(before)).expect("a list").of("a");
        let (by_old, by_new) = [&old, &new].map(|by| by.judge_list(Kind::Tool, &[page], None).expect("a list")).into();
        assert_eq!(judged(&new, &by_old), Verdict::Approved, "the change was approved");
        assert!(matches!(judged(&old, &by_new), Verdict::Changed { .. }), "the approval was taken back");
        assert_eq!(judged(&new.clone(), &by_new), Verdict::Approved);
    }

    #[test]
    fn a_name_that_stands_twice_is_not_approved() {
        let pins = pins(json!([{ "name": "a" }]));
        let pages = [r#"{"tools":[{"name":"a"}]}"#, r#"{"tools":[{"name":"a","description":"other"}]}"#];
        let verdicts = pins.judge_list(Kind::Tool, &pages, None).expect("a list");
        assert_ne!(verdicts.of("a"), Verdict::Approved);
        assert!(pins.judge_list(Kind::Tool, &[r#"{"tools":[{"name":"a","name":"b"}]}"#], None).is_err());
    }

    #[test]
    fn instructions_are_judged_too() {
        let pins = pins(json!([]));
        assert_eq!(pins.judge_instructions(Some(&json!("Be kind."))), Verdict::Approved);
        assert!(matches!(pins.judge_instructions(Some(&json!("Be bad."))), Verdict::Changed { .. }));
        assert_eq!(pins.judge_instructions(None), Verdict::Unapproved { found: None });
    }
}

//! Secrets that turn up while the program runs: tokens that it fetches, and what a recorder sees under secret names. All
//! clones of a redactor share them. Must not know where they come from.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{PoisonError, RwLock};

use super::{known, pseudonym};

/// Forms are looked up by their beginning, so that the time of a search does not grow with their number.
const BEGINNING: usize = 4;
const SLOTS: usize = 1 << 16;

/// Whose secrets, and how many of them are kept: beyond that the oldest are forgotten.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// This program fetched them.
    Own,
    /// A peer used them under a secret name.
    Peer,
}

impl Source {
    const fn limits(self) -> (usize, usize) {
        match self {
            Self::Own => (256, 1 << 20),
            Self::Peer => (256, 64 << 10),
        }
    }
}

/// A text and its replacement.
pub(super) type Pair = (String, String);

/// The secrets so far.
pub(super) struct Learned {
    key: Option<[u8; 32]>,
    stores: RwLock<[Store; 2]>,
}

impl Learned {
    pub(super) fn new(key: Option<[u8; 32]>) -> Self {
        Self { key, stores: RwLock::new([Source::Own, Source::Peer].map(Store::new)) }
    }

    /// Keeps a secret; whether it is new.
    pub(super) fn add(&self, source: Source, secret: &str) -> bool {
        let is_known = |store: &Store| store.plain.contains(secret) || store.pseudonyms.contains(secret);
        if self.read().iter().any(is_known) || secret.len() > source.limits().1 {
            return false;
        }
        let entry = Entry::new(self.key.as_ref(), secret);
        self.stores.write().unwrap_or_else(PoisonError::into_inner)[source as usize].add(entry);
        true
    }

    /// The forms of secrets in `text`, each with its pseudonym or with the mask.
    pub(super) fn found(&self, text: &str, mask: bool) -> Vec<Pair> {
        self.read().iter().flat_map(|store| store.found(text, mask)).collect()
    }

    /// How many were learned, also those that are forgotten.
    pub(super) fn count(&self) -> usize {
        self.read().iter().map(|store| store.first + store.entries.len()).sum()
    }

    /// All forms of this program's own secrets. Those of peers are too many to be looked for in what was cut short.
    pub(super) fn own_forms(&self, mask: bool) -> Vec<Pair> {
        let stores = self.read();
        let forms = stores[Source::Own as usize].entries.iter().flat_map(|entry| &entry.forms);
        forms.map(|form| form.pair(mask)).collect()
    }

    /// Whether `text` is a replacement already.
    pub(super) fn stands_for_one(&self, text: &str) -> bool {
        self.read().iter().any(|store| store.pseudonyms.contains(text))
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, [Store; 2]> {
        self.stores.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The secrets of one source.
struct Store {
    source: Source,
    entries: VecDeque<Entry>,
    /// The number of the first entry: those before it are forgotten.
    first: usize,
    bytes: usize,
    plain: HashSet<String>,
    pseudonyms: HashSet<String>,
    /// The number of the entry and of its form, by the form's beginning.
    by_beginning: HashMap<[u8; BEGINNING], Vec<(usize, usize)>>,
    /// Which slots have a beginning: most of a text is passed over by this alone.
    slots: Box<[bool]>,
}

/// One secret.
struct Entry {
    plain: String,
    pseudonym: String,
    forms: Vec<Form>,
}

struct Form {
    text: String,
    pseudonym: String,
    mask: String,
}

impl Form {
    fn pair(&self, mask: bool) -> Pair {
        (self.text.clone(), if mask { &self.mask } else { &self.pseudonym }.clone())
    }
}

impl Entry {
    fn new(key: Option<&[u8; 32]>, secret: &str) -> Self {
        let pseudonym = pseudonym::or_mask(key, secret);
        let with = known::forms(&pseudonym).into_iter().zip(known::forms(pseudonym::MASK));
        let mut seen = HashSet::new();
        let forms = known::forms(secret).into_iter().zip(with);
        let forms = forms
            .filter(|(text, _)| text.len() >= BEGINNING && seen.insert(text.clone()))
            .map(|(text, (pseudonym, mask))| Form { text, pseudonym, mask });
        Self { plain: secret.to_owned(), forms: forms.collect(), pseudonym }
    }
}

impl Store {
    fn new(source: Source) -> Self {
        Self {
            source,
            entries: VecDeque::new(),
            first: 0,
            bytes: 0,
            plain: HashSet::new(),
            pseudonyms: HashSet::new(),
            by_beginning: HashMap::new(),
            slots: vec![false; SLOTS].into_boxed_slice(),
        }
    }

    fn add(&mut self, entry: Entry) {
        // Another thread may have added it meanwhile.
        if !self.plain.insert(entry.plain.clone()) {
            return;
        }
        let number = self.first + self.entries.len();
        for (index, form) in entry.forms.iter().enumerate() {
            let beginning = beginning(form.text.as_bytes());
            self.slots[slot(beginning)] = true;
            self.by_beginning.entry(beginning).or_default().push((number, index));
        }
        self.bytes += entry.plain.len();
        self.pseudonyms.insert(entry.pseudonym.clone());
        self.entries.push_back(entry);
        let (most, bytes) = self.source.limits();
        while self.entries.len() > most || self.bytes > bytes {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some(entry) = self.entries.pop_front() else { return };
        let number = self.first;
        self.first += 1;
        self.bytes -= entry.plain.len();
        self.plain.remove(&entry.plain);
        self.pseudonyms.remove(&entry.pseudonym);
        for form in &entry.forms {
            let beginning = beginning(form.text.as_bytes());
            if let Some(numbers) = self.by_beginning.get_mut(&beginning) {
                numbers.retain(|(of, _)| *of != number);
                if numbers.is_empty() {
                    self.by_beginning.remove(&beginning);
                }
            }
        }
        self.slots.fill(false);
        for &beginning in self.by_beginning.keys() {
            self.slots[slot(beginning)] = true;
        }
    }

    fn found(&self, text: &str, mask: bool) -> Vec<Pair> {
        if self.entries.is_empty() {
            return Vec::new();
        }
        // Each beginning leads to its forms once, and each of them to one linear search: a text and a secret that repeat
        // themselves would be compared at every place otherwise.
        let mut begun = HashSet::new();
        let mut found = Vec::new();
        for window in text.as_bytes().windows(BEGINNING) {
            let beginning = beginning(window);
            if !self.slots[slot(beginning)] || !begun.insert(beginning) {
                continue;
            }
            let places = self.by_beginning.get(&beginning).into_iter().flatten();
            found.extend(places.filter(|&&place| text.contains(&self.form(place).text)));
        }
        found.into_iter().map(|&place| self.form(place).pair(mask)).collect()
    }

    fn form(&self, (entry, form): (usize, usize)) -> &Form {
        &self.entries[entry - self.first].forms[form]
    }
}

fn beginning(bytes: &[u8]) -> [u8; BEGINNING] {
    let mut beginning = [0; BEGINNING];
    beginning.copy_from_slice(&bytes[..BEGINNING]);
    beginning
}

/// Multiplied, because the texts of a program begin with few different letters.
fn slot(beginning: [u8; BEGINNING]) -> usize {
    (u32::from_le_bytes(beginning).wrapping_mul(0x9e37_79b1) >> 16) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_that_repeats_itself_takes_no_longer() {
        let learned = Learned::new(Some([7; 32]));
        let begun = std::time::Instant::now();
        assert!(learned.add(Source::Own, &format!("{}b", "a".repeat(500_000))));
        let text = format!("`{}` {}", "a".repeat(499_000), "a".repeat(500_000));
        assert!(learned.found(&text, false).is_empty());
        let forms = learned.own_forms(false);
        let forms = || forms.iter().map(|(text, with)| (text.as_str(), with.as_str())).collect();
        let shown = known::without_beginnings(text.as_str().into(), forms);
        assert!(shown.starts_with('`') && !shown.starts_with("`aaaa"));
        assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let learned = Learned::new(Some([7; 32]));
        let secret = |number: usize| format!("secret-number-{number:04}");
        for number in 0..300 {
            assert!(learned.add(Source::Peer, &secret(number)));
            assert!(!learned.add(Source::Own, &secret(number)), "it is known already");
        }
        for number in 0..300 {
            let found = learned.found(&format!("x{}x", secret(number)), false);
            assert_eq!(!found.is_empty(), number >= 44, "{number}");
        }
        assert!(learned.add(Source::Own, &secret(0)));
        assert!(!learned.found(&secret(299), true).is_empty(), "each source has its own room");
        let long = |c: &str| c.repeat(40 << 10);
        assert!(learned.add(Source::Peer, &long("a")) && learned.add(Source::Peer, &long("b")));
        assert!(learned.found(&secret(299), true).is_empty() && learned.found(&long("a"), true).is_empty());
        assert!(!learned.found(&long("b"), true).is_empty() && !learned.add(Source::Peer, &long("cc")));
    }
}

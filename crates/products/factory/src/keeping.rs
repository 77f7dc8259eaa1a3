//! Answers that are too long to go inline, for a while: the newest ones, within a bound.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use openapi::answer::{Kept, KeptBody};

use crate::caller::Caller;

/// How many are kept, and how many bytes all of them have.
const MOST: usize = 64;
const BYTES: usize = 32 << 20;

/// The longest first part of an address.
const LONGEST_PLACE: usize = 40;

/// Where the answers of one server are kept: a client of a gateway may read those of several.
#[derive(Clone, Debug)]
pub(crate) struct Place(pub(crate) String);

impl Place {
    /// Of the server's name, in the letters of a host.
    pub(crate) fn of(name: &str) -> Self {
        let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let place: String = name.chars().map(letter).collect();
        let parts: Vec<_> = place.split('-').filter(|part| !part.is_empty()).collect();
        let place: String = parts.join("-").chars().take(LONGEST_PLACE).collect();
        let place = place.trim_end_matches('-');
        Self(if place.is_empty() { "api".to_owned() } else { place.to_owned() })
    }

    /// The address of the text that is kept under an id.
    pub(crate) fn text(&self, id: &str) -> String {
        format!("answer://{}/text/{id}", self.0)
    }

    /// The same of bytes.
    pub(crate) fn file(&self, id: &str) -> String {
        format!("answer://{}/file/{id}", self.0)
    }
}

/// What is kept, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Keeper(Mutex<VecDeque<Entry>>);

#[derive(Debug)]
struct Entry {
    id: String,
    /// The caller whose answer it is.
    caller: Caller,
    kept: Kept,
}

fn size(kept: &Kept) -> usize {
    match &kept.body {
        KeptBody::Text(text) | KeptBody::Blob(text) => text.len(),
    }
}

/// The oldest answer of the caller that has most.
fn first_to_go(all: &VecDeque<Entry>) -> usize {
    let mut shares = BTreeMap::<&Caller, usize>::new();
    for one in all {
        *shares.entry(&one.caller).or_default() += size(&one.kept) + BYTES / MOST;
    }
    let largest = shares.into_iter().max_by_key(|(_, share)| *share).map(|(caller, _)| caller);
    all.iter().position(|one| Some(&one.caller) == largest).unwrap_or(0)
}

impl Keeper {
    /// An id that nobody can guess: callers between whom nothing distinguishes can read only what they know the id of.
    pub(crate) fn fresh_id() -> String {
        oauth::random()
    }

    /// Keeps something. Where it is too much, the oldest of the caller goes that has most: no caller drives out another's.
    pub(crate) fn keep(&self, caller: &Caller, id: String, kept: Kept) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_back(Entry { id, caller: caller.clone(), kept });
        while all.len() > MOST || (all.len() > 1 && all.iter().map(|one| size(&one.kept)).sum::<usize>() > BYTES) {
            let oldest = first_to_go(&all);
            all.remove(oldest);
        }
    }

    /// What is kept under an id for this caller. For others it is not there.
    pub(crate) fn find(&self, caller: &Caller, id: &str) -> Option<Kept> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|one| one.id == id && one.caller == *caller).map(|one| one.kept.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_the_letters_of_a_host() {
        for (name, place) in [
            ("pets", "pets"),
            ("Pet Store (v1.0)", "pet-store-v1-0"),
            ("--", "api"),
            ("Käse", "k-se"),
            ("A.B_c/../x", "a-b-c-x"),
        ] {
            assert_eq!(Place::of(name).0, place);
        }
        assert_eq!(Place::of(&"abc ".repeat(99)).0.len(), 39, "it ends with a letter");
    }

    #[test]
    fn the_newest_are_kept_within_the_bound() {
        let (keeper, a) = (Keeper::default(), Caller::only());
        let kept = |size: usize| Kept { media: "text/plain".to_owned(), body: KeptBody::Text("x".repeat(size).into()) };
        for number in 0..100 {
            keeper.keep(&a, number.to_string(), kept(1));
        }
        let has = |id: &str| keeper.find(&a, id).is_some();
        assert!(!has("35") && has("36"));
        keeper.keep(&a, "large".to_owned(), kept(BYTES));
        assert!(has("large") && !has("99"));
        keeper.keep(&a, "last".to_owned(), kept(1));
        assert!(!has("large") && has("last"));
    }

    #[test]
    fn a_caller_drives_out_its_own_answers_alone_and_reads_no_others() {
        let keeper = Keeper::default();
        let [a, b] = [1, 2].map(|session| Caller { session: Some(session), ..Caller::default() });
        let kept = |size: usize| Kept { media: "text/plain".to_owned(), body: KeptBody::Text("x".repeat(size).into()) };
        keeper.keep(&a, "mine".to_owned(), kept(1000));
        for number in 0..200 {
            keeper.keep(&b, number.to_string(), kept(1));
        }
        for number in 200..220 {
            keeper.keep(&b, number.to_string(), kept(BYTES / 8));
        }
        assert!(
            keeper.find(&a, "mine").is_some() && keeper.find(&b, "219").is_some() && keeper.find(&b, "0").is_none()
        );
        let strangers = [Caller::default(), Caller::only(), b, Caller { principal: Some("p".to_owned()), ..a.clone() }];
        assert!(strangers.iter().all(|stranger| keeper.find(stranger, "mine").is_none()));
    }
}

//! Answers that are too long to go inline, for a while: the newest ones, within a bound.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use openapi::answer::{Kept, KeptBody};

/// How many are kept, and how many bytes all of them have.
const MOST: usize = 64;
const BYTES: usize = 32 << 20;

/// The addresses of texts that are kept, as a template.
pub const TEXT_TEMPLATE: &str = "answer://text/{id}";
/// The same for bytes.
pub const FILE_TEMPLATE: &str = "answer://file/{id}";

/// The address of what is kept under an id.
pub(crate) fn uri(template: &str, id: &str) -> String {
    template.replace("{id}", id)
}

/// What is kept, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Keeper(Mutex<VecDeque<Entry>>);

#[derive(Debug)]
struct Entry {
    id: String,
    /// The caller whose answer it is.
    caller: String,
    kept: Kept,
}

fn size(kept: &Kept) -> usize {
    match &kept.body {
        KeptBody::Text(text) | KeptBody::Blob(text) => text.len(),
    }
}

/// The oldest answer of the caller that has most.
fn first_to_go(all: &VecDeque<Entry>) -> usize {
    let mut shares = BTreeMap::<&str, usize>::new();
    for one in all {
        *shares.entry(&one.caller).or_default() += size(&one.kept) + BYTES / MOST;
    }
    let largest = shares.into_iter().max_by_key(|(_, share)| *share).map(|(caller, _)| caller);
    all.iter().position(|one| Some(one.caller.as_str()) == largest).unwrap_or(0)
}

impl Keeper {
    /// An id that nobody can guess: who knows it may read what it stands for.
    pub(crate) fn fresh_id() -> String {
        oauth::random()
    }

    /// Keeps something. Where it is too much, the oldest of the caller goes that has most: no caller drives out another's.
    pub(crate) fn keep(&self, caller: &str, id: String, kept: Kept) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_back(Entry { id, caller: caller.to_owned(), kept });
        while all.len() > MOST || (all.len() > 1 && all.iter().map(|one| size(&one.kept)).sum::<usize>() > BYTES) {
            let oldest = first_to_go(&all);
            all.remove(oldest);
        }
    }

    /// What is kept under an id.
    pub(crate) fn find(&self, id: &str) -> Option<Kept> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|one| one.id == id).map(|one| one.kept.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept_within_the_bound() {
        let keeper = Keeper::default();
        let kept = |size: usize| Kept { media: "text/plain".to_owned(), body: KeptBody::Text("x".repeat(size)) };
        for number in 0..100 {
            keeper.keep("a", number.to_string(), kept(1));
        }
        assert!(keeper.find("35").is_none() && keeper.find("36").is_some());
        keeper.keep("a", "large".to_owned(), kept(BYTES));
        assert!(keeper.find("large").is_some() && keeper.find("99").is_none());
        keeper.keep("a", "last".to_owned(), kept(1));
        assert!(keeper.find("large").is_none() && keeper.find("last").is_some());
    }

    #[test]
    fn a_caller_drives_out_its_own_answers_alone() {
        let keeper = Keeper::default();
        let kept = |size: usize| Kept { media: "text/plain".to_owned(), body: KeptBody::Text("x".repeat(size)) };
        keeper.keep("a", "mine".to_owned(), kept(1000));
        for number in 0..200 {
            keeper.keep("b", number.to_string(), kept(1));
        }
        for number in 200..220 {
            keeper.keep("b", number.to_string(), kept(BYTES / 8));
        }
        assert!(keeper.find("mine").is_some() && keeper.find("219").is_some() && keeper.find("0").is_none());
    }
}

//! Answers that are too long to go inline, for a while: the newest ones, within a bound.

use std::collections::VecDeque;
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

/// What is kept.
#[derive(Debug, Default)]
pub(crate) struct Keeper(Mutex<VecDeque<(String, Kept)>>);

fn size(kept: &Kept) -> usize {
    match &kept.body {
        KeptBody::Text(text) | KeptBody::Blob(text) => text.len(),
    }
}

impl Keeper {
    /// An id that nobody can guess: who knows it may read what it stands for.
    pub(crate) fn fresh_id() -> String {
        oauth::random()
    }

    /// Keeps something; the oldest ones go.
    pub(crate) fn keep(&self, id: String, kept: Kept) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_back((id, kept));
        while all.len() > MOST || (all.len() > 1 && all.iter().map(|(_, kept)| size(kept)).sum::<usize>() > BYTES) {
            all.pop_front();
        }
    }

    /// What is kept under an id.
    pub(crate) fn find(&self, id: &str) -> Option<Kept> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|(known, _)| known == id).map(|(_, kept)| kept.clone())
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
            keeper.keep(number.to_string(), kept(1));
        }
        assert!(keeper.find("35").is_none() && keeper.find("36").is_some());
        keeper.keep("large".to_owned(), kept(BYTES));
        assert!(keeper.find("large").is_some() && keeper.find("99").is_none());
        keeper.keep("last".to_owned(), kept(1));
        assert!(keeper.find("large").is_none() && keeper.find("last").is_some());
    }
}

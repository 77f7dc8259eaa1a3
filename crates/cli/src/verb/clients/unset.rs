//! Variables that an entry needs and that are not set here, with file, line and column.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use clients::needed::{Needed, needed};
use clients::plan::Held;
use clients::text::Places;
use clients::{Client, Position};
use serde_json::{Value, json};

/// A variable without a value and without a default.
pub(super) struct Unset {
    name: String,
    /// The place in the entry.
    member: String,
    path: PathBuf,
    at: Option<Position>,
}

impl Unset {
    pub(super) fn words(&self) -> String {
        let at = self.at.map(|at| format!(":{}:{}", at.line, at.column)).unwrap_or_default();
        format!("{} in {} is not set, and has no default ({}{at})", self.name, self.member, self.path.display())
    }

    pub(super) fn document(&self) -> Value {
        json!({
            "variable": self.name, "member": self.member, "file": self.path,
            "line": self.at.map(|at| at.line), "column": self.at.map(|at| at.column),
        })
    }
}

/// Looks for them in one file, which is read a second time only where there are some.
pub(super) struct Finder<'f> {
    client: &'f Client,
    path: &'f Path,
    text: &'f str,
    places: OnceCell<Option<Places<'f>>>,
}

impl<'f> Finder<'f> {
    pub(super) const fn new(client: &'f Client, path: &'f Path, text: &'f str) -> Self {
        Self { client, path, text, places: OnceCell::new() }
    }

    pub(super) fn find(&self, held: &Held) -> Vec<Unset> {
        let needed = needed(self.client, &held.value);
        let unset = needed.into_iter().filter(|one| std::env::var_os(&one.name).is_none());
        unset.map(|one| self.unset(held, one)).collect()
    }

    fn unset(&self, held: &Held, needed: Needed) -> Unset {
        let places = self.places.get_or_init(|| Places::of(self.text, self.client.format));
        let way = [held.way.as_slice(), &needed.way].concat();
        let at = places.as_ref().and_then(|places| places.find(&way, &needed.written));
        Unset { member: needed.place(), name: needed.name, path: self.path.to_owned(), at }
    }
}

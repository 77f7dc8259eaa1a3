//! The texts of files as a change will leave them: shown, or written all with one entry in the journal.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clients::FileError;
use clients::text::{Format, read};
use serde_json::Value;
use similar::TextDiff;

use super::files::{self, Access, Quiet};
use super::journal::{Journal, Upcoming};
use crate::exit::{Exit, usage};
use crate::verb::output;

/// The files that a change is about.
#[derive(Default)]
pub(super) struct Drafts(BTreeMap<PathBuf, Draft>);

struct Draft {
    before: Option<String>,
    now: Option<String>,
    /// What `now` holds, once it was read.
    value: Option<Rc<Value>>,
    access: Access,
    added: Vec<String>,
}

impl Drafts {
    /// The text of a file as it is so far; one that does not exist is empty.
    pub(super) fn text(&mut self, path: &Path) -> io::Result<String> {
        if !self.0.contains_key(path) {
            let before = files::read(path)?;
            let draft = Draft { now: before.clone(), before, value: None, access: Access::Usual, added: Vec::new() };
            self.0.insert(path.to_owned(), draft);
        }
        Ok(self.0[path].now.clone().unwrap_or_default())
    }

    /// What a file holds so far.
    pub(super) fn value(&mut self, path: &Path, format: Format) -> Result<Rc<Value>, FileError> {
        let Some(draft) = self.0.get_mut(path) else { return Ok(Rc::default()) };
        if let Some(value) = &draft.value {
            return Ok(Rc::clone(value));
        }
        let value = Rc::new(read(draft.now.as_deref().unwrap_or_default(), format)?);
        draft.value = Some(Rc::clone(&value));
        Ok(value)
    }

    /// Puts another text in the place of a file. `added` names a server that is new in it.
    pub(super) fn put(&mut self, path: &Path, text: Option<String>, added: Option<&str>, access: Access) {
        if let Some(draft) = self.0.get_mut(path) {
            draft.now = text;
            draft.value = None;
            if !matches!(access, Access::Usual) {
                draft.access = access;
            }
            draft.added.extend(added.map(str::to_owned));
        }
    }

    /// Notes what a file holds so far, so that it need not be read again.
    pub(super) fn holds(&mut self, path: &Path, value: Value) {
        if let Some(draft) = self.0.get_mut(path) {
            draft.value = Some(Rc::new(value));
        }
    }

    fn changed(&self) -> impl Iterator<Item = (&PathBuf, &Draft)> {
        self.0.iter().filter(|(_, draft)| draft.before != draft.now)
    }

    /// The files that change.
    pub(super) fn changed_paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.changed().map(|(path, _)| path)
    }

    /// Whether nothing changes.
    pub(super) fn is_empty(&self) -> bool {
        self.changed().next().is_none()
    }

    /// All texts before the change, for the secrets in them.
    pub(super) fn texts_before(&self) -> impl Iterator<Item = (&PathBuf, &str)> {
        self.0.iter().filter_map(|(path, draft)| Some((path, draft.before.as_deref()?)))
    }

    /// All texts after the change.
    pub(super) fn texts_now(&self) -> impl Iterator<Item = (&PathBuf, &str)> {
        self.0.iter().filter_map(|(path, draft)| Some((path, draft.now.as_deref()?)))
    }

    /// The difference of one file.
    pub(super) fn diff(&self, path: &Path) -> String {
        let Some(draft) = self.0.get(path).filter(|draft| draft.before != draft.now) else { return String::new() };
        let name = output::shown(path);
        let (old, new) = (draft.before.as_deref().unwrap_or_default(), draft.now.as_deref().unwrap_or_default());
        let from = if draft.before.is_some() { &name } else { "/dev/null" };
        let to = if draft.now.is_some() { &name } else { "/dev/null" };
        TextDiff::from_lines(old, new).unified_diff().context_radius(3).header(from, to).to_string()
    }

    /// The difference of all files.
    pub(super) fn diffs(&self) -> String {
        self.changed().map(|(path, _)| self.diff(path)).collect()
    }

    /// Writes all files that change.
    pub(super) fn write(&self, journal: &Journal, by: &str) -> Result<(), Exit> {
        if self.is_empty() {
            return Ok(());
        }
        let upcoming = self.changed().map(|(path, draft)| Upcoming {
            path,
            before: draft.before.as_deref(),
            after: draft.now.as_deref(),
            added: draft.added.clone(),
        });
        journal.keep(by, &upcoming.collect::<Vec<_>>())?;
        self.restore()
    }

    /// Writes them without an entry in the journal.
    pub(super) fn restore(&self) -> Result<(), Exit> {
        for (path, draft) in self.changed() {
            let (before, now) = (draft.before.as_deref(), draft.now.as_deref());
            files::replace(path, before, now, draft.access, &mut Quiet).map_err(|error| {
                usage(
                    &format!("cannot write {}: {error}", output::shown(path)),
                    "run the command again; `proof undo` takes back what was written",
                )
            })?;
        }
        Ok(())
    }
}

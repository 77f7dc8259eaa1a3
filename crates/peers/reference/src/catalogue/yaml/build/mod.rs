//! From the types of a file to a catalogue: everything that its schema cannot say is looked at here, and every error is
//! told, not only the first.

mod content;
mod failure;
mod prompt;
mod resource;
mod tool;
mod uri;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use wire::Revision;
use wire::revision::R2024_11_05;

use super::folder::Folder;
use super::model;
use super::plan::{Refusal, Step};
use crate::catalogue::Catalogue;
use document::Node;
use document::{FileError, nearest, quoted};
use document::{Filled, Pattern, Wrong};

/// How long one wait may take.
const LONGEST_WAIT: Duration = Duration::from_mins(10);

/// What a file is built with.
pub(super) struct Builder<'f> {
    tree: &'f Node,
    folder: &'f Folder,
    errors: Vec<FileError>,
    /// Where something is missing that may only be misspelt, which was told.
    lost: HashSet<String>,
    /// The resources that content may name: what is in each, and how it is described.
    touch_counts: HashMap<String, Shelved>,
    /// Whether a resource is missing on the touch_counts because it is broken.
    gaps: bool,
}

/// A resource of this file as content: shared, since many entries may name a long one.
#[derive(Clone)]
struct Shelved {
    embedded: Arc<Value>,
    link: Arc<Value>,
}

/// What the texts of an entry may be filled with, and what they turned out to need.
struct Scope {
    /// How a path begins.
    name: &'static str,
    /// The names that may follow; `None` where any may.
    known: Option<HashSet<String>>,
    /// The first revision that has every content of the entry.
    since: Revision,
}

impl Scope {
    fn new(name: &'static str, known: Option<HashSet<String>>) -> Self {
        Self { name, known, since: R2024_11_05 }
    }

    fn not_before(&mut self, revision: Revision) {
        if revision.at_least(self.since) {
            self.since = revision;
        }
    }
}

/// Builds the catalogue, and lists what is wrong with the file.
pub(super) fn build(
    file: model::File,
    tree: &Node,
    lost: HashSet<String>,
    folder: &Folder,
) -> (Catalogue, Vec<FileError>) {
    let mut builder = Builder { tree, folder, errors: Vec::new(), lost, touch_counts: HashMap::new(), gaps: false };
    let mut catalogue = Catalogue::new(file.name.unwrap_or_default(), file.version.unwrap_or_default());
    catalogue.title = file.title.map(Into::into);
    catalogue.instructions = file.instructions.map(Into::into);
    catalogue.says_unchanging = file.list_changed == Some(false);
    builder.unique("resources", file.resources.iter().map(|one| one.as_ref().map(|one| one.uri.as_str())), "uri");
    builder.unique(
        "templates",
        file.templates.iter().map(|one| one.as_ref().map(|one| one.uri.as_str())),
        "uriTemplate",
    );
    builder.unique("tools", file.tools.iter().map(|one| one.as_ref().map(|one| one.name.as_str())), "name");
    builder.unique("prompts", file.prompts.iter().map(|one| one.as_ref().map(|one| one.name.as_str())), "name");
    for (at, resource) in file.resources.into_iter().enumerate() {
        let built = resource.and_then(|resource| builder.resource(resource, &format!("/resources/{at}")));
        builder.gaps |= built.is_none();
        catalogue.resources.extend(built);
    }
    for (at, template) in file.templates.into_iter().enumerate() {
        let built = template.and_then(|template| builder.template(template, &format!("/templates/{at}")));
        catalogue.templates.extend(built);
    }
    for (at, tool) in file.tools.into_iter().enumerate() {
        catalogue.tools.extend(tool.map(|tool| builder.tool(tool, &format!("/tools/{at}"))));
    }
    for (at, prompt) in file.prompts.into_iter().enumerate() {
        catalogue.prompts.extend(prompt.and_then(|prompt| builder.prompt(prompt, &format!("/prompts/{at}"))));
    }
    (catalogue, builder.errors)
}

impl Builder<'_> {
    fn error(&mut self, pointer: &str, what: impl Into<String>, remedy: impl Into<String>) {
        if !self.lost.contains(pointer) {
            self.errors.push(FileError::new(self.tree.place(pointer), what, remedy));
        }
    }

    fn unique<'n>(&mut self, list: &str, names: impl Iterator<Item = Option<&'n str>>, key: &str) {
        let mut seen = HashMap::new();
        for (at, name) in names.enumerate() {
            let Some(name) = name else { continue };
            let pointer = format!("/{list}/{at}/{key}");
            let line = self.tree.place(&pointer).line;
            if let Some(first) = seen.insert(name, line) {
                let what = format!("two of the {list} have the {key} {}", quoted(name));
                self.error(&pointer, what, format!("another {key}; the first is in line {first}"));
                seen.insert(name, first);
            }
        }
    }

    fn wrong(&mut self, pointer: &str, Wrong { what, remedy }: Wrong) {
        self.error(pointer, what, remedy);
    }

    /// A text with holes that `scope` can fill.
    fn pattern(&mut self, text: &str, pointer: &str, scope: &Scope) -> Option<Pattern> {
        match Pattern::parse(text, scope.name) {
            Ok(pattern) => {
                self.known(&[&pattern], pointer, scope);
                Some(pattern)
            }
            Err(wrong) => {
                self.wrong(pointer, wrong);
                None
            }
        }
    }

    /// A value whose texts have holes that `scope` can fill.
    fn filled(&mut self, value: &Value, pointer: &str, scope: &Scope) -> Filled {
        let mut wrongs = Vec::new();
        let filled = Filled::parse(value, scope.name, &mut |below, wrong| wrongs.push((below.to_owned(), wrong)));
        for (below, wrong) in wrongs {
            self.wrong(&format!("{pointer}{below}"), wrong);
        }
        self.known(&filled.patterns(), pointer, scope);
        filled
    }

    fn known(&mut self, patterns: &[&Pattern], pointer: &str, scope: &Scope) {
        for name in patterns.iter().flat_map(|pattern| pattern.names()) {
            self.declared(name, pointer, scope);
        }
    }

    /// Whether an entry has what `name` stands for; told where it has not.
    fn declared(&mut self, name: &str, pointer: &str, scope: &Scope) -> bool {
        let Some(known) = scope.known.as_ref().filter(|known| !known.contains(name)) else { return true };
        let mut known: Vec<&str> = known.iter().map(String::as_str).collect();
        known.sort_unstable();
        let remedy =
            if known.is_empty() { "declare it: there is none".to_owned() } else { nearest(name, known.into_iter()) };
        let what = format!("there is no {} called {}", scope.name.trim_end_matches('s'), quoted(name));
        self.error(pointer, what, remedy);
        false
    }

    fn time(&mut self, text: &str, pointer: &str) -> Duration {
        let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
        let seconds = number.parse::<f64>().unwrap_or_default() / if unit == "ms" { 1000.0 } else { 1.0 };
        match Duration::try_from_secs_f64(seconds) {
            Ok(time) if time <= LONGEST_WAIT => time,
            _ => {
                self.error(pointer, format!("{} is too long a wait", quoted(text)), "ten minutes (600s) at most");
                Duration::ZERO
            }
        }
    }

    fn delay(&mut self, delay: Option<&str>, pointer: &str) -> Duration {
        delay.map(|delay| self.time(delay, &format!("{pointer}/delay"))).unwrap_or_default()
    }

    /// What happens before an answer. Progress counts itself.
    fn steps(&mut self, delay: Option<&str>, before: &[model::Step], pointer: &str, scope: &Scope) -> Vec<Step> {
        let total = before.iter().filter(|step| matches!(step, model::Step::Progress(_))).count() as u64;
        let mut done = 0;
        let mut steps: Vec<Step> = Vec::new();
        steps.extend(delay.map(|delay| Step::Wait(self.time(delay, &format!("{pointer}/delay")))));
        for (at, step) in before.iter().enumerate() {
            let pointer = format!("{pointer}/before/{at}");
            match step {
                model::Step::Wait(time) => steps.push(Step::Wait(self.time(time, &format!("{pointer}/wait")))),
                model::Step::Progress(message) => {
                    done += 1;
                    let message = self.pattern(message, &format!("{pointer}/progress"), scope);
                    steps.extend(message.map(|message| Step::Progress(done, total, message)));
                }
                model::Step::Log(log) => {
                    steps.push(Step::Log(log.level, self.filled(&log.data, &format!("{pointer}/log/data"), scope)));
                }
            }
        }
        steps
    }

    fn refusal(&mut self, error: &model::Error, pointer: &str, scope: &Scope) -> Option<Refusal> {
        let data = error.data.as_ref().map(|data| self.filled(data, &format!("{pointer}/data"), scope));
        let message = self.pattern(&error.message, &format!("{pointer}/message"), scope)?;
        Some(Refusal { code: error.code as i64, message, data })
    }

    /// Base64, told where it is none.
    fn base64(&mut self, data: &str, pointer: &str) {
        if let Err(error) = STANDARD.decode(data) {
            self.error(pointer, format!("this is no Base64: {error}"), "`base64 -w0 FILE`, or `file: FILE` instead");
        }
    }

    /// A file of the catalogue's folder.
    fn file(&mut self, name: &str, pointer: &str) -> Option<Vec<u8>> {
        let read = self.folder.read(name);
        read.map_err(|(what, remedy)| self.error(pointer, format!("{what} ({})", quoted(name)), remedy)).ok()
    }

    /// Says so unless exactly one of these keys is there.
    fn one_of(&mut self, pointer: &str, keys: &[(&str, bool)]) -> bool {
        let there: Vec<String> = keys.iter().filter(|(_, there)| *there).map(|(key, _)| format!("`{key}`")).collect();
        let all = keys.iter().map(|(key, _)| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        match there.len() {
            1 => return true,
            0 => self.error(pointer, format!("this entry has none of {all}"), "one of them"),
            _ => self.error(pointer, format!("{} exclude one another", there.join(" and ")), "one of them"),
        }
        false
    }
}

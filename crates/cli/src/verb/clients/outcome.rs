//! What a change did or would do, for people and as JSON.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use clients::plan::Outcome;
use clients::text::Step;
use clients::{Client, Scope};
use report::render::text::wrap;
use serde_json::{Value, json};

use super::drafts::Drafts;
use crate::exit::{Exit, tell};
use crate::verb::output;

/// One entry of one client.
pub(super) struct Done {
    pub(super) client: &'static Client,
    pub(super) scope: Scope,
    pub(super) path: PathBuf,
    pub(super) pointer: String,
    pub(super) server: String,
    pub(super) did: &'static str,
    pub(super) needs: Vec<String>,
    pub(super) clear: Vec<String>,
}

/// A client that was left out, or a file that was left alone.
pub(super) struct Refused {
    pub(super) place: String,
    pub(super) what: String,
    pub(super) remedy: String,
    /// Another server has the name there, so the client differs from what is wanted.
    pub(super) is_drift: bool,
}

/// What all of a change did.
#[derive(Default)]
pub(super) struct Report {
    pub(super) done: Vec<Done>,
    pub(super) refused: Vec<Refused>,
}

pub(super) const fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Added => "added",
        Outcome::Changed => "changed",
        Outcome::Unchanged => "unchanged",
    }
}

/// A path in a file as a JSON pointer.
pub(super) fn pointer(way: &[Step]) -> String {
    let steps = way.iter().map(|step| match step {
        Step::Key(key) => key.replace('~', "~0").replace('/', "~1"),
        Step::Item(member, name) => format!("[{member}={name}]"),
    });
    steps.fold(String::new(), |path, step| format!("{path}/{step}"))
}

impl Report {
    /// Prints it. A dry run shows differences.
    pub(super) fn print(&self, drafts: &Drafts, is_dry: bool, as_json: bool) -> Result<(), Exit> {
        if as_json {
            return output::print(&format!("{}\n", wire::escape::json(&self.json(drafts, is_dry))));
        }
        let mut text = if is_dry { drafts.diffs() } else { String::new() };
        let mut reloaded = BTreeSet::new();
        for one in &self.done {
            let preposition = if one.did == "removed" { "from" } else { "in" };
            let verb =
                if is_dry && one.did != "unchanged" { format!("would be {}", one.did) } else { one.did.to_owned() };
            let _ = writeln!(
                text,
                "{} {verb} {preposition} {} ({}): {}",
                wire::escape::line(&one.server),
                one.client.id,
                one.scope,
                output::shown(&one.path)
            );
            for note in one.notes() {
                wrap(&mut text, 2, &note);
            }
            // Once for each client, however many of its servers change.
            let is_written = !is_dry && matches!(one.did, "added" | "changed");
            if let Some(reload) = one.client.reload.as_ref().filter(|_| is_written && reloaded.insert(&one.client.id)) {
                wrap(&mut text, 2, reload);
            }
        }
        for sharing in self.sharing() {
            wrap(&mut text, 0, &sharing);
        }
        output::print(&text)?;
        for one in &self.refused {
            tell(format_args!("error: {}: {}\n  try: {}", one.place, one.what, one.remedy));
        }
        Ok(())
    }

    /// Files that other clients read, too.
    fn sharing(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for one in self.done.iter().filter(|one| one.scope == Scope::Project && one.did != "unchanged") {
            let file = |client: &Client| client.project.iter().any(|file| one.path.ends_with(file));
            let others: Vec<_> = clients::clients()
                .iter()
                .filter(|client| {
                    client.id != one.client.id
                        && file(client)
                        && one.client.project.iter().any(|file| client.project.contains(file))
                })
                .map(|client| client.id.as_str())
                .collect();
            if !others.is_empty() {
                notes.push(format!("note: {} is read by {}, too.", output::shown(&one.path), others.join(", ")));
            }
        }
        notes.dedup();
        notes
    }

    fn json(&self, drafts: &Drafts, is_dry: bool) -> String {
        let done = self.done.iter().map(|one| {
            json!({
                "client": one.client.id, "scope": one.scope.to_string(), "file": one.path, "pointer": one.pointer,
                "server": one.server, "outcome": one.did, "needs": one.needs, "in_clear": one.clear,
                "diff": drafts.diff(&one.path), "then": one.client.reload,
            })
        });
        let refused = self.refused.iter().map(|one| json!({ "place": one.place, "what": one.what, "try": one.remedy }));
        let value = json!({
            "schema": "proof.clients-change/1", "dry_run": is_dry, "changes": done.collect::<Value>(),
            "refused": refused.collect::<Value>(), "notes": self.sharing(),
        });
        serde_json::to_string_pretty(&value).unwrap_or_default()
    }

    /// The exit code: that of what was refused.
    pub(super) fn exit(&self) -> Exit {
        match (self.done.is_empty(), self.refused.is_empty()) {
            (_, true) => Exit::Clean,
            (true, false) => Exit::Usage,
            (false, false) => Exit::Finding,
        }
    }
}

impl Done {
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.needs.is_empty() {
            notes.push(format!("Set {} where {} runs.", self.needs.join(", "), self.client.name));
        }
        if !self.clear.is_empty() {
            notes.push(format!("In clear in this file: {}.", self.clear.join(", ")));
        }
        notes
    }
}

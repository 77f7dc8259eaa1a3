//! What changed since a server was locked, as a person judges it: the class of each change, and the old and the new text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lock::{Change, Class, Entry, Kind, Severity, leaves};
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};
use wire::escape;

use report::render::escape::code;
use report::render::text::{Paint, WIDTH, count, wrap};

/// One comparison.
pub(crate) struct View<'v> {
    /// The name of the server in the lock.
    pub(crate) name: &'v str,
    pub(crate) locked: &'v Entry,
    pub(crate) found: &'v Entry,
    /// The worst first.
    pub(crate) changes: &'v [Change],
}

/// How far texts are indented.
const INDENT: usize = 4;

/// As text: each part that changed with its changes, then its old and new texts.
pub(crate) fn human(view: &View<'_>, paint: Paint) -> String {
    let mut out = String::new();
    let mut parts: Vec<&str> = Vec::new();
    for change in view.changes {
        if !parts.contains(&change.of.as_str()) {
            parts.push(&change.of);
        }
    }
    for part in parts {
        let _ = writeln!(out, "{}", paint.bold(&escape::line(part)));
        for change in view.changes.iter().filter(|change| change.of == part) {
            let severity = change.severity();
            let word = format!("{} {}", severity.as_str(), change.class);
            let painted = match severity {
                Severity::High => paint.red(&word),
                Severity::Medium => paint.yellow(&word),
                _ => paint.dim(&word),
            };
            let _ = writeln!(out, "  {painted}");
            wrap(&mut out, INDENT, &escape::line(&change.what));
        }
        texts(&mut out, view, part, paint);
        out.push('\n');
    }
    let _ = writeln!(out, "{}: {}", escape::line(view.name), sum(view));
    out
}

/// The texts of a part: what is gone, and what came.
fn texts(out: &mut String, view: &View<'_>, part: &str, paint: Paint) {
    let all = |value: Option<&Value>| value.map(leaves).unwrap_or_default().into_iter().collect::<BTreeMap<_, _>>();
    let (old, new) = (all(view.locked.definition(part)), all(view.found.definition(part)));
    // Of what is gone, nobody needs to judge the text.
    if new.is_empty() {
        return;
    }
    let paths = old.keys().chain(new.keys().filter(|path| !old.contains_key(*path)));
    for path in paths.filter(|path| old.get(*path) != new.get(*path)) {
        let (old, new) = (old.get(path), new.get(path));
        let title = if path.is_empty() { "text" } else { path };
        let _ = writeln!(out, "{:INDENT$}{}", "", paint.dim(&escape::line(title)));
        differing(out, &pieces(old), &pieces(new), paint);
    }
}

/// A text in pieces of a line or a sentence, so that one that changed stands out of a long text.
fn pieces(text: Option<&String>) -> Vec<String> {
    let lines = text.map(String::as_str).into_iter().flat_map(str::lines);
    let sentences = lines.flat_map(|line| line.split_inclusive(". ")).map(|piece| piece.trim_end().to_owned());
    let mut pieces: Vec<String> = sentences.collect();
    if text.is_some() && pieces.is_empty() {
        pieces.push("\"\"".to_owned());
    }
    pieces
}

fn differing(out: &mut String, old: &[String], new: &[String], paint: Paint) {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
    let mut same = 0;
    for change in TextDiff::from_slices(&old, &new).iter_all_changes() {
        let sign = match change.tag() {
            ChangeTag::Equal => {
                same += 1;
                continue;
            }
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        unchanged(out, &mut same);
        let mut lines = String::new();
        wrap_all(&mut lines, &escape::line(change.value()));
        for line in lines.lines() {
            let line = format!("{sign} {line}");
            let painted = if sign == '-' { paint.red(&line) } else { paint.green(&line) };
            let _ = writeln!(out, "{:INDENT$}{painted}", "");
        }
    }
    unchanged(out, &mut same);
}

fn unchanged(out: &mut String, same: &mut usize) {
    if *same > 0 {
        let _ = writeln!(out, "{:INDENT$}  … {} unchanged", "", count(*same, "sentence"));
        *same = 0;
    }
}

/// Wraps at spaces, and cuts words that are wider than a line: nothing may hide beyond the edge of a terminal.
fn wrap_all(out: &mut String, text: &str) {
    let room = WIDTH - INDENT - 2;
    let mut line = String::new();
    for word in text.split(' ') {
        let mut rest: Vec<char> = word.chars().collect();
        if !line.is_empty() && line.chars().count() + 1 + rest.len() > room {
            let _ = writeln!(out, "{line}");
            line.clear();
        } else if !line.is_empty() {
            line.push(' ');
        }
        while rest.len() > room {
            let _ = writeln!(out, "{}", rest.drain(..room).collect::<String>());
        }
        line.extend(rest);
    }
    let _ = writeln!(out, "{line}");
}

/// As Markdown, for a pull request comment.
pub(crate) fn markdown(view: &View<'_>) -> String {
    let mut out = format!("### MCP lock of {}: {}\n", code(&escape::line(view.name)), sum(view));
    if !view.changes.is_empty() {
        out.push_str("\n| severity | class | of | what changed |\n|---|---|---|---|\n");
    }
    let cell = |text: &str| code(&escape::line(text)).replace('|', "\\|");
    for Change { of, what, class, .. } in view.changes {
        let _ = writeln!(out, "| {} | {class} | {} | {} |", class.severity().as_str(), cell(of), cell(what));
    }
    out
}

/// One JSON document: `proof.lock-drift/1`.
pub(crate) fn json(view: &View<'_>) -> String {
    let changes: Vec<Value> = view.changes.iter().map(|change| one(view, change)).collect();
    let drift = view.changes.iter().any(|change| change.severity() > Severity::Info);
    let document = json!({
        "schema": "proof.lock-drift/1",
        "proof": env!("CARGO_PKG_VERSION"),
        "server": view.name,
        "status": if drift { "drift" } else { "in-sync" },
        "changes": changes,
        "notCompared": Kind::ALL.iter().filter(|kind| !view.found.listed.contains(kind)).map(|kind| kind.list()).collect::<Vec<_>>(),
    });
    format!("{}\n", escape::json(&serde_json::to_string_pretty(&document).unwrap_or_default()))
}

fn one(view: &View<'_>, change: &Change) -> Value {
    let Change { of, what, breaks, class } = change;
    let mut out = json!({
        "of": of, "what": what, "class": class.as_str(), "severity": class.severity().as_str(), "breaks": breaks,
    });
    for (name, entry) in [("locked", view.locked), ("found", view.found)] {
        if let Some(digest) = entry.digest(of) {
            out[name] = digest.to_string().into();
        }
    }
    out
}

/// What a lock holds of a server, in numbers.
pub(crate) fn counts(entry: &Entry) -> String {
    let number = |kind: Kind| entry.items.keys().filter(|(other, _)| *other == kind).count();
    let counted = Kind::ALL.map(|kind| (number(kind), kind.word()));
    let words: Vec<String> =
        counted.iter().filter(|(number, _)| *number > 0).map(|(number, word)| count(*number, word)).collect();
    if words.is_empty() { "nothing listed".to_owned() } else { words.join(", ") }
}

fn sum(view: &View<'_>) -> String {
    let drift: Vec<&Change> = view.changes.iter().filter(|change| change.severity() > Severity::Info).collect();
    let numbers = [Severity::High, Severity::Medium, Severity::Low]
        .map(|severity| (drift.iter().filter(|change| change.severity() == severity).count(), severity.as_str()));
    let words: Vec<String> =
        numbers.iter().filter(|(number, _)| *number > 0).map(|(number, word)| format!("{number} {word}")).collect();
    let immutable = drift.iter().any(|change| change.class == Class::ImmutableVersion);
    match (drift.is_empty(), immutable) {
        (true, _) => format!("in sync ({})", counts(view.found)),
        (_, false) => format!("{} ({})", count(drift.len(), "change"), words.join(", ")),
        (_, true) => format!("{} ({}); immutable version broken", count(drift.len(), "change"), words.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use lock::{Entry, Identity, Surface};
    use report::render::text::Paint;
    use serde_json::{Value, json};

    use super::{View, human};

    fn entry(text: &str) -> Entry {
        let tools: Value = json!([{ "name": "buy", "description": text }]);
        Entry::new(Identity::default(), None, &Surface::from_snapshot(&json!({ "tools": tools }))).expect("an entry")
    }

    /// A long text in which one sentence changed, a hidden character, and a word wider than the page.
    #[test]
    fn nothing_hides_in_a_long_text() {
        let before = "First sentence of some length. ".repeat(40);
        let after = format!("{before}Then read \u{202e}the key. {}", "x".repeat(300));
        let (locked, found) = (entry(&before), entry(&after));
        let changes = locked.drift(&found);
        let text =
            human(&View { name: "shop", locked: &locked, found: &found, changes: &changes }, Paint { colour: false });
        assert!(text.contains("+ Then read \\u{202e}the key.") && text.contains("… 40 sentences unchanged"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(text.matches('x').count(), 300, "{text}");
        assert!(!text.contains("- First"), "{text}");
    }
}

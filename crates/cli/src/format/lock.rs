//! What changed since a server was locked, as a person judges it: the class of each change, and the old and the new text.

use std::collections::{BTreeMap, HashMap};
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
    let mut by_part: HashMap<&str, Vec<&Change>> = HashMap::new();
    let mut steps = STEPS;
    for change in view.changes {
        let of_part = by_part.entry(&change.of).or_default();
        if of_part.is_empty() {
            parts.push(&change.of);
        }
        of_part.push(change);
    }
    for part in parts {
        let _ = writeln!(out, "{}", paint.bold(&escape::line(part)));
        for change in &by_part[part] {
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
        texts(&mut out, view, part, &mut steps, paint);
        out.push('\n');
    }
    let _ = writeln!(out, "{}: {}", escape::line(view.name), sum(view));
    out
}

/// The texts of a part: what is gone, and what came.
fn texts(out: &mut String, view: &View<'_>, part: &str, steps: &mut usize, paint: Paint) {
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
        differing(out, &pieces(old), &pieces(new), steps, paint);
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

/// The steps that all comparisons of a report may take together, so that hostile texts end in time.
const STEPS: usize = 20_000_000;

fn differing(out: &mut String, old: &[String], new: &[String], steps: &mut usize, paint: Paint) {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
    let mut same = 0;
    for (tag, piece) in aligned(&old, &new, steps) {
        let sign = match tag {
            ChangeTag::Equal => {
                same += 1;
                continue;
            }
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        unchanged(out, &mut same);
        let mut lines = String::new();
        wrap_all(&mut lines, &escape::line(piece));
        for line in lines.lines() {
            let line = format!("{sign} {line}");
            let painted = if sign == '-' { paint.red(&line) } else { paint.green(&line) };
            let _ = writeln!(out, "{:INDENT$}{painted}", "");
        }
    }
    unchanged(out, &mut same);
}

/// Each piece of both texts. Where the comparison would take too many steps, all that stands between the common beginning and
/// the common end counts as changed.
fn aligned<'t>(old: &[&'t str], new: &[&'t str], steps: &mut usize) -> Vec<(ChangeTag, &'t str)> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_rest, last) = old_rest.split_at(old_rest.len() - end);
    let new_rest = &new_rest[..new_rest.len() - end];
    let all = |tag, pieces: &[&'t str]| pieces.iter().map(|piece| (tag, *piece)).collect::<Vec<_>>();
    let cost = old_rest.len().saturating_mul(new_rest.len());
    let between = if let Some(left) = steps.checked_sub(cost) {
        *steps = left;
        let diff = TextDiff::from_slices(old_rest, new_rest);
        diff.iter_all_changes().map(|change| (change.tag(), change.value())).collect()
    } else {
        [all(ChangeTag::Delete, old_rest), all(ChangeTag::Insert, new_rest)].concat()
    };
    [all(ChangeTag::Equal, &old[..start]), between, all(ChangeTag::Equal, last)].concat()
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
        let word: Vec<char> = word.chars().collect();
        if !line.is_empty() && line.chars().count() + 1 + word.len() > room {
            let _ = writeln!(out, "{line}");
            line.clear();
        } else if !line.is_empty() {
            line.push(' ');
        }
        let mut cut = word.chunks(room).peekable();
        while let Some(chunk) = cut.next() {
            line.extend(chunk);
            if cut.peek().is_some() {
                let _ = writeln!(out, "{line}");
                line.clear();
            }
        }
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

    /// 1 MiB of short sentences, all of them others: shown whole, in linear time.
    #[test]
    fn a_text_without_a_common_sentence_is_shown_in_time() {
        let text = |lead: char| (0..150_000).map(|index| format!("{lead}{index}. ")).collect::<Vec<_>>().concat();
        let (locked, found) = (entry(&format!("Same. {}End", text('a'))), entry(&format!("Same. {}End", text('b'))));
        let changes = locked.drift(&found);
        let start = std::time::Instant::now();
        let text =
            human(&View { name: "shop", locked: &locked, found: &found, changes: &changes }, Paint { colour: false });
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
        assert!(text.contains("- a149999.") && text.contains("+ b149999.") && text.contains("1 sentence unchanged"));
    }
}

//! Markdown for a comment on a pull request: the conclusion first, findings with their evidence, long lists folded away, and
//! never more than a comment may hold.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use wire::Level;

use super::detail::{event, secret_note, sent};
use super::escape::{code, fenced, plain};
use super::groups::{Broken, Defect, Group, broken, grouped, places};
use super::phrases::{WHOLE, name, score};
use super::text::{count, marked};
use crate::{Disposition, Finding, Made, Outcome, ReportView, Tally};

/// The most bytes. GitHub takes 65,536 characters, and the workflow that posts the comment may add a little.
const ROOM: usize = 60_000;

/// What is kept free for saying that something was left out, and for closing what is open.
const RESERVE: usize = 400;

/// How many defects of one rule are shown.
const SHOWN: usize = 4;

/// How wide quotations are folded.
const WIDTH: usize = 100;

/// Markdown under construction.
struct Page {
    text: String,
    left_out: usize,
}

/// The report as Markdown.
pub fn render(view: &ReportView<'_>) -> String {
    let mut page = Page { text: head(view), left_out: 0 };
    let of = |wanted: fn(&Disposition<'_>) -> bool| {
        let shown = move |finding: &&Finding| wanted(&view.disposition(finding)) && !view.is_explained(finding);
        broken(view, view.report.results.iter().filter(shown))
    };
    let fails = of(|disposition| *disposition == Disposition::Failing);
    let warns = of(|disposition| *disposition == Disposition::Warning);
    let known: Vec<_> = view.report.results.iter().filter(|finding| view.is_known(finding)).collect();
    page.list("Broken", fails.iter().map(|rule| block(view, rule)));
    page.folded("Warnings", warns.iter().map(|rule| block(view, rule)));
    page.folded(&count(known.len(), "known finding"), known.iter().map(|finding| known_line(view, finding)));
    let stale = view.stale().iter().map(|entry| {
        let place = format!("{} {}", entry.transport, entry.revision);
        format!("- {} ({}) is {}\n", code(&entry.rule), code(&place), view.stale_advice(entry))
    });
    page.list("Stale baseline entries", stale);
    let once = grouped(view.report.unconfirmed.iter());
    page.folded("Seen once, not confirmed by a second play, not counted", once.iter().map(silent_line));
    let silent = grouped(view.report.results.iter().filter(|finding| finding.outcome == Outcome::NotExercised));
    page.folded("Rules not exercised", silent.iter().map(silent_line));
    page.close()
}

/// The conclusion and the score with its coverage, what was judged, and a row for each run.
fn head(view: &ReportView<'_>) -> String {
    let report = view.report;
    let mut out = format!("**{}.** {}\n\n", view.conclusion().summary, score(report));
    let subject = &report.subject;
    let name = cut(&name(subject), 200);
    let version = cut(subject.version.as_deref().unwrap_or_default(), 100);
    let _ = write!(out, "{}", code(format!("{name} {version}").trim()));
    if !subject.target.is_empty() {
        let _ = write!(out, " – {}", code(&cut(&subject.target, 500)));
    }
    if let Some(Made { at, command }) = &report.made {
        let _ = write!(out, "\n\nMade {} by proof {}: {}", plain(at), report.proof, code(&cut(command, 500)));
    }
    out.push_str(
        "\n\n| | MUST pass | fail | not exercised | SHOULD pass | warn | not exercised | safety pass | fail | time |\n",
    );
    out.push_str("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for run in &report.runs {
        let tally = |level: Level| {
            let mut tally = Tally::default();
            view.of_run(run).filter(|f| f.level == level).for_each(|f| tally.count(f.outcome));
            tally
        };
        let (must, should, safety) = (tally(Level::Must), tally(Level::Should), tally(Level::Safety));
        let cells = [must.pass, must.fail, must.not_exercised, should.pass, should.warn, should.not_exercised];
        let cells = cells.iter().chain(&[safety.pass, safety.fail]).map(ToString::to_string).collect::<Vec<_>>();
        let time = run.elapsed_ms as f64 / 1000.0;
        let _ = writeln!(out, "| {} {} | {} | {time:.1} s |", run.transport, run.revision, cells.join(" | "));
    }
    out.push('\n');
    if let Some(served) = view.also_served() {
        let _ = writeln!(out, "Also supports, not checked: {served}\n");
    }
    if let Some(tools) = view.tools_unknown() {
        let _ = writeln!(out, "Warning: named {}\n", code(&cut(&tools, 500)));
    }
    if let Some(tools) = view.tools_not_called() {
        let _ = writeln!(out, "Not called: {}\n", code(&cut(&tools, 500)));
    }
    if let Some(tools) = view.tools_called_by_name() {
        let _ = writeln!(out, "Called: {}\n", code(&cut(&tools, 500)));
    }
    for (run, why) in view.cut_short() {
        let _ = writeln!(out, "**Cut short** at {} {}: {}\n", run.transport, run.revision, code(&cut(why, 500)));
    }
    out
}

/// A broken rule with its different defects.
fn block(view: &ReportView<'_>, rule: &Broken<'_>) -> String {
    let first = rule.first;
    let word = if view.disposition(first) == Disposition::Failing { "FAIL" } else { "WARN" };
    let mut out = format!("- **{word}** [`{}`]({}) {}", first.rule, first.url, first.level.as_str());
    let _ = writeln!(out, " – {}", places(&rule.all));
    if let Some(sentence) = view.sentence(first) {
        let _ = writeln!(out, "\n  {}", words(sentence));
    }
    for (at, defect) in rule.defects.iter().take(SHOWN).enumerate() {
        let repro = first.repro.as_deref().filter(|_| at == 0);
        let _ = write!(out, "\n{}", fenced(&evidence(defect, repro), 2));
    }
    if let Some(more @ 1..) = rule.defects.len().checked_sub(SHOWN) {
        let _ = writeln!(out, "\n  {more} other defects: `--format json` lists all.");
    }
    let consequences: BTreeSet<&str> =
        rule.all.iter().flat_map(|finding| view.consequences(finding)).map(|finding| finding.rule).collect();
    for id in consequences {
        let _ = writeln!(out, "\n  Also breaks `{id}`.");
    }
    if let Some(rule) = view.rule(first).filter(|rule| !rule.fix.is_empty()) {
        let _ = writeln!(out, "\n  Fix: {}", words(rule.fix));
    }
    out
}

/// What the peer had a hand in: all of it in one block, where nothing is markup.
fn evidence(defect: &Defect<'_>, repro: Option<&str>) -> String {
    let mut out = format!("{}\n", plain(&cut(&defect.text(), 1000)));
    if let Some(evidence) = defect.evidence {
        if let Some(sent) = sent(evidence) {
            let _ = writeln!(out, "{}", cut(&sent, 500));
        }
        for (line, marks) in marked(&plain(&evidence.excerpt), evidence.caret.clone(), WIDTH) {
            let _ = writeln!(out, "> {line}");
            if !marks.is_empty() {
                let _ = writeln!(out, "  {marks}");
            }
        }
        let _ = writeln!(out, "{}", cut(&event(evidence), 500));
    }
    if let Some(more) = defect.more() {
        let _ = writeln!(out, "{more}");
    }
    if let Some(repro) = repro {
        let _ = writeln!(out, "reproduce: {}", plain(&cut(repro, 1000)));
    }
    if let Some(note) = defect.of.first().filter(|_| repro.is_some()).and_then(|finding| secret_note(finding)) {
        let _ = writeln!(out, "{note}");
    }
    out
}

fn known_line(view: &ReportView<'_>, finding: &Finding) -> String {
    let reason = match view.disposition(finding) {
        Disposition::Known(Some(reason)) => code(&cut(reason, 500)),
        _ => "no reason given".to_owned(),
    };
    let whole = if view.is_known_whole(finding) { format!(" ({WHOLE})") } else { String::new() };
    let Finding { rule, url, transport, revision, .. } = finding;
    format!("- [`{rule}`]({url}) – {transport} {revision}: {reason}{whole}\n")
}

fn silent_line(group: &Group<'_>) -> String {
    let first = group.first;
    let why = code(&cut(&first.message, 300));
    format!("- `{}` {} – {}: {why}\n", first.rule, first.level.as_str(), places(&group.all))
}

/// Our own words: no peer had a hand in them, but outside their code spans `<` and `*` are no markup.
fn words(text: &str) -> String {
    let escaped = |part: &str| part.replace('&', "&amp;").replace('<', "&lt;").replace('*', "\\*").replace('_', "\\_");
    let parts = text.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 0 { escaped(part) } else { part.to_owned() }).collect::<Vec<_>>().join("`")
}

/// The beginning of a text.
fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

impl Page {
    fn list(&mut self, title: &str, items: impl ExactSizeIterator<Item = String>) {
        if items.len() > 0 {
            self.section(&format!("### {title}\n\n"), "\n", items);
        }
    }

    fn folded(&mut self, title: &str, items: impl ExactSizeIterator<Item = String>) {
        if items.len() > 0 {
            let title = format!("<details><summary>{title}</summary>\n\n");
            self.section(&title, "\n</details>\n\n", items);
        }
    }

    /// As many of the items as there is room for.
    fn section(&mut self, title: &str, end: &str, items: impl ExactSizeIterator<Item = String>) {
        let number = items.len();
        if self.text.len() + title.len() + end.len() + RESERVE > ROOM {
            self.left_out += number;
            return;
        }
        self.text.push_str(title);
        for item in items {
            if self.text.len() + item.len() + end.len() + RESERVE > ROOM {
                self.left_out += 1;
            } else {
                self.text.push_str(&item);
            }
        }
        self.text.push_str(end);
    }

    fn close(mut self) -> String {
        self.text.truncate(self.text.trim_end().len());
        self.text.push('\n');
        if self.left_out > 0 {
            let these =
                if self.left_out == 1 { "1 entry is".to_owned() } else { format!("{} entries are", self.left_out) };
            let _ = writeln!(
                self.text,
                "\n{these} left out: a comment holds no more. `proof check --format human` shows everything."
            );
        }
        self.text
    }
}

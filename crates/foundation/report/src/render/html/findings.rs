//! The findings: a card for each broken rule with the evidence, what the rule says, how to fix it and how to reproduce it.

use std::fmt::Write as _;

use super::grid::{Grid, Group, Row, class};
use super::text::{Places, Prose, Quoted, Text, Words};
use crate::render::detail::{SESSION_NOTE, curl, curl_session, secret_note};
use crate::render::groups::{Defect, defects};
use crate::render::phrases::WHOLE;
use crate::render::text::count;
use crate::{Disposition, Evidence, Finding, Outcome};

/// How many ways in which a rule is broken a card shows without a click.
const OPEN: usize = 3;

/// A broken rule.
struct Card<'s, 'r> {
    row: &'s Row<'r>,
    outcome: Outcome,
    groups: Vec<Group<'r>>,
}

impl Card<'_, '_> {
    fn is_known(&self) -> bool {
        self.groups.iter().all(|group| group.first.is_known())
    }
}

/// How many findings the top of the page names.
const GLANCE: usize = 8;

/// A line for each finding, at the top of the page: the sign, the rule and what is wrong.
pub(super) fn glance(out: &mut String, grid: &Grid<'_>) {
    let cards = cards(grid);
    let new = || cards.iter().filter(|card| !card.is_known());
    if new().next().is_none() {
        return;
    }
    out.push_str("<ol class=\"glance\" aria-label=\"Findings in one line each\">\n");
    for card in new().take(GLANCE) {
        let (id, mark) = (Quoted(card.row.id), class(card.outcome));
        let message = card.groups.first().map_or("", |group| grid.view.headline(group.first.finding));
        let _ = writeln!(
            out,
            "<li><a href=\"#{mark}.{id}\"><span class=\"sign {mark}\"></span><b>{id}</b> <span>{}</span></a></li>",
            Prose(message)
        );
    }
    out.push_str("</ol>\n");
    if let Some(more @ 1..) = new().count().checked_sub(GLANCE) {
        let _ = writeln!(out, "<p class=\"note\"><a href=\"#findings\">{}</a></p>", count(more, "more finding"));
    }
}

/// All cards: new before known, broken MUST before SHOULD.
fn cards<'s, 'r>(grid: &'s Grid<'r>) -> Vec<Card<'s, 'r>> {
    let card = |row, outcome| Card { row, outcome, groups: Row::groups(row, outcome) };
    let both = [Outcome::Fail, Outcome::Warn].into_iter();
    let mut cards: Vec<_> = both.flat_map(|outcome| grid.rows.iter().map(move |row| card(row, outcome))).collect();
    for card in &mut cards {
        let row = card.row;
        let stands = |at: &usize| row.cells[*at].is_some_and(|cell| !grid.view.is_explained(cell.finding));
        card.groups.retain(|group| group.runs.iter().any(stands));
    }
    cards.retain(|card| !card.groups.is_empty());
    cards.sort_by_key(Card::is_known);
    cards
}

/// The cards, one below the other.
pub(super) fn section(out: &mut String, grid: &Grid<'_>) {
    let cards = cards(grid);
    let _ = writeln!(
        out,
        "<section aria-labelledby=\"findings\">\n<h2 id=\"findings\" tabindex=\"-1\">Findings <span class=\"count\">{}</span></h2>",
        cards.len()
    );
    if cards.is_empty() && grid.view.report.summary.judged() == 0 {
        out.push_str("<p class=\"nothing\">No rule was judged, so none could be found broken.</p>\n");
    } else if cards.is_empty() {
        let judged = count(grid.view.report.summary.judged(), "judgement");
        let _ = writeln!(out, "<p class=\"nothing\">No rule was found broken in {judged}.</p>");
    }
    for card in &cards {
        article(out, grid, card);
    }
    out.push_str("<p class=\"nothing filtered\" hidden>No finding matches the filters.</p>\n</section>\n");
}

fn article(out: &mut String, grid: &Grid<'_>, card: &Card<'_, '_>) {
    let (id, mark) = (Quoted(card.row.id), class(card.outcome));
    let mut levels: Vec<_> = card.groups.iter().map(|group| group.first.finding.level).collect();
    levels.sort_unstable();
    levels.dedup();
    let levels = levels.into_iter().map(wire::Level::as_str).collect::<Vec<_>>().join(" ");
    let word = card.outcome.as_str();
    let fails = card.groups.iter().any(|group| group.first.disposition == Disposition::Failing);
    let fails =
        if card.outcome == Outcome::Warn && fails { "<span class=\"level\">fails this check</span>" } else { "" };
    let known = if card.is_known() { (" all-known", "<span class=\"known\">known</span>") } else { ("", "") };
    let _ = write!(
        out,
        "<article class=\"card {mark}{}\" id=\"{mark}.{id}\" tabindex=\"-1\" aria-labelledby=\"{mark}.{id}-t\" data-rule=\"{id}\" data-o=\"{word}\" data-l=\"{levels}\">\n\
         <header><span class=\"tag {mark}\"><span class=\"sign {mark}\"></span>{word}</span>\
         <h3 id=\"{mark}.{id}-t\"><a href=\"#r.{id}\">{id}</a></h3><span class=\"level\">{levels}</span>{fails}{}</header>\n",
        known.0, known.1
    );
    says(out, grid, card);
    let (open, more) = card.groups.split_at(card.groups.len().min(OPEN));
    for group in open {
        case(out, grid, group, card.is_known());
    }
    if !more.is_empty() {
        let _ = writeln!(out, "<details class=\"more\"><summary>{}</summary>", count(more.len(), "more way"));
        for group in more {
            case(out, grid, group, card.is_known());
        }
        out.push_str("</details>\n");
    }
    fix(out, grid, card);
    out.push_str("</article>\n");
}

/// The rule's sentence as the newest revision that it was broken at has it.
fn says(out: &mut String, grid: &Grid<'_>, card: &Card<'_, '_>) {
    let runs = card.groups.iter().flat_map(|group| &group.runs);
    let newest = runs.filter_map(|&at| grid.view.report.runs.get(at)).map(|run| run.revision).max();
    let sentence = newest.and_then(|revision| card.row.rule?.sentence_at(revision));
    if let Some(sentence) = sentence {
        let _ = writeln!(out, "<p class=\"says\">{}</p>", Prose(sentence.text));
    }
}

/// The ways in which the rule is broken in some runs.
fn case(out: &mut String, grid: &Grid<'_>, group: &Group<'_>, all_known: bool) {
    let finding = group.first.finding;
    let state = if group.first.is_known() { "known" } else { "new" };
    let mark = if group.first.is_known() && !all_known { " <span class=\"known\">known</span>" } else { "" };
    let _ = writeln!(
        out,
        "<div class=\"case\" data-c=\"{}\" data-k=\"{state}\">\n<p class=\"where\">{}{mark}</p>",
        group.columns(),
        Places(&grid.view.report.runs, &group.runs)
    );
    let defects = defects(grid.view, finding);
    let (shown, more) = defects.split_at(defects.len().min(OPEN));
    for one in shown {
        defect(out, one);
    }
    if !more.is_empty() {
        let _ =
            writeln!(out, "<details class=\"more-defects\"><summary>{}</summary>", count(more.len(), "more defect"));
        for one in more {
            defect(out, one);
        }
        out.push_str("</details>\n");
    }
    for consequence in grid.view.consequences(finding) {
        let id = Quoted(consequence.rule);
        let _ = writeln!(
            out,
            "<p class=\"note\">Also breaks <a href=\"#r.{id}\">{id}</a> ({}): {}</p>",
            consequence.level.as_str(),
            Prose(&consequence.message)
        );
    }
    let curl = curl(finding).map(|command| ("curl", command));
    let repro = finding.repro.as_deref().map(|command| ("Reproduce", command));
    for (label, command) in repro.into_iter().chain(curl) {
        let _ = writeln!(
            out,
            "<div class=\"again\"><span>{label}</span>{}\
             <button type=\"button\" class=\"copy scripted\" aria-label=\"Copy the command\">Copy</button></div>",
            Words(command)
        );
    }
    session(out, finding);
    if let Some(note) = secret_note(finding) {
        let _ = writeln!(out, "<p class=\"note\">{note}</p>");
    }
    if grid.view.is_known_whole(finding) {
        let _ = writeln!(out, "<p class=\"note\">Its entry in the baseline {WHOLE}.</p>");
    }
    out.push_str("</div>\n");
}

/// The commands that open the session which the `curl` command names, without a click only that there are some.
fn session(out: &mut String, finding: &Finding) {
    let commands = curl_session(finding);
    if commands.is_empty() {
        return;
    }
    let _ = writeln!(out, "<details class=\"more\"><summary>Open the session for curl first</summary>");
    for command in commands {
        let _ = writeln!(out, "<div class=\"again\">{}</div>", Words(command));
    }
    let _ = writeln!(out, "<p class=\"note\">{SESSION_NOTE}</p>\n</details>");
}

/// One way in which the rule is broken: what is wrong, what was sent, what came back.
fn defect(out: &mut String, defect: &Defect<'_>) {
    let _ = writeln!(out, "<p class=\"why\">{}</p>", Prose(&defect.text()));
    if let Some(evidence) = defect.evidence {
        out.push_str("<div class=\"crossed\">\n");
        if let Some(sent) = &evidence.sent {
            let label = if sent.answered { "Sent" } else { "Sent last" };
            let _ = writeln!(
                out,
                "<figure class=\"sent\"><figcaption>{label}</figcaption><pre class=\"quote\">{}</pre></figure>",
                Text(&sent.text)
            );
        }
        let label = if evidence.sent.as_ref().is_some_and(|sent| sent.answered) { "Returned: " } else { "" };
        quote(out, label, evidence);
        out.push_str("</div>\n");
    }
    if let Some(more) = defect.more() {
        let _ = writeln!(out, "<p class=\"note\">{more}.</p>");
    }
}

/// The excerpt with its offending part marked, and below it, after the label, which event it is.
pub(super) fn quote(out: &mut String, label: &str, evidence: &Evidence) {
    let text = &evidence.excerpt;
    let at = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let marked = evidence.caret.clone().map(|caret| at(caret.start)..at(caret.end)).filter(|range| !range.is_empty());
    out.push_str("<figure><pre class=\"quote\">");
    match marked {
        Some(range) => {
            let (before, after) = (&text[..range.start], &text[range.end..]);
            let _ = write!(out, "{}<mark>{}</mark>{}", Text(before), Text(&text[range]), Text(after));
        }
        None => {
            let _ = write!(out, "{}", Text(text));
        }
    }
    let file = evidence.trace.as_deref().unwrap_or(&evidence.case);
    let _ = write!(out, "</pre><figcaption>{label}event {} of {}", evidence.event, Text(file));
    if !evidence.pointer.is_empty() {
        let _ = write!(out, ", at <code>{}</code>", Text(&evidence.pointer));
    }
    out.push_str("</figcaption></figure>\n");
}

/// How to fix it, and where the specification demands it.
fn fix(out: &mut String, grid: &Grid<'_>, card: &Card<'_, '_>) {
    out.push_str("<dl class=\"way-out\">");
    if let Some(rule) = card.row.rule.filter(|rule| !rule.fix.is_empty()) {
        let _ = write!(out, "<div><dt>How to fix it</dt><dd>{}</dd></div>", Prose(rule.fix));
    }
    let seen = card.row.seen().filter(|cell| cell.finding.outcome == card.outcome);
    let mut links: Vec<_> = seen.map(|cell| (cell.finding.revision, cell.finding.url.as_str())).collect();
    links.sort_unstable();
    links.dedup();
    links.retain(|(_, url)| url.starts_with("https://"));
    if !links.is_empty() {
        let links = links.iter().map(|(revision, url)| format!("<a href=\"{}\">{revision}</a>", Quoted(url)));
        let _ = write!(
            out,
            "<div><dt>Specification</dt><dd class=\"links\">{}</dd></div>",
            links.collect::<Vec<_>>().join(" ")
        );
    }
    let runs: usize = card.groups.iter().map(|group| group.runs.len()).sum();
    let _ = writeln!(
        out,
        "<div><dt>Seen in</dt><dd>{runs} of {}</dd></div></dl>",
        count(grid.view.report.runs.len(), "run")
    );
}

//! Which tool was called for which: a table with a row for each expected tool, and the pairs that differ by name.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use eval::summary::Run;
use report::render::html::text::Text;
use wire::escape::snippet;

/// How many tools the table has, and how many pairs are named.
const TOOLS: usize = 12;
const PAIRS: usize = 40;
const NAME: usize = 48;

/// Expected, actual, and how often. An empty name is no call.
type Counts<'r> = BTreeMap<(&'r str, &'r str), usize>;

/// The section; nothing where every call is of the expected tool.
pub(super) fn section(out: &mut String, scores: &Run) {
    let mut counts = Counts::new();
    for (expected, actual) in scores.answers.iter().flat_map(|answer| &answer.scored.pairs) {
        *counts.entry((expected, actual)).or_default() += 1;
    }
    let mut confused: Vec<(&str, &str, usize)> = counts
        .iter()
        .filter(|((expected, actual), _)| expected != actual)
        .map(|((expected, actual), number)| (*expected, *actual, *number))
        .collect();
    if confused.is_empty() {
        return;
    }
    confused.sort_by_key(|(.., number)| std::cmp::Reverse(*number));
    let rows = names(confused.iter().map(|(expected, ..)| *expected));
    // What was expected comes first: the diagonal is what went right.
    let expected = rows.iter().copied().filter(|name| counts.contains_key(&(*name, *name)));
    let columns = names(expected.chain(confused.iter().map(|(_, actual, _)| *actual)));
    out.push_str("<section>\n<h2>Expected tools, and what was called</h2>\n");
    table(out, &counts, &rows, &columns);
    out.push_str("<ul class=\"pairs\">\n");
    for (expected, actual, number) in confused.iter().take(PAIRS) {
        let (expected, actual) = (shown(expected), shown(actual));
        let _ = writeln!(out, "<li>{number} × <code>{}</code> → <code>{}</code></li>", Text(&expected), Text(&actual));
    }
    out.push_str("</ul>\n");
    if confused.len() > PAIRS {
        let _ = writeln!(out, "<p>and {} more pairs</p>", confused.len() - PAIRS);
    }
    out.push_str("</section>\n");
}

/// The first of all names, each once.
fn names<'n>(all: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut found: Vec<&str> = Vec::new();
    for name in all {
        if found.len() < TOOLS && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

fn shown(name: &str) -> String {
    if name.is_empty() { "nothing".to_owned() } else { snippet(name, NAME) }
}

fn table(out: &mut String, counts: &Counts<'_>, rows: &[&str], columns: &[&str]) {
    out.push_str("<div class=\"box\"><table class=\"matrix\">\n<thead><tr><th>expected</th>");
    for column in columns {
        let _ = write!(out, "<th scope=\"col\"><span>{}</span></th>", Text(&shown(column)));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", Text(&shown(row)));
        for column in columns {
            let class = if row == column { "p" } else { "f" };
            let _ = match counts.get(&(*row, *column)) {
                Some(number) => write!(out, "<td class=\"{class}\">{number}</td>"),
                None => write!(out, "<td>·</td>"),
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
}

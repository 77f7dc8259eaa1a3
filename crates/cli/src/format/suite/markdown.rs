//! Markdown for a comment on a pull request: the sums first, then what is not as expected, never more than a comment holds.

use std::fmt::Write as _;

use suite::test::{FileResult, Tally, Verdict};

use super::coverage;
use super::difference::{self, Line};
use super::{place, sums};
use report::render::escape::{code, fenced, plain};

/// The most bytes. GitHub takes 65,536 characters, and the workflow that posts the comment may add a little.
const ROOM: usize = 60_000;

pub(crate) fn render(played: &[FileResult]) -> String {
    let tally = Tally::of(played);
    let verdict = if tally.failed > 0 { "Not as expected" } else { "As expected" };
    let mut out = format!("**{verdict}.** {}\n\n", sums(tally).join(", "));
    out.push_str("| file | where | passed | failed | xfail | skipped |\n|---|---|--:|--:|--:|--:|\n");
    for file in played {
        for at in &file.runs {
            let Tally { passed, failed, expected_failures, skipped } = at.tally();
            let (name, at) = (code(&file.path.to_string_lossy()), place(at));
            let _ = writeln!(out, "| {name} | {at} | {passed} | {failed} | {expected_failures} | {skipped} |");
        }
    }
    out.push('\n');
    let mut left_out = 0;
    for entry in played.iter().flat_map(failures) {
        if out.len() + entry.len() > ROOM {
            left_out += 1;
        } else {
            out.push_str(&entry);
        }
    }
    let covered = coverage::lines(played);
    if !covered.is_empty() && out.len() + covered.len() + 100 < ROOM {
        let _ = write!(out, "<details><summary>Coverage</summary>\n\n{}\n</details>\n", fenced(&covered, 0));
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    if left_out > 0 {
        let _ = writeln!(out, "\n{left_out} more left out: a comment holds no more. `proof test` shows everything.");
    }
    out
}

/// An entry for each case that failed, and for each place where nothing was tried.
fn failures(file: &FileResult) -> Vec<String> {
    let mut entries = Vec::new();
    for at in &file.runs {
        if let Some(why) = &at.not_run {
            let text = plain(&why.to_string()).into_owned();
            entries.push(format!("- **Not tried** – {}\n\n{}\n", place(at), fenced(&text, 2)));
        }
        for case in &at.cases {
            let Verdict::Failed(failures) = &case.verdict else { continue };
            let mut text = String::new();
            for failure in failures {
                let path = failure.path.as_ref().map(|path| format!("  at {path}")).unwrap_or_default();
                let file = file.path.display();
                let _ = writeln!(text, "{file}:{}:{}{path}", failure.at.line, failure.at.column);
                for line in difference::of(failure) {
                    let _ = match line {
                        Line::Same(line) => writeln!(text, "    {line}"),
                        Line::Expected(line) => writeln!(text, "  - {line}"),
                        Line::Found(line) => writeln!(text, "  + {line}"),
                        Line::Labelled(word, line) => writeln!(text, "  {word:<9} {line}"),
                        Line::More => writeln!(text, "    …"),
                    };
                }
            }
            entries.push(format!("- **FAIL** {} – {}\n\n{}\n", code(&case.name), place(at), fenced(&text, 2)));
        }
    }
    entries
}

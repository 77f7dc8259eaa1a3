//! The classes of vulnerabilities, and the rules for each phase.

use std::fmt::Write as _;

use guard::scan::{Class, Coverage, Phase, coverage};
use report::render::text::wrap;

/// For people.
pub(crate) fn human() -> String {
    let mut out = String::new();
    for class in Class::ALL {
        let _ = writeln!(out, "{}", class.as_str());
        for phase in Phase::ALL {
            wrap(&mut out, 4, &format!("{}: {}", phase.as_str(), cell(class, phase, "")));
        }
        out.push('\n');
    }
    out
}

/// A table in Markdown.
pub(crate) fn markdown() -> String {
    let names: Vec<_> = Phase::ALL.iter().map(|phase| phase.as_str()).collect();
    let mut out = format!("| class | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for class in Class::ALL {
        let cells: Vec<_> = Phase::ALL.iter().map(|phase| cell(class, *phase, "`")).collect();
        let _ = writeln!(out, "| {} | {} |", class.as_str(), cells.join(" | "));
    }
    out
}

fn cell(class: Class, phase: Phase, quote: &str) -> String {
    match coverage(class, phase) {
        Coverage::Rules(rules) => {
            let ids: Vec<_> = rules
                .iter()
                .map(|rule| {
                    format!("{quote}{}{quote}{}", rule.id, if rule.is_active() { " (--intrusive)" } else { "" })
                })
                .collect();
            ids.join(", ")
        }
        Coverage::OutOfScope(why) => format!("out of scope: {why}"),
    }
}

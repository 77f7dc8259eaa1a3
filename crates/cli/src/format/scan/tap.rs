//! TAP 14: a test point for each finding and for each rule without any. `not ok` without a directive fails the scan.

use std::fmt::Write as _;

use report::render::escape::{plain, tap as escaped, yaml};

use super::ScanView;
use super::cases::{Outcome, cases};

/// The report as a TAP document.
pub(crate) fn tap(view: &ScanView) -> String {
    let cases = cases(view);
    let mut out = format!("TAP version 14\n1..{}\n# {}\n", cases.len(), plain(&view.scope()));
    for note in &view.notes {
        let _ = writeln!(out, "# {}", plain(note));
    }
    for (at, case) in cases.iter().enumerate() {
        let word = if matches!(case.outcome, Outcome::Passed | Outcome::Warning) { "ok" } else { "not ok" };
        let _ = write!(out, "{word} {} - {}", at + 1, escaped(&format!("{} {}", case.class, case.name)));
        if let Outcome::Suppressed(why) = &case.outcome {
            let _ = write!(out, " # TODO {}", escaped(why));
        }
        out.push('\n');
        if case.message.is_empty() {
            continue;
        }
        let _ = write!(out, "  ---\n  message: {}\n", yaml(&case.message));
        for (name, text) in case.severity.iter().map(|word| ("severity", *word)).chain(case.details()) {
            let _ = writeln!(out, "  {name}: {}", yaml(text));
        }
        out.push_str("  ...\n");
    }
    let _ = writeln!(out, "# {}.", plain(&view.summary()));
    out
}

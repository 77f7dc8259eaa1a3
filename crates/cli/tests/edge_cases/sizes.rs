//! Servers that take their time to start, and that have more to offer than others.

use std::fmt::Write as _;
use std::time::Duration;

use crate::catalogue::{Catalogue, PROOF};
use crate::harness::check;
use crate::offers::TOOLS;
use crate::verdicts::Checked;

const START: Duration = Duration::from_secs(5);

/// Its children start beside one another once it shows that this costs it nothing; and what it is asked meanwhile is waited
/// for.
#[test]
fn five_seconds_until_it_has_started() {
    let script = r#"echo >> "$2"; sleep 5; exec "$0" serve --stdio --catalog "$1""#;
    let catalogue = Catalogue::of(TOOLS);
    let starts = catalogue.beside("starts");
    let target = ["--", "sh", "-c", script, PROOF, &catalogue.path(), starts.to_str().expect("UTF-8")];
    let mut run = check(&["--revision", "2025-11-25,2026-07-28"]);
    run.patience = Duration::from_mins(2);
    let checked = Checked::of(run, &target);
    checked.is_clean().says(&["tools-only 1.0"]).keeps(&[("2025-11-25", 34), ("2026-07-28", 53)]);
    let starts = u32::try_from(std::fs::read_to_string(starts).expect("a file").lines().count()).expect("few");
    assert!((10..40).contains(&starts), "{starts} starts");
    let one_by_one = START * starts;
    assert!(checked.ran.took < one_by_one / 2, "{starts} starts took {:?}\n{}", checked.ran.took, checked.ran.output());
}

#[test]
fn five_thousand_tools() {
    let mut text = "name: many\nversion: '1.0'\ntools:\n".to_owned();
    for number in 0..5000 {
        let _ = writeln!(
            text,
            "  - {{ name: tool-{number}, description: Tool number {number}, answers: [{{ text: done }}] }}"
        );
    }
    let serving = Catalogue::of(&text).over_http(&[], &[]);
    let checked = Checked::of(check(&["--revision", "all"]), &[&serving.url]);
    checked.is_clean().says(&["many 1.0"]);
    let least = [("2025-03-26", 36), ("2025-06-18", 40), ("2025-11-25", 44), ("2026-07-28", 63)];
    // Only a list that was read to its end shows that its names are unique.
    checked.keeps(&least).passes("tools.names-unique").passes("pagination.invalid-cursor-refused");
    checked.ran.within(30);
}

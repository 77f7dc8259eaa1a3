//! TAP 14: a test point for each case at each place.

use std::fmt::Write as _;

use suite::test::{FileResult, Verdict};

use super::line;
use report::render::escape::{tap, yaml};

pub(crate) fn render(played: &[FileResult]) -> String {
    let (mut points, mut count) = (String::new(), 0);
    for file in played {
        let name = file.path.to_string_lossy();
        for place in &file.runs {
            let at = super::place(place);
            let mut point = |ok: bool, what: &str, rest: &str| {
                count += 1;
                let word = if ok { "ok" } else { "not ok" };
                let _ = writeln!(points, "{word} {count} - {}{rest}", tap(&format!("{name} {at}: {what}")));
            };
            for case in &place.cases {
                match &case.verdict {
                    Verdict::Passed => point(true, &case.name, ""),
                    Verdict::Skipped(why) => point(true, &case.name, &format!(" # SKIP {}", tap(why))),
                    Verdict::ExpectedFailure(why) => point(false, &case.name, &format!(" # TODO {}", tap(why))),
                    Verdict::Failed(failures) => {
                        let mut rest = "\n  ---".to_owned();
                        for (number, failure) in failures.iter().enumerate() {
                            let where_ = format!("{name}:{}:{}", failure.at.line, failure.at.column);
                            let _ = write!(rest, "\n  failure{}: {}", number + 1, yaml(&line(failure)));
                            let _ = write!(rest, "\n  at{}: {}", number + 1, yaml(&where_));
                        }
                        rest.push_str("\n  ...");
                        point(false, &case.name, &rest);
                    }
                }
            }
            if let Some(why) = &place.not_run {
                point(false, "the cases are tried", &format!("\n  ---\n  message: {}\n  ...", yaml(&why.to_string())));
            }
        }
    }
    format!("TAP version 14\n1..{count}\n{points}")
}

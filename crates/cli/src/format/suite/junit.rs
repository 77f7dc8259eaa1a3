//! JUnit's XML: a suite for each file and place, a case for each case.

use std::fmt::Write as _;

use workbench::test::{Place, Played, Verdict};

use super::super::escape::{xml, xml_lines};
use super::line;

pub(crate) fn render(played: &[Played]) -> String {
    let mut suites = String::new();
    for file in played {
        for place in &file.places {
            suite(&mut suites, &file.path.to_string_lossy(), place);
        }
    }
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"proof test\">\n{suites}</testsuites>\n")
}

fn suite(out: &mut String, file: &str, place: &Place) {
    let failed = place.cases.iter().filter(|case| matches!(case.verdict, Verdict::Failed(_))).count();
    let skipped = place
        .cases
        .iter()
        .filter(|case| matches!(case.verdict, Verdict::Skipped(_) | Verdict::ExpectedFailure(_)))
        .count();
    let errors = usize::from(place.hindered.is_some());
    let name = format!("{file} {}", super::place(place));
    let tests = place.cases.len() + errors;
    let time: f64 = place.cases.iter().map(|case| case.elapsed.as_secs_f64()).sum();
    let _ = writeln!(
        out,
        "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failed}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{time:.3}\">",
        xml(&name)
    );
    for case in &place.cases {
        let _ = write!(
            out,
            "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
            xml(&name),
            xml(&case.name),
            case.elapsed.as_secs_f64()
        );
        let _ = match &case.verdict {
            Verdict::Passed => writeln!(out, "/>"),
            Verdict::Skipped(why) => writeln!(out, "><skipped message=\"{}\"/></testcase>", xml(why)),
            Verdict::ExpectedFailure(why) => {
                writeln!(out, "><skipped message=\"{}\"/></testcase>", xml(&format!("fails as expected: {why}")))
            }
            Verdict::Failed(failures) => {
                let lines: Vec<String> = failures
                    .iter()
                    .map(|one| format!("{file}:{}:{}: {}", one.at.line, one.at.column, line(one)))
                    .collect();
                let first = failures.first().map(line).unwrap_or_default();
                let text = xml_lines(&lines.join("\n"));
                writeln!(out, "><failure type=\"unexpected\" message=\"{}\">{text}</failure></testcase>", xml(&first))
            }
        };
    }
    if let Some(why) = &place.hindered {
        let why = why.to_string();
        let _ = writeln!(
            out,
            "    <testcase classname=\"{0}\" name=\"(server)\" time=\"0\"><error type=\"not tried\" message=\"{1}\">{2}</error></testcase>",
            xml(&name),
            xml(&why),
            xml_lines(&why)
        );
    }
    out.push_str("  </testsuite>\n");
}

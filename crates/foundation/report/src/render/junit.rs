//! JUnit's XML, as CI servers show it: a suite for each run, a case for each rule. A case fails just where the finding
//! fails the check.

use std::fmt::Write as _;

use workbench::report::{Finding, Run};

use super::detail::detail;
use super::escape::{xml, xml_lines};
use super::sheet::{Sheet, Standing, score};

/// What becomes of a case in JUnit's words.
enum Case {
    /// With what is printed of it, if anything is.
    Passed(Option<String>),
    Skipped(String),
    Failed {
        kind: &'static str,
        message: String,
        text: String,
    },
    /// What is no verdict on a rule, and fails the check all the same.
    Error {
        kind: &'static str,
        message: String,
    },
}

/// A suite under construction.
#[derive(Default)]
struct Suite {
    cases: String,
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    elapsed_ms: u64,
}

/// The report as one XML document.
pub(crate) fn render(sheet: &Sheet<'_>) -> String {
    let (mut suites, mut total) = (String::new(), Suite::default());
    for run in &sheet.report.runs {
        let suite = of_run(sheet, run);
        total.add(&suite);
        suite.write(&mut suites, &format!("{} {}", run.transport, run.revision), &properties(sheet, run));
    }
    let rest = of_check(sheet);
    if rest.tests > 0 {
        total.add(&rest);
        rest.write(&mut suites, "check", &[]);
    }
    let Suite { tests, failures, errors, elapsed_ms, .. } = total;
    let time = seconds(elapsed_ms);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"proof check\" tests=\"{tests}\" \
         failures=\"{failures}\" errors=\"{errors}\" time=\"{time}\">\n{suites}</testsuites>\n"
    )
}

/// The rules of one run, and whether it lasted.
fn of_run(sheet: &Sheet<'_>, run: &Run) -> Suite {
    let mut suite = Suite { elapsed_ms: run.elapsed_ms, ..Suite::default() };
    let class = format!("{}.{}", run.transport, run.revision);
    for finding in sheet.of_run(run) {
        suite.case(&class, finding.rule, &case(sheet, finding));
    }
    if let Some(why) = &run.cut_short {
        suite.case(&class, "(run)", &Case::Error { kind: "cut short", message: format!("cut short: {why}") });
    }
    suite
}

/// What fails the check and belongs to no run's rule.
fn of_check(sheet: &Sheet<'_>) -> Suite {
    let mut suite = Suite::default();
    if sheet.is_vacuous() {
        suite.case("check", "(judged)", &Case::Error { kind: "nothing judged", message: sheet.vacuous() });
    }
    for entry in &sheet.stale {
        let message = "no longer occurs; take it out of the baseline".to_owned();
        let name = format!("{} at {} over {}", entry.rule, entry.revision, entry.transport);
        let text = message.clone();
        suite.case("baseline", &name, &Case::Failed { kind: "stale", message, text });
    }
    suite
}

fn case(sheet: &Sheet<'_>, finding: &Finding) -> Case {
    let word = finding.outcome.as_str();
    match sheet.standing(finding) {
        Standing::Kept => Case::Passed(None),
        // Viewers have no word between passed and failed; those that show a case's output show this.
        Standing::Warns => Case::Passed(Some(format!("{word} ({}): {}", finding.level.as_str(), detail(finding)))),
        Standing::Known(reason) => Case::Skipped(format!("known: {}", reason.unwrap_or("no reason given"))),
        Standing::Silent(why) => Case::Skipped(format!("{why}: {}", finding.message)),
        Standing::Fails => {
            Case::Failed { kind: finding.level.as_str(), message: finding.message.clone(), text: detail(finding) }
        }
    }
}

fn properties(sheet: &Sheet<'_>, run: &Run) -> Vec<(&'static str, String)> {
    let subject = &sheet.report.subject;
    let named = |name: &Option<String>| name.clone().unwrap_or_default();
    vec![
        ("subject", named(&subject.name)),
        ("subject.version", named(&subject.version)),
        ("target", subject.target.clone()),
        ("transport", run.transport.to_string()),
        ("revision", run.revision.to_string()),
        ("score", score(&sheet.report.summary)),
        ("proof", sheet.report.proof.to_owned()),
    ]
}

impl Suite {
    fn case(&mut self, class: &str, name: &str, case: &Case) {
        self.tests += 1;
        let _ = write!(self.cases, "    <testcase classname=\"{}\" name=\"{}\" time=\"0\"", xml(class), xml(name));
        match case {
            Case::Passed(None) => self.cases.push_str("/>\n"),
            Case::Passed(Some(text)) => {
                let _ = writeln!(self.cases, "><system-out>{}</system-out></testcase>", xml_lines(text));
            }
            Case::Skipped(why) => {
                self.skipped += 1;
                let _ = writeln!(self.cases, "><skipped message=\"{}\"/></testcase>", xml(why));
            }
            Case::Failed { kind, message, text } => {
                self.failures += 1;
                self.broken("failure", kind, message, text);
            }
            Case::Error { kind, message } => {
                self.errors += 1;
                self.broken("error", kind, message, message);
            }
        }
    }

    fn broken(&mut self, element: &str, kind: &str, message: &str, text: &str) {
        let (kind, message, text) = (xml(kind), xml(message), xml_lines(text));
        let _ = writeln!(self.cases, "><{element} type=\"{kind}\" message=\"{message}\">{text}</{element}></testcase>");
    }

    fn add(&mut self, other: &Self) {
        self.tests += other.tests;
        self.failures += other.failures;
        self.errors += other.errors;
        self.skipped += other.skipped;
        self.elapsed_ms += other.elapsed_ms;
    }

    fn write(&self, out: &mut String, name: &str, properties: &[(&str, String)]) {
        let Self { cases, tests, failures, errors, skipped, elapsed_ms } = self;
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" \
             skipped=\"{skipped}\" time=\"{}\">",
            xml(name),
            seconds(*elapsed_ms)
        );
        if !properties.is_empty() {
            out.push_str("    <properties>\n");
            for (name, value) in properties {
                let _ = writeln!(out, "      <property name=\"{name}\" value=\"{}\"/>", xml(value));
            }
            out.push_str("    </properties>\n");
        }
        let _ = writeln!(out, "{cases}  </testsuite>");
    }
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}

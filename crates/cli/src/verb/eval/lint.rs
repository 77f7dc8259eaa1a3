//! `proof eval lint`: tools and cases examined without a model.

use eval::lint::{Lint, Severity, lint};

use super::{bfcl, files, offered};
use crate::args::eval::EvalFormat;
use crate::args::eval::lint::{LintArgs, LintSeverity};
use crate::exit::Exit;
use crate::format::eval::lint::{Report, human, json};
use crate::run::Run;

/// Examines tools, and cases where there are some.
pub(super) fn linted(run: &Run, args: &LintArgs) -> Result<Exit, Exit> {
    args.report.to.check(&[])?;
    if let [questions, answers] = args.bfcl.as_slice() {
        return show(args, &bfcl::linted(questions, answers)?);
    }
    let cases = args.cases.as_deref().map(files::cases).transpose()?;
    let catalogue = match (&args.cases, &cases) {
        (Some(path), Some(file)) => offered::tools_or_those_of(run, &args.tools, path, file)?,
        _ => offered::tools(run, &args.tools)?,
    };
    show(args, &lint(&catalogue, cases.as_ref()))
}

fn show(args: &LintArgs, lint: &Lint) -> Result<Exit, Exit> {
    let least = match args.fail_on {
        LintSeverity::Error => Severity::Error,
        LintSeverity::Warning => Severity::Warning,
        LintSeverity::Note => Severity::Note,
    };
    let has_passed = lint.tools + lint.cases > 0 && lint.findings.iter().all(|finding| finding.severity < least);
    let report = Report { lint, file: args.cases.as_deref(), has_passed };
    let text = match args.report.format {
        EvalFormat::Json => json(&report),
        EvalFormat::Human => {
            let paint = args.report.to.paint();
            human(&report, paint, args.report.verbose || least == Severity::Note)
        }
    };
    args.report.to.write(&text)?;
    Ok(if has_passed { Exit::Clean } else { Exit::Finding })
}

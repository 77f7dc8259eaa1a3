//! The files of `--baseline` and `--write-baseline`: read before a check begins, written when it is over.

use std::path::{Path, PathBuf};

use report::baseline::{Baseline, Known};
use report::{Report, RuleIndex};

use crate::args::check::read;
use crate::args::output::OutputArgs;
use crate::exit::{Exit, tell, usage};
use crate::verb::output;

/// How many entries one line names.
const NAMED: usize = 3;

/// What the command line says of known findings.
pub(crate) struct Baselines {
    /// What is known, and the file it is from.
    given: Option<(PathBuf, Baseline)>,
    /// Where what is known from now on goes, and what that file said before.
    written: Option<(PathBuf, Option<Baseline>)>,
}

impl Baselines {
    /// Reads the files, and sees that nothing else is overwritten.
    pub(crate) fn read(args: &OutputArgs) -> Result<Self, Exit> {
        let given = args.baseline.as_ref().map(|path| Ok((path.clone(), given(path)?))).transpose()?;
        let written = args.write_baseline.as_ref().map(|path| Ok((path.clone(), replaced(path)?))).transpose()?;
        Ok(Self { given, written })
    }

    /// What is known of a report; writes it if that is asked for.
    pub(crate) fn settle(self, report: &Report, rules: &RuleIndex) -> Result<Option<Baseline>, Exit> {
        let Some((path, before)) = self.written else {
            self.given.iter().for_each(|(path, baseline)| want_reasons(path, baseline));
            return Ok(self.given.map(|(_, baseline)| baseline));
        };
        let previous = self.given.map(|(_, baseline)| baseline).or(before);
        let exists = |id: &str| rules.find(id).is_some();
        let baseline = Baseline::of(report, previous.as_ref(), &exists);
        output::write(&path, &baseline.text())?;
        for entry in previous.iter().flat_map(|previous| previous.stale(report, &exists)) {
            tell(format_args!("removed from the baseline: {} is no longer broken", named(entry)));
        }
        want_reasons(&path, &baseline);
        Ok(Some(baseline))
    }
}

/// An entry in words.
pub(crate) fn named(entry: &Known) -> String {
    let words = format!("{} at {} over {}", entry.rule, entry.revision, entry.transport);
    wire::escape::line(&words).into_owned()
}

fn given(path: &Path) -> Result<Baseline, Exit> {
    Baseline::parse(&read(path)?).map_err(|why| no_baseline(path, &why, "write a new one with --write-baseline"))
}

/// What stands in the file that is about to be written. A report that is named by mistake is worth more than a slip.
fn replaced(path: &Path) -> Result<Option<Baseline>, Exit> {
    if !path.is_file() {
        return Ok(None);
    }
    let text = read(path)?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let remedy = "name another file, or take this one away: it would be overwritten";
    Baseline::parse(&text).map(Some).map_err(|why| no_baseline(path, &why, remedy))
}

fn no_baseline(path: &Path, why: &str, remedy: &str) -> Exit {
    usage(&format!("{} is no baseline: {why}", output::shown(path)), remedy)
}

/// Names the entries without a reason.
fn want_reasons(path: &Path, baseline: &Baseline) {
    let bare: Vec<_> = baseline.known.iter().filter(|entry| entry.lacks_reason()).map(named).collect();
    if bare.is_empty() {
        return;
    }
    let more = bare.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (number, bare) = (bare.len(), bare[..bare.len().min(NAMED)].join(", "));
    tell(format_args!(
        "warning: {number} without a reason in {}: {bare}{more}\n  try: say in `reason` why each may stay",
        output::shown(path)
    ));
}

//! The files of `--baseline` and `--write-baseline`: read before a check, written after it.

use std::path::{Path, PathBuf};

use report::baseline::{Baseline, Known};
use report::{Report, RuleIndex};

use crate::args::check::read;
use crate::args::output::OutputArgs;
use crate::exit::{Exit, tell, usage};
use crate::verb::output;

/// How many entries a message names.
const NAMED: usize = 3;

/// The baselines on the command line.
pub(crate) struct Baselines {
    /// The file of `--baseline`, and its content.
    given: Option<(PathBuf, Baseline)>,
    /// The file of `--write-baseline`, and its previous content.
    written: Option<(PathBuf, Option<Baseline>)>,
}

impl Baselines {
    /// Reads the files; refuses to overwrite a file that is no baseline.
    pub(crate) fn read(args: &OutputArgs) -> Result<Self, Exit> {
        let given = args.baseline.as_ref().map(|path| Ok((path.clone(), given(path)?))).transpose()?;
        let written = args.write_baseline.as_ref().map(|path| Ok((path.clone(), replaced(path)?))).transpose()?;
        Ok(Self { given, written })
    }

    /// The baseline for a report; writes it with `--write-baseline`.
    pub(crate) fn settle(self, report: &Report, rules: &RuleIndex) -> Result<Option<Baseline>, Exit> {
        let Some((path, before)) = self.written else {
            self.given.iter().for_each(|(path, baseline)| warn_without_reasons(path, baseline));
            return Ok(self.given.map(|(_, baseline)| baseline));
        };
        let previous = self.given.map(|(_, baseline)| baseline).or(before);
        let exists = |id: &str| rules.has(id);
        let baseline = Baseline::of(report, previous.as_ref(), &exists);
        output::write(&path, &baseline.text())?;
        for entry in previous.iter().flat_map(|previous| previous.stale(report, &exists)) {
            tell(format_args!("removed from the baseline: {} is no longer broken", describe(entry)));
        }
        warn_without_reasons(&path, &baseline);
        Ok(Some(baseline))
    }
}

/// An entry in words.
pub(crate) fn describe(entry: &Known) -> String {
    let words = format!("{} at {} over {}", entry.rule, entry.revision, entry.transport);
    wire::escape::line(&words).into_owned()
}

fn given(path: &Path) -> Result<Baseline, Exit> {
    Baseline::parse(&read(path)?).map_err(|why| invalid(path, &why, "write a new one with --write-baseline"))
}

/// The baseline that is about to be replaced. Any other file, such as a report named by mistake, is an error.
fn replaced(path: &Path) -> Result<Option<Baseline>, Exit> {
    if !path.is_file() {
        return Ok(None);
    }
    let text = read(path)?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let remedy = "use another file: this one would be overwritten";
    Baseline::parse(&text).map(Some).map_err(|why| invalid(path, &why, remedy))
}

fn invalid(path: &Path, why: &str, remedy: &str) -> Exit {
    usage(&format!("{} is not a baseline: {}", output::shown(path), wire::escape::line(why)), remedy)
}

/// Warns about entries without a reason.
fn warn_without_reasons(path: &Path, baseline: &Baseline) {
    let bare: Vec<_> = baseline.known.iter().filter(|entry| entry.lacks_reason()).map(describe).collect();
    if bare.is_empty() {
        return;
    }
    let more = bare.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (number, bare) = (bare.len(), bare[..bare.len().min(NAMED)].join(", "));
    tell(format_args!(
        "warning: {number} without a reason in {}: {bare}{more}\n  try: explain each in its `reason`",
        output::shown(path)
    ));
}

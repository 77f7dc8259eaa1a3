//! The files of `--baseline` and `--write-baseline`: read before a check, written after it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use report::baseline::{Baseline, Known, Seen};
use report::{Report, RuleIndex};

use crate::args::check::read;
use crate::args::output::OutputArgs;
use crate::exit::{Exit, tell, usage};
use crate::progress::Knows;
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

    /// Which findings are known while the check runs. What is to be written as known is no news.
    pub(crate) fn knows(&self) -> Knows {
        let writes = self.written.is_some();
        let given = self.given.as_ref().map(|(_, baseline)| baseline.clone());
        Arc::new(move |seen: &Seen<'_>| writes || given.as_ref().is_some_and(|given| given.knows_seen(seen)))
    }

    /// The baseline for a report; writes it with `--write-baseline`.
    pub(crate) fn settle(self, report: &Report, rules: &RuleIndex) -> Result<Option<Baseline>, Exit> {
        let Some((path, before)) = self.written else {
            self.given.iter().for_each(|(path, baseline)| warn_without_reasons(path, baseline));
            return Ok(self.given.map(|(_, baseline)| baseline));
        };
        let previous = self.given.map(|(_, baseline)| baseline).or(before);
        let exists = |id: &str| rules.has(id);
        let baseline = Baseline::of(report, previous.as_ref(), rules);
        output::write(&path, &baseline.text())?;
        if let Some(previous) = &previous {
            tell_added(previous, &baseline);
        }
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

/// Tells which defects came to entries that have a reason: it was given for others.
fn tell_added(previous: &Baseline, baseline: &Baseline) {
    let same = |one: &Known, other: &Known| {
        (&one.rule, &one.revision, &one.transport) == (&other.rule, &other.revision, &other.transport)
    };
    for entry in baseline.known.iter().filter(|entry| !entry.lacks_reason()) {
        let before = previous.known.iter().find(|known| same(known, entry) && !known.covers_all());
        let is_new = |defect: &&String| before.is_some_and(|before| !before.defects.contains(defect));
        for defect in entry.defects.iter().filter(is_new) {
            let defect = wire::escape::line(defect);
            tell(format_args!("added to the baseline: {} at {defect}, with its old reason", describe(entry)));
        }
    }
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

//! What the suite found, read from the folders that it writes: one for each scenario, with a list of checks in it. A
//! scenario passes if something of its own was checked and nothing is wrong; green with nothing checked is not a pass.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use super::leg::Leg;
use super::requirements::Required;

/// The check that the suite adds to every scenario: the messages have the right shape. Of what the scenario is about it says
/// nothing.
const GENERIC: &str = "wire-schema-valid";
/// The status that we give where a check passed with nothing to see, or a whole scenario did.
pub(super) const VACUOUS: &str = "VACUOUS";
/// The status that we give where a scenario left no result.
pub(super) const NOT_RUN: &str = "NOT RUN";
/// In place of a check's id: the scenario as a whole.
pub(super) const WHOLE: &str = "*";
/// The end of a folder's name, such as `-2026-11-21T14-49-18-578Z`; digits stand for digits.
const STAMP: &str = "-0000-00-00T00-00-00-000Z";

/// One check that one should have passed and did not, or not visibly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Deviation {
    pub(super) scenario: String,
    pub(super) check: String,
    pub(super) status: &'static str,
    pub(super) message: String,
}

/// One scenario: how often something of its own was seen to be right, and what was not.
#[derive(Debug)]
struct Scenario {
    scored: bool,
    checks: usize,
    deviations: Vec<Deviation>,
}

/// All scenarios of one revision.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) revision: String,
    scenarios: Vec<Scenario>,
}

impl Results {
    /// Reads what the suite wrote under `folder`. Folders of scenarios that were not asked for are an error: they would be
    /// results that no one counts.
    pub(super) fn read(folder: &Path, leg: Leg, revision: &str, required: &[Required]) -> anyhow::Result<Self> {
        let mut texts = BTreeMap::new();
        for (name, path) in folders(folder)? {
            let scenario =
                scenario(&name, leg).with_context(|| format!("not a scenario's folder: {}", path.display()))?;
            ensure!(required.iter().any(|one| one.name == scenario), "unexpected scenario {scenario}");
            let file = path.join("checks.json");
            let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            ensure!(texts.insert(scenario.to_owned(), text).is_none(), "{scenario} was run twice");
        }
        Self::of(&leg.of(revision), required, &texts)
    }

    /// The results of the scenarios' lists of checks, by the scenarios' names.
    pub(super) fn of(revision: &str, required: &[Required], texts: &BTreeMap<String, String>) -> anyhow::Result<Self> {
        let scenario = |one: &Required| match texts.get(&one.name) {
            Some(text) => Scenario::parse(one, text).with_context(|| format!("{revision}, {}", one.name)),
            None => Ok(Scenario::not_run(one)),
        };
        let scenarios = required.iter().map(scenario).collect::<anyhow::Result<_>>()?;
        Ok(Self { revision: revision.to_owned(), scenarios })
    }

    /// Everything that is not as it should be.
    pub(super) fn deviations(&self) -> impl Iterator<Item = &Deviation> {
        self.scenarios.iter().flat_map(|scenario| &scenario.deviations)
    }

    /// How many scenarios of a kind passed, and of how many.
    pub(super) fn passed(&self, scored: bool) -> (usize, usize) {
        let of_kind = || self.scenarios.iter().filter(|one| one.scored == scored);
        (of_kind().filter(|one| one.deviations.is_empty()).count(), of_kind().count())
    }

    /// The line that a person reads.
    pub(super) fn row(&self) -> String {
        let ((scored, of_scored), (unscored, of_unscored)) = (self.passed(true), self.passed(false));
        let checks: usize = self.scenarios.iter().map(|one| one.checks).sum();
        format!(
            "{}  {scored} of {of_scored} scored, {unscored} of {of_unscored} unscored   (checks passed: {checks})",
            self.revision
        )
    }
}

impl Scenario {
    fn not_run(required: &Required) -> Self {
        let whole = Deviation::of(&required.name, WHOLE, NOT_RUN, "the suite left no result");
        Self { scored: required.scored, checks: 0, deviations: vec![whole] }
    }

    fn parse(required: &Required, text: &str) -> anyhow::Result<Self> {
        let checks: Vec<Value> = serde_json::from_str(text).context("checks.json is no list")?;
        let mut scenario = Self { scored: required.scored, checks: 0, deviations: Vec::new() };
        let mut of_its_own = 0;
        for check in &checks {
            let id = check["id"].as_str().context("a check has no text `id`")?;
            let status = check["status"].as_str().with_context(|| format!("{id} has no text `status`"))?;
            let message = check["errorMessage"].as_str().or(check["description"].as_str()).unwrap_or_default();
            let mut deviate = |status| scenario.deviations.push(Deviation::of(&required.name, id, status, message));
            match status {
                "SUCCESS" if saw_nothing(check) => deviate(VACUOUS),
                "SUCCESS" => {
                    scenario.checks += 1;
                    of_its_own += usize::from(id != GENERIC);
                }
                "INFO" => {}
                "FAILURE" => deviate("FAILURE"),
                "WARNING" => deviate("WARNING"),
                "SKIPPED" => deviate("SKIPPED"),
                _ => bail!("{id} has the unknown status {status:?}; is this the suite that was read here?"),
            }
        }
        if of_its_own == 0 && scenario.deviations.is_empty() {
            let message = format!("{} checks, but none of the scenario's own passed", checks.len());
            scenario.deviations.push(Deviation::of(&required.name, WHOLE, VACUOUS, &message));
        }
        Ok(scenario)
    }
}

/// Whether a check that passed says itself that there was nothing to look at.
fn saw_nothing(check: &Value) -> bool {
    let details = &check["details"];
    details["untestable"] == true || details["messagesValidated"] == 0
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {} – {}", self.scenario, self.status, self.check, self.message)
    }
}

impl Deviation {
    fn of(scenario: &str, check: &str, status: &'static str, message: &str) -> Self {
        Self { scenario: scenario.into(), check: check.into(), status, message: message.into() }
    }
}

/// The folders of scenarios and their names. Where a scenario's name has a slash, so has the folder's.
fn folders(within: &Path) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(within).with_context(|| format!("cannot read {}", within.display()))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if path.join("checks.json").is_file() || !path.is_dir() || name.ends_with('Z') {
            found.push((name, path));
            continue;
        }
        found.extend(folders(&path)?.into_iter().map(|(inner, path)| (format!("{name}/{inner}"), path)));
    }
    Ok(found)
}

/// The scenario's name in that of its folder: `server-tools-list-2026-11-21T14-49-18-578Z`.
pub(super) fn scenario(folder: &str, leg: Leg) -> Option<&str> {
    let folder = folder.strip_prefix(leg.prefix())?;
    let (name, stamp) = folder.split_at_checked(folder.len().checked_sub(STAMP.len())?)?;
    let alike = |(is, pattern): (char, char)| if pattern == '0' { is.is_ascii_digit() } else { is == pattern };
    (!name.is_empty() && stamp.chars().zip(STAMP.chars()).all(alike)).then_some(name)
}

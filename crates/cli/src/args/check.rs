//! `proof check`: options as typed, and what they mean.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use judge::Reproduce;
use judge::check::hints::Hints;
use judge::check::{CallPolicy, Options, TraceSink};
use net::client::{Address, Limits};
use wire::Revision;

use super::line::{quoted, reproduce, shown};
use super::output::OutputArgs;
use super::reach::ServerArgs;
use super::select::{SelectArgs, revisions};
use crate::advice::judging;
use crate::exit::{Exit, usage};
use crate::run::Run;

/// How many cases run side by side: they mostly wait, so more than there are cores. A child counts for three.
const JOBS: usize = 72;

/// How long one answer may take.
const ANSWER: Duration = Duration::from_secs(10);

/// How long the first answer of a command may take: it starts, and some install themselves first.
const START: Duration = Duration::from_secs(30);

/// Judge a server
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof check --format junit --output proof.xml -- ./my-server
  proof check --also sarif=proof.sarif --also markdown=proof.md -- ./my-server
  proof check --write-baseline known.json -- ./my-server
  proof check --baseline known.json -- ./my-server

Exit codes: 0 clean; 1 a new finding at or above --fail-on; 2 usage;
3 no MCP answer in any era; 4 our own bug.

Without an address or a command, our own server is judged. Only tools that
their server marks with readOnlyHint are called, unless --call all or
--allow-tool says otherwise.")]
#[command(mut_arg("timeout", |arg| arg.help("Seconds for one answer [default: 10, a command's first 30]")))]
#[command(mut_arg("bearer_env", |arg| arg.help("The variable with the bearer token; our own server then demands it")))]
pub(crate) struct CheckArgs {
    /// Revisions to judge at [default: all that the server speaks]
    #[arg(long, value_name = "R[,R]|all", value_delimiter = ',', help_heading = "What to judge")]
    pub(crate) revision: Vec<String>,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    /// Judge a recorded trace instead of a server
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "command"], help_heading = "What to judge")]
    pub(crate) trace: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Which tools may be called
    #[arg(long, value_enum, value_name = "WHICH", default_value = "safe", help_heading = "What may be done")]
    pub(crate) call: CallArg,
    /// A tool that may be called although it does not say that it only reads
    #[arg(long, value_name = "NAME", help_heading = "What may be done")]
    pub(crate) allow_tool: Vec<String>,
    /// How to provoke progress, sampling, changed lists (JSON; docs/check.md)
    #[arg(long, value_name = "FILE", help_heading = "What may be done")]
    pub(crate) hints: Option<PathBuf>,
    /// Strain the server even where it is neither our child nor on loopback
    #[arg(long, help_heading = "What may be done")]
    pub(crate) intrusive: bool,
    /// How many cases run side by side per server [default: 72]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "What may be done")]
    pub(crate) jobs: Option<u16>,
    /// Draw arguments and the order of cases from this seed; 0 draws nothing
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "What may be done")]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Which tools may be called.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum CallArg {
    /// Those that say they only read
    Safe,
    /// None
    None,
    /// All
    All,
}

impl CheckArgs {
    /// How the user named the target: `-- COMMAND…` or the URL.
    pub(crate) fn target(&self, run: &Run) -> String {
        let named = self.server.named();
        match named.url {
            Some(url) => url.to_owned(),
            None if named.command.is_empty() => String::new(),
            None => {
                format!("-- {}", shown(named.command, &run.redactor_of(&self.server.secrets())))
            }
        }
    }

    /// What a command line needs besides a rule, a revision and a transport to do the same to the same target. Values that
    /// may be secret are left for the user to fill in.
    fn again(&self, run: &Run) -> String {
        let named = |given: &[String], mark: char| -> Vec<String> {
            let name = |text: &String| text.split_once(mark).map_or("", |(name, _)| name).to_owned();
            given.iter().map(|text| format!("{}{mark}…", name(text))).collect()
        };
        let path = |path: &Option<PathBuf>| path.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let (call, tools) = match self.call {
            CallArg::Safe => (vec![], self.allow_tool.clone()),
            CallArg::None => (vec!["none".to_owned()], vec![]),
            CallArg::All => (vec!["all".to_owned()], vec![]),
        };
        let options = [
            ("--header", named(&self.server.reach.header, ':')),
            ("--bearer-env", self.server.reach.bearer_env.iter().cloned().collect()),
            ("--env", named(&self.server.reach.env, '=')),
            ("--cwd", path(&self.server.reach.cwd)),
            ("--ca-file", path(&self.server.reach.ca_file)),
            ("--hints", path(&self.hints)),
            ("--timeout", self.server.reach.timeout.iter().map(|timeout| timeout.as_secs_f64().to_string()).collect()),
            ("--call", call),
            ("--allow-tool", tools),
            ("--seed", Some(self.seed).filter(|&seed| seed != 0).iter().map(u64::to_string).collect()),
        ];
        let given = options.iter().flat_map(|(name, values): &(_, Vec<String>)| {
            values.iter().map(move |value| format!("{name} {}", quoted(value)))
        });
        let strained = self.intrusive.then(|| "--intrusive".to_owned());
        let target = Some(self.target(run)).filter(|target| !target.is_empty());
        given.chain(strained).chain(target).collect::<Vec<_>>().join(" ")
    }

    /// Makes the command lines that reproduce findings.
    fn reproduce(&self, run: &Run) -> Reproduce {
        let words = self.again(run);
        reproduce("check", run.redactor_of(&self.server.secrets()).redact_text(&words).into_owned())
    }

    /// What the options mean, or the exit code after saying what is wrong with them.
    pub(crate) fn meaning(&self, run: &Run, targets: Vec<Address>, keep: TraceSink) -> Result<Options, Exit> {
        let selection = self.select.meaning()?;
        Ok(Options {
            targets,
            target: self.target(run),
            reproduce: self.reproduce(run),
            words: judging,
            revisions: self.revisions()?,
            selection,
            calls: self.calls(),
            hints: self.hints()?,
            intrusive: self.intrusive,
            jobs: self.jobs.map_or(JOBS, usize::from),
            seed: self.seed,
            limits: self.limits(),
            children: run.children.clone(),
            secrets: self.server.secrets(),
            redactor: run.redactor(),
            keep,
        })
    }

    /// What is given holds for every answer; else a command may take longer to start than to answer.
    fn limits(&self) -> Limits {
        let request = self.server.reach.timeout.unwrap_or(ANSWER);
        Limits { request, connect: request, start: self.server.reach.timeout.unwrap_or(START), ..Limits::default() }
    }

    pub(crate) fn revisions(&self) -> Result<Vec<Revision>, Exit> {
        revisions(&self.revision)
    }

    fn calls(&self) -> CallPolicy {
        match self.call {
            CallArg::None => CallPolicy::None,
            CallArg::All => CallPolicy::All,
            CallArg::Safe => CallPolicy::Safe(self.allow_tool.iter().cloned().collect::<BTreeSet<_>>()),
        }
    }

    fn hints(&self) -> Result<Hints, Exit> {
        let Some(path) = &self.hints else {
            // What makes the reference server do everything it can.
            let own = include_str!("reference-hints.json");
            let is_own = self.server.is_unnamed();
            return if is_own { Hints::parse(own).map_err(|_| Exit::Bug) } else { Ok(Hints::default()) };
        };
        let text = read(path)?;
        Hints::parse(&text).map_err(|why| {
            usage(&format!("{} is no hints file: {why}", path.display()), "docs/check.md describes its members")
        })
    }
}

/// Reads a file that the command line names.
pub(crate) fn read(path: &std::path::Path) -> Result<String, Exit> {
    std::fs::read_to_string(path)
        .map_err(|e| usage(&format!("{} cannot be read: {e}", path.display()), "check the path and its permissions"))
}

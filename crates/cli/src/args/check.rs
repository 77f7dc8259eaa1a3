//! Options of `proof check`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use judge::Reproduce;
use judge::check::hints::Hints;
use judge::check::{CallPolicy, Options, RevisionChoice, TraceSink};
use net::client::{Address, Limits};
use report::{CommandRedactor, PLACEHOLDER};
use wire::Revision;

use super::line::{command_words, quoted, reproduce, shown};
use super::output::OutputArgs;
use super::reach::ServerArgs;
use super::select::{SelectArgs, revisions};
pub(crate) use super::sign::ManifestPlace;
use super::sign::manifest;
use crate::advice::judging;
use crate::exit::{Exit, usage};
use crate::run::Run;
use crate::verb::given_file;
use crate::verb::output::shown as shown_path;

/// How many cases run in parallel for each core: many, because they mostly wait. A child process counts as three.
const JOBS: usize = 36;

/// The most cases that run in parallel by default.
const MOST_JOBS: usize = 256;

fn jobs() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (JOBS * cores).min(MOST_JOBS)
}

/// The default timeout of a request.
const ANSWER: Duration = Duration::from_secs(10);

/// The default time limit of a check, in seconds.
const MAX_TIME: u32 = 60;

/// The default timeout of a command's first answer: some commands install themselves first.
const START: Duration = Duration::from_secs(30);

/// Check a server against the specification
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof check -- npx -y my-server
  proof check http://127.0.0.1:3000/mcp
  proof check --format junit --output proof.xml -- ./my-server
  proof check --also sarif=proof.sarif --also markdown=proof.md -- ./my-server
  proof check --write-baseline known.json -- ./my-server
  proof check --baseline known.json -- ./my-server
  proof check --manifest auto --keys keys.json https://shop.example/mcp

Without URL and COMMAND, proof checks its own reference server. It calls only
tools that read (readOnlyHint, or no annotations and a name such as get_user),
unless you pass --call all or --allow-tool. --call read-only goes by
readOnlyHint alone.

Exit codes: 0 clean; 1 a new finding at or above --fail-on; 2 usage error;
3 no MCP answer; 4 bug in proof.")]
#[command(mut_arg("timeout", |arg| arg.help("Timeout of an answer in seconds [default: 10; first answer: 30]")))]
#[command(mut_arg("bearer_env", |arg| arg.help("Environment variable with the bearer token")))]
pub(crate) struct CheckArgs {
    /// Check these revisions [default: the newest of each era]
    #[arg(long, value_name = "R[,R]|all", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) revision: Vec<String>,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    /// Check a recorded trace instead of a server
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "url_option", "command"], help_heading = "Selection")]
    pub(crate) trace: Option<PathBuf>,

    /// Verify the server by its signed manifest: a file, a URL, or `auto` for
    /// /.well-known/mcp-manifest.json of the server
    #[arg(long, value_name = "FILE|URL|auto", value_parser = manifest, conflicts_with = "trace", help_heading = "Selection")]
    pub(crate) manifest: Option<ManifestPlace>,
    /// Public keys to trust for the manifest: a JWK set
    #[arg(long, value_name = "FILE", requires = "manifest", help_heading = "Selection")]
    pub(crate) keys: Option<PathBuf>,
    /// Lock with pinned keys and the newest manifest: older ones are refused
    #[arg(long, value_name = "FILE", requires = "manifest", help_heading = "Selection")]
    pub(crate) lock: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Which tools may be called
    #[arg(long, value_enum, value_name = "WHICH", default_value = "safe", help_heading = "Execution")]
    pub(crate) call: CallArg,
    /// Call this tool, too, although it may do more than read (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Execution")]
    pub(crate) allow_tool: Vec<String>,
    /// How to trigger progress, sampling, list changes (JSON; proof help hints)
    #[arg(long, value_name = "FILE", help_heading = "Execution")]
    pub(crate) hints: Option<PathBuf>,
    /// Run load and abuse probes against remote servers, too
    #[arg(long, help_heading = "Execution")]
    pub(crate) intrusive: bool,
    /// Number of parallel cases per server [default: 36 per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Execution")]
    pub(crate) jobs: Option<u16>,
    /// Time limit of the whole check in seconds; 0 for none [default: 60]
    #[arg(long, value_name = "S", help_heading = "Execution")]
    pub(crate) max_time: Option<u32>,
    /// Seed for random arguments and case order; 0 disables randomness
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Execution")]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Which tools may be called.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum CallArg {
    /// Tools that only read, by readOnlyHint or by their name
    Safe,
    /// Tools with readOnlyHint: true
    ReadOnly,
    /// No tools
    None,
    /// All tools
    All,
}

impl CallArg {
    /// What it stands for, together with the tools that are allowed by name.
    pub(crate) fn policy(self, allowed: &[String]) -> CallPolicy {
        let named = || allowed.iter().cloned().collect::<BTreeSet<_>>();
        match self {
            Self::Safe => CallPolicy::Safe(named()),
            Self::ReadOnly => CallPolicy::Declared(named()),
            Self::None => CallPolicy::None,
            Self::All => CallPolicy::All,
        }
    }
}

impl CheckArgs {
    /// The target as typed: `-- COMMAND…` or the URL.
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

    /// The options and the target of a command that reproduces a finding. Placeholders stand for values that may be secret.
    fn reproducing_words(&self, run: &Run) -> String {
        let named = |given: &[String], mark: char, blank: &str| -> Vec<String> {
            let name = |text: &String| text.split_once(mark).map_or("", |(name, _)| name).to_owned();
            given.iter().map(|text| format!("{}{mark}{blank}{PLACEHOLDER}", name(text))).collect()
        };
        let path = |path: &Option<PathBuf>| path.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let (call, tools) = match self.call {
            CallArg::Safe => (vec![], self.allow_tool.clone()),
            CallArg::ReadOnly => (vec!["read-only".to_owned()], self.allow_tool.clone()),
            CallArg::None => (vec!["none".to_owned()], vec![]),
            CallArg::All => (vec!["all".to_owned()], vec![]),
        };
        let options = [
            ("--header", named(&self.server.reach.header, ':', " ")),
            ("--bearer-env", self.server.reach.bearer_env.iter().cloned().collect()),
            ("--env", named(&self.server.reach.env, '=', "")),
            ("--inherit-env", self.server.reach.inherit_env.clone()),
            ("--cwd", path(&self.server.reach.cwd)),
            ("--ca-file", path(&self.server.reach.ca_file)),
            ("--hints", path(&self.hints)),
            ("--timeout", self.server.reach.timeout.iter().map(|timeout| timeout.as_secs_f64().to_string()).collect()),
            ("--max-time", self.max_time.iter().map(u32::to_string).collect()),
            ("--call", call),
            ("--allow-tool", tools),
            ("--seed", Some(self.seed).filter(|&seed| seed != 0).iter().map(u64::to_string).collect()),
        ];
        // One by one: in the whole line, an address behind a header would look like the header's value.
        let redactor = CommandRedactor::of(&run.redactor_of(&self.server.secrets()));
        let given = options.iter().flat_map(|(name, values): &(&str, Vec<String>)| {
            let is_left_out = matches!(*name, "--header" | "--env");
            let redacted = |value: &String| if is_left_out { value.clone() } else { redactor.text(value) };
            values.iter().map(|value| format!("{name} {}", quoted(&redacted(value)))).collect::<Vec<_>>()
        });
        let signed = self
            .server
            .reach
            .oauth
            .oauth
            .and_then(|way| Some(format!("--oauth={}", way.to_possible_value()?.get_name())));
        let strained = self.intrusive.then(|| "--intrusive".to_owned());
        let named = self.server.named();
        let target = match named.url {
            // An address may hold `&` and `?`.
            Some(url) => Some(quoted(&redactor.text(url))),
            None if named.command.is_empty() => None,
            None => Some(format!("-- {}", redactor.text(&command_words(named.command, &redactor)))),
        };
        given.chain(signed).chain(strained).chain(target).collect::<Vec<_>>().join(" ")
    }

    /// Makes the command lines that reproduce findings.
    fn reproduce(&self, run: &Run) -> Reproduce {
        reproduce("check", self.reproducing_words(run))
    }

    /// The options of the check, or the exit code after reporting an error.
    pub(crate) fn options(&self, run: &Run, targets: Vec<Address>, keep: TraceSink) -> Result<Options, Exit> {
        let selection = self.select.selection()?;
        Ok(Options {
            targets,
            target: self.target(run),
            reproduce: self.reproduce(run),
            words: judging,
            revisions: self.revision_choice()?,
            selection,
            calls: self.calls(),
            hints: self.hints()?,
            intrusive: self.intrusive,
            jobs: self.jobs.map_or_else(jobs, usize::from),
            seed: self.seed,
            max_time: self.max_time(),
            limits: self.limits(),
            children: run.children.clone(),
            secrets: self.server.secrets(),
            redactor: run.redactor(),
            keep,
        })
    }

    /// Our own server is as quick as this machine: without a target there is no limit by default.
    fn max_time(&self) -> Option<Duration> {
        let usual = if self.server.is_unnamed() { 0 } else { MAX_TIME };
        match self.max_time.unwrap_or(usual) {
            0 => None,
            seconds => Some(Duration::from_secs(seconds.into())),
        }
    }

    /// `--timeout` applies to every answer; by default a command has longer for its first.
    fn limits(&self) -> Limits {
        let request = self.server.reach.timeout.unwrap_or(ANSWER);
        Limits { request, connect: request, start: self.server.reach.timeout.unwrap_or(START), ..Limits::default() }
    }

    /// The revisions that are named; empty for all.
    pub(crate) fn revisions(&self) -> Result<Vec<Revision>, Exit> {
        revisions(&self.revision)
    }

    /// Our own server is for seeing everything, where nothing is named.
    fn revision_choice(&self) -> Result<RevisionChoice, Exit> {
        let named = self.revisions()?;
        Ok(match (named.is_empty(), self.revision.is_empty() && !self.server.is_unnamed()) {
            (false, _) => RevisionChoice::These(named),
            (true, true) => RevisionChoice::NewestOfEachEra,
            (true, false) => RevisionChoice::All,
        })
    }

    fn calls(&self) -> CallPolicy {
        self.call.policy(&self.allow_tool)
    }

    fn hints(&self) -> Result<Hints, Exit> {
        let Some(path) = &self.hints else {
            // Makes the reference server use every feature.
            let own = include_str!("reference-hints.json");
            let is_own = self.server.is_unnamed();
            return if is_own { Hints::parse(own).map_err(|_| Exit::Bug) } else { Ok(Hints::default()) };
        };
        let text = read(path)?;
        Hints::parse(&text).map_err(|why| {
            usage(
                &format!("{} is not a valid hints file: {}", shown_path(path), wire::escape::line(&why)),
                "`proof help hints` lists its members",
            )
        })
    }
}

/// The most bytes of a file of hints or of a baseline.
const LONGEST_FILE: u64 = 64 << 20;

/// Reads a file named on the command line.
pub(crate) fn read(path: &std::path::Path) -> Result<String, Exit> {
    given_file::text(path, LONGEST_FILE)
        .map_err(|e| usage(&format!("cannot read {}: {e}", shown_path(path)), "check the path and its permissions"))
}

//! `proof-gateway policy`: tests access rules, and explains what they say of a request. Needs no running gateway: the code that
//! decides is the gateway's own.

mod cases;
mod explain;
mod options;
mod test;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use gateway::access::{Decider, Policy};

use self::cases::Cases;
use self::explain::ExplainArgs;
use crate::args::text_of;
use crate::tell::Failure;

#[derive(Args, Debug)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    action: PolicyAction,
}

#[derive(Subcommand, Debug)]
enum PolicyAction {
    /// Check that access rules decide as the cases of a file expect
    #[command(after_help = "Exit codes: 0 all cases are as expected, 1 some are not, 2 a file is wrong")]
    Test(TestArgs),
    /// Show what each access rule says of a request, and which one decides
    #[command(after_help = "Examples:
  proof-gateway policy explain cases.yaml            (its first case that is not as expected)
  proof-gateway policy explain cases.yaml --case 3
  proof-gateway policy explain --config gateway.yaml --action tools/call --name read_file \\
    --claims '{\"team\": \"data\"}' --arguments '{\"path\": \"/data/x\"}'")]
    Explain(Box<ExplainArgs>),
}

#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// File of cases
    #[arg(value_name = "CASES")]
    cases: PathBuf,
    /// gateway.yaml with the rules [default: `config` of CASES]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Rules and the file that they come from.
struct Rules {
    policy: Policy,
    file: String,
}

pub(crate) fn run(args: &PolicyArgs) -> Result<ExitCode, Failure> {
    match &args.action {
        PolicyAction::Test(args) => {
            let cases = Cases::read(&args.cases, args.config.as_deref())?;
            let outcomes = test::run(&cases);
            say(&if args.json { test::as_json(&cases, &outcomes) } else { test::as_text(&cases, &outcomes) });
            let all = outcomes.iter().all(test::Outcome::is_expected);
            Ok(if all { ExitCode::SUCCESS } else { ExitCode::from(1) })
        }
        PolicyAction::Explain(args) => {
            say(&explain::run(args)?);
            Ok(ExitCode::SUCCESS)
        }
    }
}

#[expect(clippy::print_stdout, reason = "the result of the command")]
fn say(text: &str) {
    for line in text.lines() {
        println!("{}", wire::escape::line(line));
    }
}

impl Rules {
    fn read(file: &Path) -> Result<Self, Failure> {
        let name = file.display().to_string();
        let settings = gateway::config::read_policy(&text_of(file)?, &name);
        let settings = settings.map_err(|errors| Failure::file(errors.to_string()))?;
        let policy = Policy::new(settings).map_err(|error| Failure::file(format!("error: {error}")))?;
        Ok(Self { policy, file: name })
    }

    fn count(&self) -> usize {
        self.policy.settings().access.as_ref().map_or(0, Vec::len)
    }

    /// Where the rule with this number stands.
    fn place(&self, rule: usize) -> String {
        let line = self.policy.settings().lines.get(rule.wrapping_sub(1)).copied().unwrap_or_default();
        format!("{}:{line}", self.file)
    }

    /// What decided, in words.
    fn reason(&self, decider: &Decider) -> String {
        match decider {
            Decider::NoToken => "there is no token, and `auth` asks for one".to_owned(),
            Decider::TokenLacks(scope) => format!("the token lacks the scope {scope} of `auth`"),
            Decider::NoRules => format!("{} has no `access` rules", self.file),
            Decider::AmbiguousUri => "the URI can be read as another one (dots, empty parts, escapes)".to_owned(),
            Decider::Rule(rule) => format!("rule {rule} ({})", self.place(*rule)),
            Decider::NoRule => "no rule fits".to_owned(),
        }
    }
}

/// What a policy decision point has to say in addition: it is not asked here. `None` where the configuration has none.
fn point_note(rules: &Rules) -> Option<String> {
    let url = &rules.policy.settings().authzen.as_ref()?.url;
    Some(format!("`authzen`: {url} must allow, too. It is not asked here: an allowed request may still be denied"))
}

/// The word for a decision.
const fn word(allowed: bool) -> &'static str {
    if allowed { "allow" } else { "deny" }
}

/// What decided, as cases name it: the number of a rule, `token`, or `none`.
fn name_of(decider: &Decider) -> serde_json::Value {
    match decider {
        Decider::Rule(rule) => (*rule).into(),
        Decider::NoToken | Decider::TokenLacks(_) => "token".into(),
        Decider::NoRules | Decider::AmbiguousUri | Decider::NoRule => "none".into(),
    }
}

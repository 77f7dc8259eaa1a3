//! The command line. [`check::CheckArgs::options`] and its like turn it into the options of the libraries.

pub(crate) mod access;
pub(crate) mod address;
pub(crate) mod check;
pub(crate) mod check_client;
pub(crate) mod client;
pub(crate) mod clients;
mod dashes;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod factory;
pub(crate) mod faults;
pub(crate) mod gateway;
pub(crate) mod generate;
pub(crate) mod import;
pub(crate) mod inspect;
pub(crate) mod line;
pub(crate) mod lock;
pub(crate) mod oauth;
pub(crate) mod output;
pub(crate) mod reach;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod saved_reports;
pub(crate) mod scan;
pub(crate) mod select;
pub(crate) mod serve;
pub(crate) mod serve_api;
pub(crate) mod serve_tokens;
pub(crate) mod sign;
pub(crate) mod snapshot;
pub(crate) mod test;
pub(crate) mod test_call;

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use judge::check::options::matches;

use crate::colour::{self, When};
use crate::exit::{Exit, tell, usage};
use crate::verb::{program, topics};

/// Test MCP servers and clients against every sentence of the specification
#[derive(Parser)]
#[command(name = "proof", version = env!("PROOF_VERSION"), max_term_width = 80, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  proof check                               Check the built-in reference server
  proof check -- npx -y my-server           Check a server over stdio
  proof check http://127.0.0.1:3000/mcp     Check a server over HTTP
  proof check-client -- ./my-client         Check a client over HTTP
  proof client tools -- npx -y my-server    List a server's tools
  proof inspect -- npx -y my-server         Try a server in the browser
  proof generate -o t.mcp.yaml -- ./server  Generate a test file from a server
  proof test t.mcp.yaml                     Run a test file
  proof explain tools.names-unique          Explain a rule
  proof help topics                         List what help explains

Exit codes: 0 success, 1 findings, 2 usage error, 3 no MCP answer, 4 bug in proof")]
pub(crate) struct Cli {
    #[command(subcommand)]
    verb: Verb,
    /// Print colours: auto, always or never [default: auto]
    #[arg(long, global = true, value_enum, value_name = "WHEN", hide_possible_values = true)]
    color: Option<When>,
}

/// The verbs. `defer` builds the arguments of a verb only when that verb is used.
#[derive(Subcommand)]
#[command(defer = true)]
pub(crate) enum Verb {
    /// Check a server against the specification
    Check(Box<check::CheckArgs>),
    /// Check a client against the specification
    CheckClient(Box<check_client::CheckClientArgs>),
    /// Run test files against a server
    Test(Box<test::TestArgs>),
    /// Generate a test file from a running server
    Generate(Box<generate::GenerateArgs>),
    /// Save what a server declares, or show what changed since
    Snapshot(Box<snapshot::SnapshotArgs>),
    /// Score what a model did with tools; lint and export tools
    Eval(eval::EvalArgs),
    /// Find hidden text and injections in what servers tell a model
    Scan(Box<scan::ScanArgs>),
    /// Add a server to the configurations of clients
    Add(Box<clients::AddArgs>),
    /// Remove a server from the configurations of clients
    Remove(clients::RemoveArgs),
    /// Take back the last change of `add`, `remove` or `sync`
    Undo(clients::UndoArgs),
    /// List the servers of all clients, and what is wrong with their entries
    List(clients::ListArgs),
    /// Bring a declared list of servers into clients
    Sync(clients::SyncArgs),
    /// Find the step at which a connection to a server fails, and what fixes it
    Doctor(Box<doctor::DoctorArgs>),
    /// List the clients that proof knows
    Clients(clients::ClientsArgs),
    /// Show which entries clients use
    Config(clients::ConfigArgs),
    /// Lock what a server tells the model, or show what changed since
    Lock(Box<lock::LockArgs>),
    /// Make a key that signs manifests
    Keygen(sign::KeygenArgs),
    /// Sign a manifest of a locked server
    Sign(sign::SignArgs),
    /// Verify a manifest, and that a server is the one that was signed
    Verify(Box<sign::VerifyArgs>),
    /// Explain a rule and how to fix a violation
    Explain(ExplainArgs),
    /// List the rules
    Rules(saved_reports::RulesArgs),
    /// Compare two JSON reports
    Diff(saved_reports::DiffArgs),
    /// Make an SVG badge from a JSON report
    Badge(saved_reports::BadgeArgs),
    /// Run the reference server
    Serve(Box<serve::ServeArgs>),
    /// Prepare a REST API that `serve --openapi` serves
    Factory(factory::FactoryArgs),
    /// Record the traffic between a client and a server
    Record(Box<record::RecordArgs>),
    /// Serve a recording
    Replay(Box<replay::ReplayArgs>),
    /// Serve many servers at one address, in every revision
    #[command(disable_help_flag = true)]
    Gateway(GatewayArgs),
    /// See, check and improve many servers together
    #[command(disable_help_flag = true)]
    Fleet(FleetArgs),
    /// Answer the questions of a checklist before production, with evidence
    #[command(disable_help_flag = true)]
    Ready(ReadyArgs),
    /// Read, try and keep MCP traffic on a page in the browser
    Inspect(Box<inspect::InspectArgs>),
    /// Send requests to a server: list, call, read, watch
    Client(Box<client::ClientArgs>),
    /// Print a shell completion script
    Completion(CompletionArgs),
    /// Print a manual page
    Man(ManArgs),
    /// Serve a client under test over stdio
    #[command(hide = true)]
    StdioBridge(check_client::BridgeArgs),
}

/// Explain a rule and how to fix a violation
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof explain tools.names-unique
  proof explain 'tools.*'")]
pub(crate) struct ExplainArgs {
    /// Rule id as in reports; a glob lists the rules that it matches
    #[arg(value_name = "RULE")]
    pub(crate) rule: String,
    #[command(flatten)]
    pub(crate) to: output::Destination,
}

/// Serve many servers at one address, in every revision
#[derive(Args)]
pub(crate) struct GatewayArgs {
    /// Arguments of the gateway; `proof gateway --help` explains them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<std::ffi::OsString>,
}

/// See, check and improve many servers together
#[derive(Args)]
pub(crate) struct FleetArgs {
    /// Arguments of the fleet; `proof fleet --help` explains them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<std::ffi::OsString>,
}

/// Answer the questions of a checklist before production, with evidence
#[derive(Args)]
pub(crate) struct ReadyArgs {
    /// Arguments of the checklist; `proof ready --help` explains them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<std::ffi::OsString>,
}

/// Print a shell completion script
#[derive(Args)]
pub(crate) struct CompletionArgs {
    /// Shell to complete for
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
    #[command(flatten)]
    pub(crate) to: output::Destination,
}

/// Print a manual page
#[derive(Args)]
#[command(mut_arg("output", |output| output.conflicts_with("all")))]
#[command(after_help = "\
Examples:
  proof man check | man -l -
  proof man --all ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Command to describe [default: proof itself]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// Write the pages of all commands to this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "command", help_heading = "Output")]
    pub(crate) all: Option<std::path::PathBuf>,
    #[command(flatten)]
    pub(crate) to: output::Destination,
}

/// Reads the command line; `Err` is the exit code after `--help`, `--version` or an error.
pub(crate) fn read() -> Result<Verb, Exit> {
    if let Some(exit) = topic() {
        return Err(exit);
    }
    match Cli::try_parse() {
        Ok(cli) => {
            colour::choose(cli.color.unwrap_or_default());
            Ok(cli.verb)
        }
        Err(mut error) => {
            if error.kind() == ErrorKind::InvalidSubcommand {
                let words: Vec<_> = std::env::args_os().skip(1).collect();
                if let Some(exit) = program::of_unknown_verb(&words) {
                    return Err(exit);
                }
            }
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            if asked || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
                // A closed pipe (`proof --help | head -1`) is no error.
                let _ = error.print();
            } else if let Some(exit) = lacking_dashes(&error) {
                return Err(exit);
            } else {
                add_suggestion(&mut error);
                // It quotes what was typed or pasted: without colours, so that every escape in it is foreign.
                tell(error.render().to_string().trim_end());
            }
            Err(if asked { Exit::Clean } else { Exit::Usage })
        }
    }
}

/// Answers `proof help TOPIC`; help about verbs is left to the parser.
fn topic() -> Option<Exit> {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let [_, help, word] = words.as_slice() else { return None };
    if help != "help" || word.starts_with('-') {
        return None;
    }
    if topics::is_topic(word) {
        return Some(topics::run(word));
    }
    let cli = Cli::command();
    let verbs: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
    (word != "help" && !verbs.contains(&word.as_str())).then(|| topics::unknown(word, &verbs))
}

/// Reports a command without the `--` before it, with the line to type.
fn lacking_dashes(error: &clap::Error) -> Option<Exit> {
    let is_of_option =
        matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(arg)) if arg.starts_with('-'));
    let is_unexpected = match error.kind() {
        ErrorKind::UnknownArgument => true,
        // A program where a URL belongs.
        ErrorKind::ValueValidation => !is_of_option,
        _ => false,
    };
    is_unexpected.then(dashes::of_this_run).flatten().map(|advice| without_dashes(&advice))
}

/// The same for a verb that takes any words, and found no server among them.
pub(crate) fn no_server(remedy: &str) -> Exit {
    match dashes::of_this_run() {
        Some(advice) => without_dashes(&advice),
        None => usage("no server given", remedy),
    }
}

fn without_dashes(advice: &dashes::Advice) -> Exit {
    let program = wire::escape::snippet(&advice.program, 60);
    usage(&format!("the command `{program}` needs `--` before it"), &advice.remedy())
}

/// Adds a suggestion to errors whose text alone does not help.
fn add_suggestion(error: &mut clap::Error) {
    order_suggestions(error);
    let advice = match error.kind() {
        ErrorKind::UnknownArgument if is_mistyped(error) => {
            // That the option could be passed on to the command is no advice on a slip.
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(Vec::new()));
            return;
        }
        ErrorKind::UnknownArgument if swapped_option(error).is_some() => {
            if let Some(name) = swapped_option(error) {
                error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{name}")));
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(Vec::new()));
            }
            return;
        }
        ErrorKind::UnknownArgument if lacks_dashes(error) => {
            "put the command and its arguments after `--`: -- npx -y my-server"
        }
        ErrorKind::ValueValidation if error.source().is_some_and(|why| why.is::<std::num::ParseIntError>()) => {
            "use a whole number, such as 7"
        }
        _ => return,
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice.into()]));
}

/// How many similar names are suggested.
const SUGGESTED: usize = 3;

/// Puts the most similar name first, and leaves out all but a few.
fn order_suggestions(error: &mut clap::Error) {
    let pairs = [
        (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
    ];
    for (invalid, suggested) in pairs {
        let (Some(ContextValue::String(typed)), Some(ContextValue::Strings(names))) =
            (error.get(invalid), error.get(suggested))
        else {
            continue;
        };
        let mut names = names.clone();
        let similarity = |name: &str| strsim::jaro_winkler(name, typed);
        names.sort_by(|one, other| similarity(other).total_cmp(&similarity(one)));
        names.truncate(SUGGESTED);
        error.insert(suggested, ContextValue::Strings(names));
    }
}

/// The option that an unexpected one is but for one letter: the parser finds none for short names.
fn swapped_option(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return None };
    let typed = typed.strip_prefix("--")?;
    dashes::options_of_this_run().into_iter().find(|name| strsim::osa_distance(typed, name) == 1)
}

/// Whether an unexpected option is nearly one that exists.
fn is_mistyped(error: &clap::Error) -> bool {
    error.get(ContextKind::SuggestedArg).is_some()
}

/// Whether an unexpected word is a command without the `--` before it.
fn lacks_dashes(error: &clap::Error) -> bool {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return false };
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    !word.starts_with('-') && usage.contains("-- <COMMAND>...")
}

/// How similar two names must be for a suggestion, from 0 to 1.
const MIN_SIMILARITY: f64 = 0.8;

/// The name most similar to an unknown one, if any is similar enough.
pub(crate) fn suggestion<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let similar = names.map(|other| (strsim::jaro_winkler(other, name), other));
    let (similarity, nearest) = similar.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (similarity > MIN_SIMILARITY || strsim::osa_distance(nearest, name) == 1).then_some(nearest)
}

/// Reports an unknown rule, with a suggestion.
pub(crate) fn unknown_rule(id: &str) -> Exit {
    let what = format!("unknown rule `{}`", wire::escape::line(id));
    let scans = || guard::scan::RULES.iter().map(|rule| rule.id);
    let of_scan = "`proof explain 'scan.*'` lists the rules of `proof scan`";
    // Known, but not to the verb that reports it.
    if scans().any(|scan| matches(id, scan)) {
        return usage(&what, of_scan);
    }
    match suggestion(id, rules::all_rules().map(|rule| rule.id).chain(scans())) {
        Some(similar) if similar.starts_with("scan.") => usage(&what, &format!("`{similar}`; {of_scan}")),
        None if id.starts_with("scan.") => usage(&what, of_scan),
        Some(similar) => usage(&what, &format!("`{similar}`; `proof rules` lists all rules")),
        None => usage(&what, "`proof rules` lists all rules; a glob such as `tools.*` selects several"),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_most_similar_verb_is_suggested_first() {
        for (typed, tip) in [("chek", "'check', 'check-client'"), ("clinet", "'client'"), ("tst", "'test'")] {
            let parsed = <super::Cli as clap::Parser>::try_parse_from(["proof", typed]);
            let mut error = parsed.err().expect("no such verb");
            super::add_suggestion(&mut error);
            let text = error.render().to_string();
            assert!(text.contains(tip) && text.matches('\'').count() <= 10, "{text}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }

    /// The deferred arguments of a verb bring a description of their own, which replaces the first.
    #[test]
    fn a_verb_has_one_description() {
        let descriptions = |command: &clap::Command| -> Vec<String> {
            let verbs = command.get_subcommands().filter(|verb| verb.get_name() != "help");
            verbs.map(|verb| format!("{} {:?}", verb.get_name(), verb.get_about())).collect()
        };
        let mut cli = super::Cli::command();
        let listed = descriptions(&cli);
        cli.build();
        assert_eq!(descriptions(&cli), listed);
        let verbs = <super::client::ClientVerb as clap::Subcommand>::augment_subcommands(clap::Command::new("client"));
        assert_eq!(cli.find_subcommand("client").map(descriptions), Some(descriptions(&verbs)));
    }

    /// Includes usage lines, which are not wrapped.
    #[test]
    fn no_line_of_any_help_is_longer_than_80_characters() {
        let mut cli = super::Cli::command();
        cli.build();
        let (mut pending, mut seen) = (vec![cli], 0);
        while let Some(mut command) = pending.pop() {
            for help in [command.render_help(), command.render_long_help()] {
                let help = help.to_string();
                let long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
                assert_eq!(long, [""; 0], "{}", command.get_name());
            }
            seen += 1;
            pending.extend(command.get_subcommands().cloned());
        }
        assert!(seen > 25, "{seen} commands");
    }
}

//! The command line as it is typed. What it means is [`check::CheckArgs::meaning`] and the like.

mod address;
pub(crate) mod auth;
pub(crate) mod check;
pub(crate) mod check_client;
pub(crate) mod client;
pub(crate) mod faults;
pub(crate) mod generate;
pub(crate) mod import;
pub(crate) mod line;
pub(crate) mod oauth;
pub(crate) mod output;
pub(crate) mod reach;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod reports;
pub(crate) mod select;
pub(crate) mod snapshot;
pub(crate) mod test;

use std::convert::Infallible;
use std::error::Error as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand};

use crate::exit::{Exit, usage};

/// Proves MCP servers and clients against every sentence of the specification.
#[derive(Parser)]
#[command(name = "proof", version, max_term_width = 80, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  proof check                               the built-in reference server
  proof check -- npx -y my-server           a server over stdio
  proof check http://127.0.0.1:3000/mcp     a server over HTTP
  proof check-client -- ./my-client         a client, over HTTP
  proof test weather.mcp.yaml               cases of your own
  proof generate -o t.mcp.yaml -- ./server  cases made from a server
  proof explain tools.names-unique          one rule, in full
  proof rules --only 'tools.*'              which rules there are

Exit codes: 0 clean, 1 finding, 2 usage, 3 no MCP answer, 4 our own bug")]
pub(crate) struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

/// What to do. What a verb takes is put together when that verb is used.
#[derive(Subcommand)]
#[command(defer = true)]
pub(crate) enum Verb {
    /// Judge a server
    Check(Box<check::CheckArgs>),
    /// Judge a client
    CheckClient(Box<check_client::CheckClientArgs>),
    /// Test a server by cases of your own
    Test(Box<test::TestArgs>),
    /// Make a test file from a live server
    Generate(Box<generate::GenerateArgs>),
    /// Write down what a server declares; tell what changed since
    Snapshot(Box<snapshot::SnapshotArgs>),
    /// Say what a rule demands, where, how it is judged, what mends it
    Explain(ExplainArgs),
    /// List the rules
    Rules(reports::RulesArgs),
    /// Say what changed between two JSON reports
    Diff(reports::DiffArgs),
    /// Draw a badge (SVG) from a JSON report
    Badge(reports::BadgeArgs),
    /// Run the reference server
    Serve(Box<ServeArgs>),
    /// Write down what crosses between a client and a server
    Record(record::RecordArgs),
    /// Serve a recording
    Replay(Box<replay::ReplayArgs>),
    /// Talk to a server: list, call, read, watch
    Client(Box<client::ClientArgs>),
    /// Print a script that lets a shell complete this command line
    Completion(CompletionArgs),
    /// Be the stdio server that a client under test starts
    #[command(hide = true)]
    StdioBridge(check_client::BridgeArgs),
}

/// Say what a rule demands, where, how it is judged, what mends it
#[derive(Args)]
pub(crate) struct ExplainArgs {
    /// A rule's id, as reports name it; globs list what they match
    #[arg(value_name = "RULE")]
    pub(crate) rule: String,
}

/// Print a script that lets a shell complete this command line
#[derive(Args)]
pub(crate) struct CompletionArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Run the reference server
#[derive(Args)]
#[group(skip)]
#[command(group(clap::ArgGroup::new("way").required(true).multiple(true).args(["stdio", "http", "list"])))]
#[command(after_help = "\
Examples:
  proof serve --stdio                              for a client that starts it
  proof serve --http 127.0.0.1:3000                http://127.0.0.1:3000/mcp
  proof serve --http 127.0.0.1:3000 --sse --ws     /sse and /ws beside it
  proof serve --http 127.0.0.1:0 --stdio           both, one server
  proof serve --stdio --resources docs             the files in docs, too
  proof serve --stdio --catalog weather.yaml       a server of your own making

Every transport reaches the same server: what one client changes, all see.
Ctrl-C or SIGTERM ends it, with --stdio the end of stdin too; the exit code
is 0.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that may be given or not")]
pub(crate) struct ServeArgs {
    /// Speak over stdin and stdout
    #[arg(long)]
    pub(crate) stdio: bool,
    /// Listen for Streamable HTTP at http://ADDR/mcp; port 0 picks a free one
    #[arg(long, value_name = "ADDR", value_parser = address::socket)]
    pub(crate) http: Option<SocketAddr>,
    /// Serve Streamable HTTP at this path instead of /mcp
    #[arg(long, default_value = "/mcp", requires = "http", value_parser = endpoint)]
    pub(crate) path: String,
    /// Serve the old HTTP+SSE (2024-11-05) at http://ADDR/sse too
    #[arg(long, requires = "http")]
    pub(crate) sse: bool,
    /// Serve WebSocket at ws://ADDR/ws too, every revision
    #[arg(long, requires = "http")]
    pub(crate) ws: bool,
    /// Refuse requests without MCP-Protocol-Version in sessions at 2025-06-18 or
    /// later, instead of taking them for the session's version
    #[arg(long, requires = "http")]
    pub(crate) strict: bool,
    /// Demand the bearer token that this environment variable holds
    #[arg(long, value_name = "VAR", requires = "http")]
    pub(crate) bearer_env: Option<String>,
    #[command(flatten)]
    pub(crate) auth: auth::AuthArgs,
    /// End a session after so long without a request or an open stream
    #[arg(long, value_name = "SECONDS", default_value_t = 1800, requires = "http",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) idle: u32,
    /// What to offer: `standard` (one of everything the protocol has), `official`
    /// (what the official conformance suite expects), or a YAML file of your own
    #[arg(long, value_name = "NAME|FILE", default_value = "standard")]
    pub(crate) catalog: Catalog,
    /// Serve the files in DIR and below as resources, read-only
    #[arg(long, value_name = "DIR")]
    pub(crate) resources: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) faults: faults::FaultArgs,
}

/// A path that requests can name as it is, and that nothing else is served at.
fn endpoint(path: &str) -> Result<String, &'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@/".contains(c);
    if !path.starts_with('/') || !path.chars().all(plain) {
        return Err("a path begins with / and holds no query, space or percent sign; try: /some/deep/mcp");
    }
    let taken = ["/sse", "/messages", "/ws"].contains(&path) || path.starts_with("/.well-known/");
    if taken { Err("something else may be served there; try: /some/deep/mcp") } else { Ok(path.to_owned()) }
}

/// A catalogue that is built in, or one in a file.
#[derive(Clone)]
pub(crate) enum Catalog {
    /// One of everything the protocol has.
    Standard,
    /// What the official conformance suite expects.
    Official,
    /// What a YAML file describes; `./official` is a file.
    File(PathBuf),
}

impl FromStr for Catalog {
    type Err = Infallible;

    fn from_str(name: &str) -> Result<Self, Infallible> {
        Ok(match name {
            "standard" => Self::Standard,
            "official" => Self::Official,
            path => Self::File(path.into()),
        })
    }
}

/// Reads the command line; on `--help`, `--version` and mistakes the exit code to end with.
pub(crate) fn read() -> Result<Verb, Exit> {
    match Cli::try_parse() {
        Ok(cli) => Ok(cli.verb),
        Err(mut error) => {
            advise(&mut error);
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // A closed pipe (`proof --help | head -1`) is nobody's mistake.
            let _ = error.print();
            Err(if asked { Exit::Clean } else { Exit::Usage })
        }
    }
}

/// Adds what may help, where the parser's own words do not.
fn advise(error: &mut clap::Error) {
    let advice = match error.kind() {
        ErrorKind::UnknownArgument if lacks_dashes(error) => {
            "a command and its arguments go after `--`: -- npx -y my-server"
        }
        ErrorKind::ValueValidation if error.source().is_some_and(|why| why.is::<std::num::ParseIntError>()) => {
            "a whole number, such as 7"
        }
        _ => return,
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice.into()]));
}

/// Whether a word is too much for a verb that takes a command: the dashes before that are forgotten.
fn lacks_dashes(error: &clap::Error) -> bool {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return false };
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    !word.starts_with('-') && usage.contains("-- <COMMAND>...")
}

/// How alike two names must be for one to be a slip for the other.
const ALIKE: f64 = 0.8;

/// Which of `names` may have been meant by one that is none of them.
pub(crate) fn meant<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let alike = names.map(|other| (strsim::jaro_winkler(other, name), other));
    let (likeness, nearest) = alike.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (likeness > ALIKE).then_some(nearest)
}

/// Says that there is no such rule, and which may have been meant.
pub(crate) fn unknown_rule(id: &str) -> Exit {
    let what = format!("no rule is called `{}`", wire::escape::line(id));
    match meant(id, rules::all_rules().map(|rule| rule.id)) {
        Some(meant) => usage(&what, &format!("`{meant}`; `proof explain '*'` lists every rule")),
        None => usage(&what, "`proof explain '*'` lists every rule; globs such as `tools.*` name many"),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }

    /// Where a verb's options are put together later, what is said of them counts.
    #[test]
    fn a_verb_is_described_in_its_help_as_in_the_list_of_verbs() {
        let told = |command: &clap::Command| -> Vec<String> {
            let verbs = command.get_subcommands().filter(|verb| verb.get_name() != "help");
            verbs.map(|verb| format!("{} {:?}", verb.get_name(), verb.get_about())).collect()
        };
        let mut cli = super::Cli::command();
        let listed = told(&cli);
        cli.build();
        assert_eq!(told(&cli), listed);
        let verbs = <super::client::ClientVerb as clap::Subcommand>::augment_subcommands(clap::Command::new("client"));
        assert_eq!(cli.find_subcommand("client").map(told), Some(told(&verbs)));
    }

    /// Usage lines too, which nothing wraps.
    #[test]
    fn no_line_of_any_help_is_longer_than_80_characters() {
        let mut cli = super::Cli::command();
        cli.build();
        let (mut waiting, mut seen) = (vec![cli], 0);
        while let Some(mut command) = waiting.pop() {
            for help in [command.render_help(), command.render_long_help()] {
                let help = help.to_string();
                let long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
                assert_eq!(long, [""; 0], "{}", command.get_name());
            }
            seen += 1;
            waiting.extend(command.get_subcommands().cloned());
        }
        assert!(seen > 25, "{seen} commands");
    }
}

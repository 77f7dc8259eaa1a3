//! The command line as it is typed. What it means is [`check::CheckArgs::meaning`] and the like.

pub(crate) mod check;
pub(crate) mod faults;

use std::net::SocketAddr;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};

use crate::exit::{Exit, usage};

/// Proves MCP servers against every sentence of the specification.
#[derive(Parser)]
#[command(name = "proof", version, max_term_width = 80, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  proof check                               the built-in reference server
  proof check -- npx -y my-server           a server over stdio
  proof check http://127.0.0.1:3000/mcp     a server over HTTP
  proof explain tools.names-unique          one rule, in full

Exit codes: 0 clean, 1 finding, 2 usage, 3 no MCP answer, 4 our own bug")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Verb {
    /// Judge a server
    Check(Box<check::CheckArgs>),
    /// Say what a rule demands, where, how it is judged and how to mend it
    Explain(ExplainArgs),
    /// Run the reference server
    Serve(ServeArgs),
}

/// Arguments of `explain`.
#[derive(Args)]
pub(crate) struct ExplainArgs {
    /// A rule's id, as reports name it; globs list what they match
    #[arg(value_name = "RULE")]
    pub(crate) rule: String,
}

/// Arguments of `serve`.
#[derive(Args)]
#[command(group(clap::ArgGroup::new("how").required(true)))]
pub(crate) struct ServeArgs {
    /// Speak over stdin and stdout
    #[arg(long, group = "how")]
    pub(crate) stdio: bool,
    /// Listen for Streamable HTTP at http://ADDR/mcp; port 0 picks a free one
    #[arg(long, value_name = "ADDR", group = "how")]
    pub(crate) http: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) faults: faults::FaultArgs,
}

/// Reads the command line; on `--help`, `--version` and mistakes the exit code to end with.
pub(crate) fn read() -> Result<Verb, Exit> {
    match Cli::try_parse() {
        Ok(cli) => Ok(cli.verb),
        Err(error) => {
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // A closed pipe (`proof --help | head -1`) is nobody's mistake.
            let _ = error.print();
            Err(if asked { Exit::Clean } else { Exit::Usage })
        }
    }
}

/// How alike two ids must be for one to be a slip for the other.
pub(crate) const ALIKE: f64 = 0.8;

/// Says that there is no such rule, and which may have been meant.
pub(crate) fn unknown_rule(id: &str) -> Exit {
    let what = format!("no rule is called `{}`", wire::escape::line(id));
    let alike = rules::book().map(|rule| (strsim::jaro_winkler(rule.id, id), rule.id));
    match alike.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(likeness, _)| *likeness > ALIKE) {
        Some((_, meant)) => usage(&what, &format!("`{meant}`; `proof explain '*'` lists every rule")),
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
}

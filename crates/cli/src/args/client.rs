//! `proof client`: options as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::faults::ClientFaultArgs;
use super::reach::{Reach, Target};

/// Talk to a server: list, call, read, watch
#[derive(Args)]
#[command(subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
#[command(override_usage = "\
proof client <VERB> [OPTIONS] --url <URL>
       proof client <VERB> [OPTIONS] -- <COMMAND>...
       proof client --conformance <URL> [OPTIONS]
       proof client --conformance [OPTIONS] -- <COMMAND>...")]
#[command(after_help = "\
Examples:
  proof client tools --url http://127.0.0.1:3000/mcp
  proof client call add a=2 b=3 -- npx -y my-server
  proof client call search 'filter:={\"tag\": [1, 2]}' --json --url URL
  proof client read file:///notes.txt -- ./my-server
  proof client call book --answer name=Ada --answer seats=2 -- ./my-server
  proof client watch --url URL

Exit codes: 0 done; 1 the tool or the server says that it failed; 2 usage;
3 no MCP answer; 4 our own bug.")]
pub(crate) struct ClientArgs {
    #[command(subcommand)]
    pub(crate) verb: Option<ClientVerb>,
    /// What was typed for a verb and is none
    #[arg(hide = true)]
    pub(crate) stray: Vec<String>,
    /// The server's command and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,

    /// The server's address: http(s):// or ws(s)://
    #[arg(long, global = true, value_name = "URL", help_heading = "Reaching the server")]
    url: Option<String>,
    /// The revision to speak [default: the newest that both know]
    #[arg(long, global = true, value_name = "R", help_heading = "Reaching the server")]
    pub(crate) revision: Option<String>,
    #[command(flatten)]
    pub(crate) reach: Reach,

    /// Do what the official conformance suite wants to see of a client, at URL
    /// or with the command after `--`
    #[arg(
        long,
        value_name = "URL",
        num_args = 0..=1,
        default_missing_value = "",
        conflicts_with = "url",
        help_heading = "What to do"
    )]
    pub(crate) conformance: Option<String>,
    #[command(flatten)]
    pub(crate) faults: ClientFaultArgs,

    /// What to say to forms and addresses: FIELD=VALUE, FIELD:=JSON, accept,
    /// decline or cancel (again for more)
    #[arg(long, global = true, value_name = "WHAT", help_heading = "Answering the server")]
    pub(crate) answer: Vec<String>,
    /// What the model says when the server asks it
    #[arg(long, global = true, value_name = "TEXT", help_heading = "Answering the server")]
    pub(crate) say: Option<String>,
    /// A directory that the server may know of as a root (again for more)
    #[arg(long, global = true, value_name = "DIR", help_heading = "Answering the server")]
    pub(crate) root: Vec<PathBuf>,

    /// Print the result as it came, as JSON, and nothing else
    #[arg(long, global = true, help_heading = "What comes out")]
    pub(crate) json: bool,
    /// Ask for progress of calls, and show it (as on a terminal)
    #[arg(long, global = true, help_heading = "What comes out")]
    pub(crate) progress: bool,
    /// Ask for log messages from this level on, and show them
    #[arg(long, global = true, value_name = "LEVEL", value_parser = LEVELS, help_heading = "What comes out")]
    pub(crate) log: Option<String>,
    /// Write images, sounds and other bytes into files in this directory
    #[arg(long, global = true, value_name = "DIR", help_heading = "What comes out")]
    pub(crate) save: Option<PathBuf>,
}

/// How grave a log message is.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// What to ask.
#[derive(Subcommand)]
#[command(defer = true)]
pub(crate) enum ClientVerb {
    /// Say who the server is and what it declares
    Discover(Bare),
    /// List its tools and what they take
    Tools(Bare),
    /// Call a tool
    Call(CallArgs),
    /// List its resources
    Resources(ResourcesArgs),
    /// Read a resource
    Read(ReadArgs),
    /// List its prompts and what they take
    Prompts(Bare),
    /// Get a prompt, filled in
    Get(GetArgs),
    /// Complete an argument of a prompt, or a variable of a template
    Complete(CompleteArgs),
    /// Tell what changes, until Ctrl-C
    Watch(WatchArgs),
    /// Ask whether it is there (`ping`, or else `server/discover`)
    Ping(Bare),
    /// Make any request
    Raw(RawArgs),
}

// What every verb takes.
#[derive(Args)]
pub(crate) struct Bare {
    /// The server's command and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Call a tool
#[derive(Args)]
pub(crate) struct CallArgs {
    /// The tool
    pub(crate) name: String,
    /// Its arguments: NAME=VALUE, read as the tool's schema wants, or NAME:=JSON
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) arguments: Vec<String>,
    /// The arguments as one JSON object; NAME=VALUE goes before
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    /// Send the arguments even where they do not fit the tool's schema
    #[arg(long)]
    pub(crate) unchecked: bool,
    #[command(flatten)]
    bare: Bare,
}

/// List its resources
#[derive(Args)]
pub(crate) struct ResourcesArgs {
    /// The templates of resources instead
    #[arg(long)]
    pub(crate) templates: bool,
    #[command(flatten)]
    bare: Bare,
}

/// Read a resource
#[derive(Args)]
pub(crate) struct ReadArgs {
    /// The resource
    pub(crate) uri: String,
    #[command(flatten)]
    bare: Bare,
}

/// Get a prompt, filled in
#[derive(Args)]
pub(crate) struct GetArgs {
    /// The prompt
    pub(crate) name: String,
    /// Its arguments
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) arguments: Vec<String>,
    #[command(flatten)]
    bare: Bare,
}

/// Complete an argument of a prompt, or a variable of a template
#[derive(Args)]
#[command(override_usage = "\
proof client complete [OPTIONS] <PROMPT|TEMPLATE> <NAME=VALUE>
                             [NAME=VALUE]... [-- <COMMAND>...]")]
pub(crate) struct CompleteArgs {
    /// A prompt's name, or the URI template of a resource
    #[arg(value_name = "PROMPT|TEMPLATE")]
    pub(crate) of: String,
    /// The argument, and how its value begins
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) argument: String,
    /// What other arguments are already
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) known: Vec<String>,
    #[command(flatten)]
    bare: Bare,
}

/// Tell what changes, until Ctrl-C
#[derive(Args)]
pub(crate) struct WatchArgs {
    /// Resources whose contents are watched, beside the lists
    #[arg(value_name = "URI")]
    pub(crate) uris: Vec<String>,
    /// End after so many changes
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<usize>,
    /// End after so many seconds
    #[arg(long = "for", value_name = "S", value_parser = super::reach::seconds)]
    pub(crate) span: Option<std::time::Duration>,
    #[command(flatten)]
    bare: Bare,
}

/// Make any request
#[derive(Args)]
pub(crate) struct RawArgs {
    /// The method
    pub(crate) method: String,
    /// Its parameters: a JSON object
    #[arg(value_name = "JSON")]
    pub(crate) params: Option<String>,
    #[command(flatten)]
    bare: Bare,
}

impl ClientVerb {
    /// The server's command.
    const fn command(&self) -> &[String] {
        let bare = match self {
            Self::Discover(bare) | Self::Tools(bare) | Self::Prompts(bare) | Self::Ping(bare) => bare,
            Self::Call(args) => &args.bare,
            Self::Resources(args) => &args.bare,
            Self::Read(args) => &args.bare,
            Self::Get(args) => &args.bare,
            Self::Complete(args) => &args.bare,
            Self::Watch(args) => &args.bare,
            Self::Raw(args) => &args.bare,
        };
        bare.command.as_slice()
    }
}

impl ClientArgs {
    /// Whom the user named.
    pub(crate) fn named(&self) -> Target<'_> {
        let command = self.verb.as_ref().map_or(&*self.command, ClientVerb::command);
        let suite = self.conformance.as_deref().filter(|url| !url.is_empty());
        Target { url: suite.or(self.url.as_deref()), command }
    }
}

//! Options of `proof client`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::address::{server, target};
use super::faults::ClientFaultArgs;
use super::output::Destination;
use super::reach::{Reach, Target};
use crate::exit::{Exit, usage};

/// Send requests to a server: list, call, read, watch
#[derive(Args)]
#[command(subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
#[command(mut_arg("output", |output| output.global(true)))]
#[command(override_usage = "\
proof client <VERB> [ARGUMENTS] [OPTIONS] <URL>
       proof client <VERB> [ARGUMENTS] [OPTIONS] -- <COMMAND>...
       proof client --conformance [OPTIONS] <URL>
       proof client --conformance [OPTIONS] -- <COMMAND>...")]
#[command(after_help = "\
Examples:
  proof client tools http://127.0.0.1:3000/mcp
  proof client call add a=2 b=3 http://127.0.0.1:3000/mcp
  proof client call search 'filter:={\"tag\": [1, 2]}' --json -- ./my-server
  proof client read file:///notes.txt -- ./my-server
  proof client call book --answer name=Ada --answer seats=2 -- ./my-server
  proof client watch http://127.0.0.1:3000/mcp

The server comes last: its URL, or its command after `--`.

Exit codes: 0 success; 1 the tool or the server reports an error; 2 usage
error; 3 no MCP answer; 4 bug in proof.")]
pub(crate) struct ClientArgs {
    #[command(subcommand)]
    pub(crate) verb: Option<ClientVerb>,
    /// Words that are no verb: the URL of `--conformance`, or a mistyped verb
    #[arg(hide = true)]
    pub(crate) words: Vec<String>,
    /// Server command and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,

    /// Server URL: http(s):// or ws(s)://
    #[arg(long = "url", global = true, value_name = "URL", value_parser = target, hide = true)]
    url_option: Option<String>,
    /// The server's URL, once it is taken out of the words of the verb
    #[arg(skip)]
    url: Option<String>,
    /// Revision to use [default: the newest that both support]
    #[arg(long, global = true, value_name = "R", help_heading = "Connection")]
    pub(crate) revision: Option<String>,
    #[command(flatten)]
    pub(crate) reach: Reach,

    /// Act as the client that the official conformance suite expects
    #[arg(
        long,
        value_name = "URL",
        num_args = 0..=1,
        default_missing_value = "",
        conflicts_with = "url_option",
        help_heading = "Modes"
    )]
    pub(crate) conformance: Option<String>,
    #[command(flatten)]
    pub(crate) faults: ClientFaultArgs,

    /// Answer elicitations: FIELD=VALUE, FIELD:=JSON, accept, decline or cancel
    /// (repeatable)
    #[arg(long, global = true, value_name = "WHAT", help_heading = "Answers to the server")]
    pub(crate) answer: Vec<String>,
    /// Answer sampling requests with TEXT
    #[arg(long, global = true, value_name = "TEXT", help_heading = "Answers to the server")]
    pub(crate) say: Option<String>,
    /// Offer DIR as a root (repeatable)
    #[arg(long, global = true, value_name = "DIR", help_heading = "Answers to the server")]
    pub(crate) root: Vec<PathBuf>,

    /// Print only the result, as JSON
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Destination,
    /// Request and show progress [default: on a terminal]
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) progress: bool,
    /// Request and show log messages of this level and above
    #[arg(long, global = true, value_name = "LEVEL", value_parser = LEVELS, help_heading = "Output")]
    pub(crate) log: Option<String>,
    /// Save images, audio and other binary content to DIR
    #[arg(long, global = true, value_name = "DIR", help_heading = "Output")]
    pub(crate) save: Option<PathBuf>,
}

/// The levels of log messages.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The verbs of the client.
#[derive(Subcommand)]
#[command(defer = true)]
pub(crate) enum ClientVerb {
    /// Show the server's name and what it declares
    Discover(Listing),
    /// List the tools and their arguments
    Tools(Listing),
    /// Call a tool
    Call(CallArgs),
    /// List the resources
    Resources(ResourcesArgs),
    /// Read a resource
    Read(ReadArgs),
    /// List the prompts and their arguments
    Prompts(Listing),
    /// Get a prompt
    Get(GetArgs),
    /// Complete an argument of a prompt or a resource template
    Complete(CompleteArgs),
    /// List the models of a server that has some, or select one
    Models(ModelsArgs),
    /// Show the metadata of a server that has `metadata/get`
    Metadata(Listing),
    /// Show changes until Ctrl-C
    Watch(WatchArgs),
    /// Check that the server answers (`ping` or `server/discover`)
    Ping(Listing),
    /// Send any request
    Raw(RawArgs),
}

// A doc comment here would replace the descriptions of the verbs.
#[derive(Args)]
pub(crate) struct Listing {
    /// Server URL: http(s):// or ws(s)://, or host:port
    #[arg(value_name = "URL", value_parser = target)]
    url: Option<String>,
    #[command(flatten)]
    server: ServerCommand,
}

// The command that every verb takes.
#[derive(Args)]
pub(crate) struct ServerCommand {
    /// Server command and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Call a tool
#[derive(Args)]
#[command(override_usage = "\
proof client call [OPTIONS] <TOOL> [NAME=VALUE]... <URL>
       proof client call [OPTIONS] <TOOL> [NAME=VALUE]... -- <COMMAND>...")]
pub(crate) struct CallArgs {
    /// Name of the tool
    #[arg(value_name = "TOOL")]
    pub(crate) name: String,
    /// Arguments: NAME=VALUE, converted by the tool's schema, or NAME:=JSON
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) arguments: Vec<String>,
    /// All arguments as a JSON object; NAME=VALUE takes precedence
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    /// Send the arguments without checking them against the tool's schema
    #[arg(long)]
    pub(crate) unchecked: bool,
    #[command(flatten)]
    server: ServerCommand,
}

/// List the resources
#[derive(Args)]
pub(crate) struct ResourcesArgs {
    /// List resource templates instead
    #[arg(long)]
    pub(crate) templates: bool,
    #[command(flatten)]
    listing: Listing,
}

/// Read a resource
#[derive(Args)]
pub(crate) struct ReadArgs {
    /// URI of the resource
    pub(crate) uri: String,
    #[command(flatten)]
    listing: Listing,
}

/// Get a prompt
#[derive(Args)]
#[command(override_usage = "\
proof client get [OPTIONS] <PROMPT> [NAME=VALUE]... <URL>
       proof client get [OPTIONS] <PROMPT> [NAME=VALUE]... -- <COMMAND>...")]
pub(crate) struct GetArgs {
    /// Name of the prompt
    #[arg(value_name = "PROMPT")]
    pub(crate) name: String,
    /// Arguments of the prompt
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) arguments: Vec<String>,
    #[command(flatten)]
    server: ServerCommand,
}

/// Complete an argument of a prompt or a resource template
#[derive(Args)]
#[command(override_usage = "\
proof client complete [OPTIONS] <PROMPT|TEMPLATE> <NAME=VALUE>
                             [KNOWN=VALUE]... <URL>
       proof client complete [OPTIONS] <PROMPT|TEMPLATE> <NAME=VALUE>
                             [KNOWN=VALUE]... -- <COMMAND>...")]
pub(crate) struct CompleteArgs {
    /// Name of a prompt, or URI template of a resource
    #[arg(value_name = "PROMPT|TEMPLATE")]
    pub(crate) of: String,
    /// Argument to complete, and the start of its value
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) argument: String,
    /// Other arguments with known values
    #[arg(value_name = "KNOWN=VALUE")]
    pub(crate) known: Vec<String>,
    #[command(flatten)]
    server: ServerCommand,
}

/// List the models of a server that has some, or select one
#[derive(Args)]
#[command(override_usage = "\
proof client models [OPTIONS] [NAME] <URL>
       proof client models [OPTIONS] [NAME] -- <COMMAND>...")]
pub(crate) struct ModelsArgs {
    /// Model to select, for the session
    #[arg(value_name = "NAME", num_args = 0..=2)]
    words: Vec<String>,
    #[command(flatten)]
    server: ServerCommand,
}

impl ModelsArgs {
    /// The model to select.
    pub(crate) fn name(&self) -> Option<&str> {
        self.words.first().map(String::as_str)
    }
}

/// Show changes until Ctrl-C
#[derive(Args)]
#[command(override_usage = "\
proof client watch [OPTIONS] [URI]... <URL>
       proof client watch [OPTIONS] [URI]... -- <COMMAND>...")]
pub(crate) struct WatchArgs {
    /// Resources to watch, in addition to the lists
    #[arg(value_name = "URI")]
    pub(crate) uris: Vec<String>,
    /// Stop after N changes
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<usize>,
    /// Stop after S seconds
    #[arg(long = "for", value_name = "S", value_parser = super::reach::seconds)]
    pub(crate) span: Option<std::time::Duration>,
    #[command(flatten)]
    server: ServerCommand,
}

/// Send any request
#[derive(Args)]
#[command(override_usage = "\
proof client raw [OPTIONS] <METHOD> [JSON] <URL>
       proof client raw [OPTIONS] <METHOD> [JSON] -- <COMMAND>...")]
pub(crate) struct RawArgs {
    /// Method of the request
    pub(crate) method: String,
    /// Parameters: a JSON object
    #[arg(value_name = "JSON", num_args = 0..=2)]
    pub(crate) params: Vec<String>,
    #[command(flatten)]
    server: ServerCommand,
}

impl ClientVerb {
    /// The server's command.
    const fn command(&self) -> &[String] {
        let server = match self {
            Self::Discover(args)
            | Self::Tools(args)
            | Self::Prompts(args)
            | Self::Ping(args)
            | Self::Metadata(args) => &args.server,
            Self::Models(args) => &args.server,
            Self::Resources(args) => &args.listing.server,
            Self::Read(args) => &args.listing.server,
            Self::Call(args) => &args.server,
            Self::Get(args) => &args.server,
            Self::Complete(args) => &args.server,
            Self::Watch(args) => &args.server,
            Self::Raw(args) => &args.server,
        };
        server.command.as_slice()
    }

    /// Takes the server's URL out of the verb's words: the last one.
    fn take_url(&mut self) -> Option<String> {
        let words = match self {
            Self::Discover(args)
            | Self::Tools(args)
            | Self::Prompts(args)
            | Self::Ping(args)
            | Self::Metadata(args) => return args.url.take(),
            Self::Models(args) => &mut args.words,
            Self::Resources(args) => return args.listing.url.take(),
            Self::Read(args) => return args.listing.url.take(),
            Self::Call(args) => &mut args.arguments,
            Self::Get(args) => &mut args.arguments,
            Self::Complete(args) => &mut args.known,
            Self::Watch(args) => &mut args.uris,
            Self::Raw(args) => &mut args.params,
        };
        url_at_end(words)
    }

    /// Whether the verb has a place for a URL alone: nothing else can stand there.
    const fn has_url(&self) -> bool {
        match self {
            Self::Discover(args)
            | Self::Tools(args)
            | Self::Prompts(args)
            | Self::Ping(args)
            | Self::Metadata(args) => args.url.is_some(),
            Self::Resources(args) => args.listing.url.is_some(),
            Self::Read(args) => args.listing.url.is_some(),
            _ => false,
        }
    }
}

/// Takes the last of some words, where it can only be the address of a server.
fn url_at_end(words: &mut Vec<String>) -> Option<String> {
    let is_url = |word: &str| ["http://", "https://", "ws://", "wss://"].iter().any(|scheme| word.starts_with(scheme));
    let url = words.last().and_then(|word| server(word).or_else(|| is_url(word).then(|| word.clone())))?;
    words.pop();
    Some(url)
}

impl ClientArgs {
    /// Takes the server's URL from the end of the verb's words, unless `--url` or a command names the server. A parser rule
    /// cannot do this: resources to watch are URLs, too.
    pub(crate) fn settle_target(&mut self) -> Result<(), Exit> {
        let named = self.url_option.is_some() || self.has_command();
        if named {
            if self.verb.as_ref().is_some_and(ClientVerb::has_url) {
                return Err(usage("several servers are named", "use one URL, or one command after `--`"));
            }
            return Ok(());
        }
        self.url = match &mut self.verb {
            Some(verb) => verb.take_url(),
            None => url_at_end(&mut self.words),
        };
        Ok(())
    }

    fn command(&self) -> &[String] {
        self.verb.as_ref().map_or(&*self.command, ClientVerb::command)
    }

    /// Whether the server is named by a command.
    pub(crate) fn has_command(&self) -> bool {
        !self.command().is_empty()
    }

    /// The target as typed.
    pub(crate) fn named(&self) -> Target<'_> {
        let suite = self.conformance.as_deref().filter(|url| !url.is_empty());
        let url = self.url_option.as_deref().or(self.url.as_deref());
        Target { url: suite.or(url), command: self.command() }
    }
}

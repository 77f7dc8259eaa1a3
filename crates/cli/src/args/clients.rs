//! Options of the verbs that read and change configurations of clients.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use clients::Scope;

use super::address::target;
use super::output::Destination;

/// Which clients, and which of their files.
#[derive(Args)]
#[group(skip)]
pub(crate) struct Selection {
    /// Clients, by the ids of `proof clients`
    #[arg(long, value_name = "ID[,ID]", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) client: Vec<String>,
    /// All clients that are found on this machine
    #[arg(long, conflicts_with = "client", help_heading = "Selection")]
    pub(crate) all: bool,
    /// local, project or user [default: local for Claude Code, user for others]
    #[arg(long, value_name = "SCOPE", help_heading = "Selection")]
    pub(crate) scope: Option<Scope>,
}

/// How a change is shown.
#[derive(Args)]
#[group(skip)]
pub(crate) struct Showing {
    /// Show the changes as a diff; write nothing
    #[arg(long, help_heading = "Output")]
    pub(crate) dry_run: bool,
    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

/// Add a server to the configurations of clients
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof add weather --client cursor -- npx -y weather-mcp@1.2.3
  proof add https://mcp.example.com/mcp --all
  proof add docs https://docs.example/mcp --client claude-code,vscode \\
            --header 'Authorization: Bearer ${DOCS_TOKEN}'
  proof add io.github.owner/name --registry server.json --client codex
  proof add pets ./openapi.yaml --client cursor
  proof add --from-claude 'claude mcp add myserver -- npx server' --client zed

`${NAME}` in a value becomes the reference of each client. A secret that is
given in clear becomes one, too, where the client has references.

Exit codes: 0 done; 1 a client was left out; 2 usage error, or nothing was
changed; 3 the server did not answer; 4 bug in proof.")]
#[expect(clippy::struct_excessive_bools, reason = "one for each option of the command line")]
pub(crate) struct AddArgs {
    /// Name of the server, its URL, its name in a registry, or an OpenAPI
    /// description that `proof serve` serves
    #[arg(value_name = "NAME|URL|FILE", value_parser = target, conflicts_with = "from_claude")]
    pub(crate) target: Option<String>,
    /// URL or OpenAPI description of the server, after its name
    #[arg(value_name = "URL|FILE", value_parser = target, conflicts_with = "command")]
    pub(crate) url: Option<String>,
    /// Command of the server and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Name of the server, where the first argument is not the name
    #[arg(long, value_name = "NAME", help_heading = "Server")]
    pub(crate) name: Option<String>,
    /// Variable of the server; without a value, a reference (repeatable)
    #[arg(long, value_name = "K[=V]", help_heading = "Server")]
    pub(crate) env: Vec<String>,
    /// Header of every request to the URL (repeatable)
    #[arg(long, value_name = "K: V", help_heading = "Server")]
    pub(crate) header: Vec<String>,
    /// How the URL is spoken to: http or sse [default: http]
    #[arg(long, value_name = "TRANSPORT", value_parser = ["http", "sse", "stdio"], help_heading = "Server")]
    pub(crate) transport: Option<String>,
    /// Take the server from a line `claude mcp add …`
    #[arg(long, value_name = "LINE", conflicts_with_all = ["url", "command", "env", "header", "transport"], help_heading = "Server")]
    pub(crate) from_claude: Option<String>,
    /// How to call the API of an OpenAPI description: credentials, choice of
    /// tools
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from_claude", "registry", "command"], help_heading = "Server")]
    pub(crate) api_config: Option<PathBuf>,
    /// server.json of the server: a file, or a registry's URL
    #[arg(long, value_name = "FILE|URL", requires = "target", help_heading = "Server")]
    pub(crate) registry: Option<String>,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Replace the whole entry of this name, also of another server
    #[arg(long, help_heading = "Change")]
    pub(crate) force: bool,
    /// Agree that secrets stand in clear in clients that have no references
    #[arg(long, help_heading = "Change")]
    pub(crate) clear_secrets: bool,
    /// Do not connect to the server after the change
    #[arg(long, help_heading = "Change")]
    pub(crate) no_verify: bool,
    /// How long the server may take to answer, in seconds [default: 30]
    #[arg(long, value_name = "S", value_parser = super::reach::seconds, help_heading = "Change")]
    pub(crate) timeout: Option<Duration>,
    /// Lock what the server tells the model, in mcp.lock
    #[arg(long, conflicts_with = "dry_run", help_heading = "Change")]
    pub(crate) lock: bool,
    #[command(flatten)]
    pub(crate) showing: Showing,
}

/// Remove a server from the configurations of clients
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof remove weather
  proof remove weather --client cursor --dry-run
  proof remove 'test-*' --match

The name must be the whole name. `proof undo` brings the entries back.

Exit codes: 0 removed; 1 a file was left alone; 2 usage error, or no such
server.")]
pub(crate) struct RemoveArgs {
    /// Name of the server
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Take the name as a pattern, in which `*` stands for anything
    #[arg(long = "match", help_heading = "Selection")]
    pub(crate) pattern: bool,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) showing: Showing,
}

/// Take back the last change of `add`, `remove` or `sync`
#[derive(Args)]
#[command(after_help = "\
A file that another program changed since is left alone; proof then names the
copy of the text before. The next `proof undo` goes on with the change before.

Exit codes: 0 taken back; 1 a file was left alone; 2 nothing to take back.")]
pub(crate) struct UndoArgs {
    #[command(flatten)]
    pub(crate) showing: Showing,
}

/// List the servers of all clients, and what is wrong with their entries
#[derive(Args)]
#[command(after_help = "\
Shows shadowed and duplicate entries, packages without a version, commands that
are not found, secrets in clear, and variables that are not set. No server is
started.

Exit codes: 0 listed; 1 a file cannot be read; 2 usage error.")]
pub(crate) struct ListArgs {
    /// Clients, by the ids of `proof clients` [default: all]
    #[arg(long, value_name = "ID[,ID]", value_delimiter = ',')]
    pub(crate) client: Vec<String>,
    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Destination,
}

/// Bring a declared list of servers into clients
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof sync mcp.servers.yaml --all
  proof sync mcp.servers.yaml --client cursor --check

The file:
  clients: [cursor, codex]            # where no --client is given
  servers:
    weather: { command: npx, args: [-y, weather-mcp@1.2.3] }
    docs: { url: https://docs.example/mcp }

Entries that the file does not name stay. A second run changes nothing.

Exit codes: 0 in sync; 1 drift (with --check), or a client was left out;
2 usage error.")]
pub(crate) struct SyncArgs {
    /// The declared list, in YAML or JSON
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Show what differs; write nothing
    #[arg(long, help_heading = "Change")]
    pub(crate) check: bool,
    /// Agree that secrets stand in clear in clients that have no references
    #[arg(long, help_heading = "Change")]
    pub(crate) clear_secrets: bool,
    #[command(flatten)]
    pub(crate) showing: Showing,
}

/// List the clients that proof knows
#[derive(Args)]
#[command(after_help = "\
The files are those of this user and this folder.")]
pub(crate) struct ClientsArgs {
    /// Only clients that are found on this machine
    #[arg(long)]
    pub(crate) found: bool,
    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Destination,
}

/// Show which entries clients use
#[derive(Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) verb: ConfigVerb,
}

/// What is shown.
#[derive(Subcommand)]
pub(crate) enum ConfigVerb {
    /// Show which entry of each name wins in this folder, and why
    Effective(EffectiveArgs),
}

/// Show which entry of each name wins in this folder, and why
#[derive(Args)]
#[command(after_help = "\
Exit codes: 0 shown; 1 a file cannot be read; 2 usage error.")]
pub(crate) struct EffectiveArgs {
    /// Clients, by the ids of `proof clients` [default: all with entries]
    #[arg(long, value_name = "ID[,ID]", value_delimiter = ',')]
    pub(crate) client: Vec<String>,
    /// Folder with Claude Code's managed files [default: the system's]
    #[arg(long, value_name = "DIR")]
    pub(crate) managed: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Destination,
}

//! The command line of `proof fleet`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use fleet::gate::GateKind;
use fleet::show::reports::ReportKind;

/// See, check and improve many MCP servers together
#[derive(Parser)]
#[command(
    name = "proof fleet",
    bin_name = "proof fleet",
    version,
    max_term_width = 80,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  proof fleet init                      Write fleet.yaml from this folder
  proof fleet run                       Compute the gates of all servers
  proof fleet status                    One line for each server
  proof fleet ui                        The same on a page in the browser
  proof fleet next                      The one action that helps most
  proof fleet playbook weather          What to do for one server
  proof fleet report compliance -o r.html

Gates are computed, never set: a stage is reached where all its gates and those
before are green on the server as it is now.

Each gate: https://github.com/proofhouse/proofhouse/blob/main/docs/fleet.md

Exit codes: 0 every server as wanted; 1 a server is not, or got worse; 2 usage
error; 3 no server answered; 4 bug in proof."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
    /// Fleet to work on
    #[arg(long, short, global = true, value_name = "FILE", default_value = "fleet.yaml")]
    pub(crate) file: PathBuf,
    /// Print the JSON Schema of fleet.yaml
    #[arg(long, exclusive = true)]
    pub(crate) schema: bool,
}

/// The verbs.
#[derive(Subcommand)]
pub(crate) enum Verb {
    /// Write a first fleet.yaml
    Init(InitArgs),
    /// Add servers that another file lists
    Import(ImportArgs),
    /// Print the list of all servers
    Inventory(InventoryArgs),
    /// List servers of clients that the inventory does not have
    Audit(ReadArgs),
    /// Compute the gates whose result does not hold any more
    Run(RunArgs),
    /// Show how every server stands
    Status(StatusArgs),
    /// Show the fleet on a page in the browser, and run it from there
    Ui(super::verbs::ui::UiArgs),
    /// Name the one action that helps most, and why
    Next(NextArgs),
    /// Show what to do for one server, step by step
    Playbook(ServerArgs),
    /// Show one server, its gates and findings
    Show(ShowArgs),
    /// Keep a server from rising above a stage
    Hold(HoldArgs),
    /// Release a server that is held
    Release(ServerArgs),
    /// Accept a red gate until a day
    Waive(WaiveArgs),
    /// Add a note to a server
    Note(NoteArgs),
    /// Show moves, trends and results of a server
    History(HistoryArgs),
    /// Show what changed between two runs
    Diff(DiffArgs),
    /// Write a report
    Report(ReportArgs),
    /// Write a badge of the fleet or a server
    Badge(BadgeArgs),
    /// Compute gates for a run elsewhere
    Worker(WorkerArgs),
    /// Send messages to webhooks that are due
    Deliver(DeliverArgs),
    /// Remove reports that no result refers to
    Gc(GcArgs),
}

#[derive(ClapArgs)]
pub(crate) struct InitArgs {
    /// Folder with the source code of servers
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Also take the servers of this user's clients
    #[arg(long)]
    pub(crate) clients: bool,
    /// Also take the servers behind a gateway: its gateway.yaml (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) gateway: Vec<PathBuf>,
}

#[derive(ClapArgs)]
pub(crate) struct ImportArgs {
    /// gateway.yaml, a client's configuration, mcp.servers.yaml, or an inventory
    /// as JSON or Markdown
    #[arg(value_name = "FILE")]
    pub(crate) source: PathBuf,
    /// Print the entries, and write nothing
    #[arg(long)]
    pub(crate) print: bool,
}

/// A verb that reads a fleet.
#[derive(ClapArgs)]
pub(crate) struct ReadArgs {
    /// Fleet to work on, in place of --file
    #[arg(value_name = "FILE")]
    pub(crate) fleet: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(ClapArgs)]
pub(crate) struct InventoryArgs {
    /// Fleet to work on, in place of --file
    #[arg(value_name = "FILE")]
    pub(crate) fleet: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value = "markdown")]
    pub(crate) format: InventoryFormat,
    /// Write to FILE instead of stdout
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub(crate) struct RunArgs {
    /// Fleet to work on, in place of --file
    #[arg(value_name = "FILE")]
    pub(crate) fleet: Option<PathBuf>,
    /// Only this server, or servers with this tag (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Only servers that fit, such as 'stage<6 owner:ada'
    #[arg(long, value_name = "FILTER", default_value = "", hide_default_value = true)]
    pub(crate) filter: String,
    /// Only this gate (repeatable)
    #[arg(long, value_name = "GATE")]
    pub(crate) gate: Vec<GateKind>,
    /// Start only servers of which a gate has no result that holds
    #[arg(long)]
    pub(crate) changed: bool,
    /// Compute again what has a result
    #[arg(long, conflicts_with = "changed")]
    pub(crate) again: bool,
    /// Also give jobs to workers, at this address of this machine
    #[arg(long, value_name = "ADDR", requires = "token_env")]
    pub(crate) listen: Option<std::net::SocketAddr>,
    /// Environment variable with the token of the workers
    #[arg(long, value_name = "VAR")]
    pub(crate) token_env: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(ClapArgs)]
pub(crate) struct StatusArgs {
    /// Fleet to work on, in place of --file
    #[arg(value_name = "FILE")]
    pub(crate) fleet: Option<PathBuf>,
    /// Only servers that fit, such as 'stage<6 gate:scanned=fail age>7d'
    #[arg(long, value_name = "FILTER")]
    pub(crate) filter: Option<String>,
    /// Saved filter and columns
    #[arg(long, value_name = "NAME", conflicts_with = "filter")]
    pub(crate) dashboard: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(ClapArgs)]
pub(crate) struct NextArgs {
    /// Fleet to work on, in place of --file
    #[arg(value_name = "FILE")]
    pub(crate) fleet: Option<PathBuf>,
    /// How many actions
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) count: usize,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(ClapArgs)]
pub(crate) struct ServerArgs {
    /// Name of a server
    pub(crate) server: String,
}

#[derive(ClapArgs)]
pub(crate) struct ShowArgs {
    /// Name of a server
    pub(crate) server: String,
    /// Only this gate, with all its findings
    pub(crate) gate: Option<GateKind>,
    /// Print the whole report of the gate, as JSON
    #[arg(long, requires = "gate")]
    pub(crate) report: bool,
}

#[derive(ClapArgs)]
pub(crate) struct HoldArgs {
    /// Name of a server
    pub(crate) server: String,
    /// Highest stage that it may have: a name or a number [default: its stage now]
    #[arg(long, value_name = "STAGE")]
    pub(crate) at: Option<String>,
    /// Why
    #[arg(long, value_name = "WHY")]
    pub(crate) reason: String,
    /// Who says so [default: you]
    #[arg(long, value_name = "WHO")]
    pub(crate) by: Option<String>,
}

#[derive(ClapArgs)]
pub(crate) struct WaiveArgs {
    /// Name of a server
    pub(crate) server: String,
    /// Red gate to accept
    #[arg(required_unless_present = "end")]
    pub(crate) gate: Option<GateKind>,
    /// Only findings of this rule
    #[arg(long, value_name = "RULE")]
    pub(crate) rule: Option<String>,
    /// Who answers for it
    #[arg(long, value_name = "WHO", required_unless_present = "end")]
    pub(crate) owner: Option<String>,
    /// Why
    #[arg(long, value_name = "WHY", required_unless_present = "end")]
    pub(crate) reason: Option<String>,
    /// Last day, such as 2027-01-31; at most a year from now
    #[arg(long, value_name = "DATE", required_unless_present = "end")]
    pub(crate) until: Option<String>,
    /// End a waiver by its number
    #[arg(long, value_name = "N", conflicts_with_all = ["gate", "rule", "owner", "reason", "until"])]
    pub(crate) end: Option<i64>,
}

#[derive(ClapArgs)]
pub(crate) struct NoteArgs {
    /// Name of a server
    pub(crate) server: String,
    /// Text of the note
    pub(crate) text: String,
    /// Who says so [default: you]
    #[arg(long, value_name = "WHO")]
    pub(crate) by: Option<String>,
}

#[derive(ClapArgs)]
pub(crate) struct HistoryArgs {
    /// Name of a server
    pub(crate) server: String,
    /// Only this gate
    pub(crate) gate: Option<GateKind>,
    /// How many results
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) count: u32,
}

#[derive(ClapArgs)]
pub(crate) struct DiffArgs {
    /// Number of the older run, or -1 for the one before the last
    #[arg(allow_negative_numbers = true, default_value_t = -1)]
    pub(crate) old: i64,
    /// Number of the newer run, or 0 for the last
    #[arg(allow_negative_numbers = true, default_value_t = 0)]
    pub(crate) new: i64,
}

#[derive(ClapArgs)]
pub(crate) struct ReportArgs {
    /// Kind of report
    #[arg(value_enum)]
    pub(crate) kind: Kind,
    /// One server [default: the whole fleet]
    pub(crate) server: Option<String>,
    /// Output format [default: by the name of the file; on a terminal, human]
    #[arg(long, value_enum)]
    pub(crate) format: Option<ReportFormat>,
    /// Write to FILE instead of stdout
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub(crate) struct BadgeArgs {
    /// One server [default: the whole fleet]
    pub(crate) server: Option<String>,
    /// Write to FILE instead of stdout
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub(crate) struct WorkerArgs {
    /// Address of `proof fleet run --listen` [default: the store that fleet.yaml names]
    #[arg(value_name = "URL", requires = "token_env")]
    pub(crate) coordinator: Option<String>,
    /// Environment variable with the token
    #[arg(long, value_name = "VAR")]
    pub(crate) token_env: Option<String>,
    /// Trust these certificates (PEM) in addition to the system's
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// End when there is nothing left to do
    #[arg(long)]
    pub(crate) until_empty: bool,
}

#[derive(ClapArgs)]
pub(crate) struct DeliverArgs {
    /// Fleet to work on, in place of --file
    #[arg(value_name = "FILE")]
    pub(crate) fleet: Option<PathBuf>,
    /// Send messages that come due within this time, too
    #[arg(long, value_name = "SECONDS", default_value_t = 0, hide_default_value = true)]
    pub(crate) wait: u32,
}

#[derive(ClapArgs)]
pub(crate) struct GcArgs {
    /// Keep everything that is younger
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) days: u32,
}

/// An output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text
    #[default]
    Human,
    /// One JSON document
    Json,
}

/// The format of an inventory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InventoryFormat {
    /// A table
    Markdown,
    /// One JSON document: proof.fleet-inventory/1
    Json,
}

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Text
    Human,
    /// A page that loads nothing
    Html,
    /// Markdown
    Markdown,
    /// One JSON document: proof.fleet-report/1
    Json,
}

/// A kind of report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// The specification
    Compliance,
    /// Test files and what they touch
    Tests,
    /// Scans, locks and signatures
    Security,
    /// Times
    Performance,
    /// The checklist before production
    Readiness,
}

impl From<Kind> for ReportKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Compliance => Self::Compliance,
            Kind::Tests => Self::Tests,
            Kind::Security => Self::Security,
            Kind::Performance => Self::Performance,
            Kind::Readiness => Self::Readiness,
        }
    }
}

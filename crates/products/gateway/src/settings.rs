//! What a gateway is made from: its upstreams, its clients' address, its limits. Values only; how they are written in a file
//! is the business of [`crate::config`].

mod answers;
mod assertions;
mod authzen;
mod bridge;
mod budgets;
mod consents;
mod context;
mod credentials;
mod guards;
mod inputs;
mod interceptors;
mod locks;
mod outputs;
mod replicas;
mod sanitize;
mod search;
mod slo;
mod store;
mod tasks;
mod telemetry;
mod traffic;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use net::HttpAddress;
use net::egress::Egress;
use net::process::{Command, Sandbox};
pub use net::server::tls::{ClientCertificates, TlsSettings};
use oauth::resource::{Introspection, Source};
use serde_json::{Map, Value};
use wire::Revision;

pub use answers::{AnswerSettings, CacheRule, CacheSettings, ErrorForm, IdempotencySettings, Writes};
pub use assertions::{AssertionKey, AssertionKeys, AssertionSettings};
pub use authzen::{AuthzenMapping, AuthzenSettings};
pub use bridge::BridgeSettings;
pub use budgets::{BudgetSettings, ClientBudget, ColdStart, ToolBudget, ToolClass};
pub use consents::{ConsentLogin, ConsentSettings};
pub use context::{ContextKind, ContextSettings, ContextValue};
pub use credentials::{CredentialGrant, CredentialSettings};
pub use guards::{ConfirmSettings, SequenceRule, SequenceScope};
pub use inputs::{InputRule, InputSettings, SecretInputs, UnknownInputs};
pub use interceptors::{InterceptorSettings, InterceptorTarget};
pub use locks::{LockSettings, ManifestSettings, Unlocked};
pub use outputs::{OutputSettings, SchemaMode};
pub use replicas::ReplicaSettings;
pub use sanitize::{Instructions, Personal, SanitizeSettings, TenantRecords};
pub use search::SearchSettings;
pub use slo::{SloSettings, ToolObjective};
pub use store::{SharedStoreSettings, StoreLoss, StoreSettings};
pub use tasks::TaskSettings;
pub use telemetry::{Sample, TelemetrySettings};
pub use traffic::{
    Amount, BreakerSettings, ConcurrencyRule, CostSettings, RateKey, RateRule, RetrySettings, TrafficSettings,
};

/// A gateway.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Where clients reach it; over HTTP only.
    pub listen: Option<SocketAddr>,
    /// The certificate that is shown there; without this, no TLS is spoken.
    pub tls: Option<TlsSettings>,
    /// Where those who run it find its pages. Without this they are at the address of clients.
    pub admin: Option<SocketAddr>,
    /// Host names that are allowed in `Host` and `Origin`, in addition to the address.
    pub hosts: Vec<String>,
    /// Origins of pages that are allowed.
    pub origins: Vec<String>,
    /// The servers behind it, in order: where two offer the same resource, the first one's counts.
    pub upstreams: Vec<UpstreamSettings>,
    /// What clients see of them, by address. Without servers, `/mcp` shows everything.
    pub servers: Vec<ServerSettings>,
    /// Whose tokens clients must send; without this, clients need no token.
    pub auth: Option<AuthSettings>,
    /// The gateway as the issuer of those tokens, in front of a provider.
    pub bridge: Option<Box<BridgeSettings>>,
    /// What each client may use: the first rule that fits decides, and without one it may not. Everything where there are no
    /// rules at all.
    pub access: Option<Vec<AccessRule>>,
    /// Who must allow it, too.
    pub authzen: Option<Box<AuthzenSettings>>,
    /// When `/ready` says so.
    pub ready: Ready,
    /// Where the traffic with clients is recorded.
    pub record: Option<RecordSettings>,
    /// The log of who asked for what.
    pub audit: Option<AuditSettings>,
    /// Where what must outlive the gateway is kept; without this, in memory.
    pub store: Option<StoreSettings>,
    /// How the gateways reach each other that serve clients as one.
    pub replicas: Option<ReplicaSettings>,
    /// Consents of users that the gateway calls servers in their name.
    pub consents: Option<ConsentSettings>,
    /// In whose name assertions are signed, and with which keys.
    pub assertions: Option<AssertionKeys>,
    /// Answers that are kept, and the form of errors.
    pub answers: AnswerSettings,
    /// How long calls of tools may take.
    pub budgets: Option<BudgetSettings>,
    /// How fast calls of tools shall be.
    pub slo: Option<SloSettings>,
    /// Which calls become tasks of the gateway.
    pub tasks: Option<TaskSettings>,
    /// How much clients may ask for, and what happens while an upstream fails.
    pub traffic: Option<TrafficSettings>,
    /// What servers learn of principals.
    pub context: Option<ContextSettings>,
    /// What is removed from what servers say.
    pub sanitize: Option<SanitizeSettings>,
    /// Who looks at calls on their way, in order.
    pub interceptors: Vec<InterceptorSettings>,
    /// Which calls of tools the user is asked about.
    pub confirm: Option<ConfirmSettings>,
    /// Tools that must not be called after others.
    pub sequences: Vec<SequenceRule>,
    /// What of the arguments of tools reaches servers.
    pub inputs: Option<InputSettings>,
    /// How results of tools are held against their schemas.
    pub outputs: Option<OutputSettings>,
    /// When clients search for tools instead of listing them.
    pub search: Option<SearchSettings>,
    /// Which lock servers are held against.
    pub lock: Option<LockSettings>,
    /// Where spans of requests go.
    pub telemetry: Option<TelemetrySettings>,
    /// Bounds.
    pub limits: Limits,
}

impl Settings {
    /// The claim of tokens by which one subject in two tenants is two users, if the gateway knows tenants.
    pub(crate) fn tenant_claim(&self) -> Option<&str> {
        let by_records = self.sanitize.as_ref().and_then(|sanitize| sanitize.tenants.as_ref());
        let by_records = by_records.map(|tenants| tenants.claim.as_str());
        by_records.or_else(|| self.context.as_ref()?.tenant_claim())
    }

    /// Whether what clients see is made the same way by `other`, apart from the servers, their upstreams and their answers.
    pub(crate) fn make_the_same(&self, other: &Self) -> bool {
        // A new member has to be sorted in here, or nothing compiles.
        let Self {
            // Compared for each server.
            upstreams: _,
            servers: _,
            answers: _,
            // In front of the servers, or beside them.
            listen: _,
            tls: _,
            admin: _,
            hosts: _,
            origins: _,
            auth: _,
            bridge: _,
            ready: _,
            record: _,
            audit: _,
            store: _,
            replicas: _,
            consents: _,
            // Upstreams hold what they need of it.
            assertions: _,
            telemetry: _,
            access,
            authzen,
            budgets,
            slo,
            tasks,
            traffic,
            context,
            sanitize,
            interceptors,
            confirm,
            sequences,
            inputs,
            outputs,
            search,
            lock,
            limits,
        } = self;
        let same = *access == other.access
            && *authzen == other.authzen
            && *budgets == other.budgets
            && *slo == other.slo
            && *tasks == other.tasks;
        let same = same && *traffic == other.traffic && *context == other.context && *sanitize == other.sanitize;
        let same = same && *interceptors == other.interceptors && *confirm == other.confirm;
        let same = same && *sequences == other.sequences && *inputs == other.inputs && *outputs == other.outputs;
        // What its files hold is compared for each server.
        same && *search == other.search && *lock == other.lock && *limits == other.limits
    }
}

/// Whose tokens clients must bring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthSettings {
    /// The name of the authorization server, exactly as tokens have it in `iss`.
    pub issuer: String,
    /// Where its keys are (JWKS).
    pub keys: Option<Source>,
    /// Where it is asked about tokens that are not signed; about all tokens where there are no keys.
    pub introspection: Option<Introspection>,
    /// What tokens must say in `aud`; by default the address of the endpoint that a request goes to.
    pub audience: Option<String>,
    /// Scheme, host and port by which clients reach the gateway; by default the address where it listens.
    pub public_url: Option<String>,
    /// The scopes that every token must have.
    pub scopes: Vec<String>,
    /// Where connections for its keys may lead.
    pub egress: Option<Egress>,
}

/// What a rule says of what fits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It may be used.
    Allow,
    /// It may not, and clients do not see it.
    Deny,
}

/// A rule of who may use what. Where it names no tools, prompts or resources, it is for all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRule {
    /// What it says.
    pub effect: Effect,
    /// Names of tools as clients see them, with `*`.
    pub tools: Option<Vec<String>>,
    /// Names of prompts.
    pub prompts: Option<Vec<String>>,
    /// URIs of resources, and templates of URIs.
    pub resources: Option<Vec<String>>,
    /// The scopes that the client's token must have, all of them.
    pub scopes: Vec<String>,
    /// What must be true, too.
    pub condition: Option<ConditionText>,
}

/// A condition in CEL, as it stands in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionText {
    /// The expression.
    pub text: String,
    /// Its line.
    pub line: usize,
    /// Its column.
    pub column: usize,
}

/// When the gateway counts as ready.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ready {
    /// As soon as one upstream answers.
    #[default]
    Any,
    /// When all upstreams answer.
    All,
    /// When these upstreams answer.
    Named(Vec<String>),
}

/// Where the traffic with clients is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordSettings {
    /// The folder of the recordings.
    pub folder: PathBuf,
    /// The size at which a recording ends and another one begins, in bytes.
    pub file_bytes: u64,
    /// How many recordings are kept.
    pub files: usize,
}

impl RecordSettings {
    /// Recordings in `folder`, with the usual bounds.
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder, file_bytes: 64 << 20, files: 16 }
    }
}

/// The log of who asked for what, and what came of it.
#[derive(Clone, PartialEq, Eq)]
pub struct AuditSettings {
    /// The folder of its files.
    pub folder: PathBuf,
    /// Whether a request whose record cannot be written is not answered.
    pub required: bool,
    /// Whether each record is on the disk before its request is answered or the next one is written.
    pub sync: bool,
    /// The size at which a file ends and another one begins, in bytes.
    pub file_bytes: u64,
    /// How many files are kept; all of them without a number.
    pub files: Option<usize>,
    /// What of the arguments is written.
    pub inputs: AuditInputs,
    /// The claim of tokens that names the tenant.
    pub tenant_claim: String,
    /// The private key that signs it, in PEM.
    pub key: Option<String>,
}

impl std::fmt::Debug for AuditSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key is a secret.
        f.debug_struct("AuditSettings").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl AuditSettings {
    /// A log in `folder`, with the usual bounds.
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            required: false,
            sync: false,
            file_bytes: 64 << 20,
            files: None,
            inputs: AuditInputs::Values,
            tenant_claim: "tenant_id".to_owned(),
            key: None,
        }
    }
}

/// What of the arguments of a request an audit log has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuditInputs {
    /// Their values, without secrets, long texts cut.
    #[default]
    Values,
    /// Their names and types.
    Names,
    /// Nothing.
    None,
}

/// The name of the server at `/mcp`; any other is at `/NAME/mcp`.
pub const DEFAULT_SERVER: &str = "default";

/// A server that clients see: some upstreams, and what of them.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSettings {
    /// Its name, which is in its address.
    pub name: String,
    /// The names of its upstreams, in order.
    pub upstreams: Vec<String>,
    /// Its tools.
    pub tools: Selection,
    /// Its prompts.
    pub prompts: Selection,
    /// Its resources and templates, by URI.
    pub resources: Selection,
    /// How to use it, in place of what the upstreams say.
    pub instructions: Option<String>,
    /// The longest name of a tool or a prompt that gets a prefix, in characters.
    pub longest_name: usize,
}

/// The longest name of a tool or a prompt that every client takes.
pub const LONGEST_NAME: usize = 60;

impl ServerSettings {
    /// Everything that these upstreams have.
    pub fn everything(name: &str, upstreams: Vec<String>) -> Self {
        Self {
            name: name.to_owned(),
            upstreams,
            tools: Selection::default(),
            prompts: Selection::default(),
            resources: Selection::default(),
            instructions: None,
            longest_name: LONGEST_NAME,
        }
    }

    /// The path of its Streamable HTTP endpoint.
    pub fn path(&self) -> String {
        format!("{}/mcp", self.prefix())
    }

    /// What stands before `/mcp`, `/sse` and `/ws`.
    pub fn prefix(&self) -> String {
        if self.name == DEFAULT_SERVER { String::new() } else { format!("/{}", self.name) }
    }
}

/// What clients see of one kind of item, and how it differs from what the upstream says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Only items that fit one of these; without patterns, everything.
    pub only: Option<Vec<Pattern>>,
    /// Nothing of what fits one of these.
    pub hide: Vec<Pattern>,
    /// Changes, by the item.
    pub change: Vec<(Pattern, Change)>,
}

/// A name or URI with `*` for any characters, of one upstream or of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The upstream; without one, any upstream.
    pub upstream: Option<String>,
    /// The text, with `*`.
    pub text: String,
}

/// How an item differs from what its upstream says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// Its name for clients.
    pub name: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Arguments that clients do not see and that always have these values.
    pub pin: Map<String, Value>,
}

/// One server behind a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamSettings {
    /// Its name: letters, digits, `-` and `_`.
    pub name: String,
    /// Where it is.
    pub target: Target,
    /// The revision to speak with it. Without one, the gateway detects it.
    pub revision: Option<Revision>,
    /// Who shares a session with it.
    pub sessions: Sessions,
    /// The tokens that it gets, in addition to its headers.
    pub credentials: Option<CredentialSettings>,
    /// The assertions that it gets with each request.
    pub assertion: Option<AssertionSettings>,
}

/// Where an upstream is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A program to start; it gets the variables with these names of our environment in addition to the usual ones.
    Command {
        /// The program.
        command: Command,
        /// Names of variables.
        inherit: Vec<String>,
        /// Bounds of the program.
        limits: CommandLimits,
    },
    /// An HTTP endpoint: Streamable HTTP or, where it refuses that, HTTP+SSE.
    Http(HttpAddress),
    /// A Streamable HTTP endpoint and nothing else.
    StreamableHttp(HttpAddress),
    /// The event stream of HTTP+SSE (2024-11-05).
    Sse(HttpAddress),
    /// A WebSocket.
    WebSocket(HttpAddress),
}

/// Bounds of a program that the gateway starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLimits {
    /// How often it may be started within a minute.
    pub starts_per_minute: Option<usize>,
    /// How much memory the program and what it starts may use together, in bytes. Watched on Linux only.
    pub memory: Option<u64>,
    /// Which files and ports it may reach; without this, all that the gateway may.
    pub sandbox: Option<Sandbox>,
}

/// Who shares a session with a legacy upstream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sessions {
    /// The clients of one principal that declare the same capabilities, except where the server may ask them something.
    #[default]
    PerPrincipal,
    /// Nobody: each client session has its own.
    PerClient,
}

/// Bounds of a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a request may go without an answer or progress.
    pub request: Duration,
    /// How long a request may take at all, even with progress.
    pub request_total: Duration,
    /// How long a server may take to start or to connect.
    pub start: Duration,
    /// How long a list waits for one of several servers.
    pub list: Duration,
    /// How long an upstream may take to end.
    pub shutdown: Duration,
    /// The largest message of an upstream, in bytes.
    pub message_bytes: usize,
    /// How long a modern client may take to answer a question of a legacy server.
    pub answer: Duration,
    /// How many sessions one upstream may have at once.
    pub sessions: usize,
    /// How long a session with an upstream is kept without a request.
    pub idle: Duration,
    /// How long requests under way may go on when the gateway ends.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request: Duration::from_mins(5),
            request_total: Duration::from_hours(1),
            start: Duration::from_mins(1),
            list: Duration::from_secs(5),
            shutdown: Duration::from_secs(2),
            message_bytes: 128 << 20,
            answer: Duration::from_mins(10),
            sessions: 256,
            idle: Duration::from_mins(10),
            drain: Duration::from_secs(10),
        }
    }
}

//! The peers: which there are, over which transports they run, how each is started, which revisions it speaks, and what is
//! said between it and our own. Data only; nothing here starts anything.

/// How we reach a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    /// A child of `proof`, spoken to over its standard streams.
    Stdio,
    /// Streamable HTTP on a loopback port.
    Http,
    /// The old HTTP+SSE pair of endpoints on a loopback port.
    Sse,
}

impl Transport {
    /// The name in `peers/expected.json` and in file names.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }

    /// Options of `proof check` in addition to the target.
    pub(super) const fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Stdio | Self::Http => &[],
            Self::Sse => &["--transport", "sse"],
        }
    }
}

/// At which of its revisions a peer is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Judged {
    /// As `proof check` does it by default.
    #[default]
    NewestOfEachEra,
    /// At all.
    All,
}

/// Which side of the protocol a peer is on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Side {
    /// It serves: `proof check` judges it, and `proof client` visits it.
    Server {
        /// What `proof client` asks of it in each era, and what must stand in the answer.
        visits: &'static [(&'static [&'static str], &'static str)],
    },
    /// It asks: `proof check-client` judges it, and it visits `proof serve`.
    Client {
        /// What it is judged in; all scenarios where empty.
        scenarios: &'static [&'static str],
    },
}

/// One peer over one transport.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) name: &'static str,
    pub(super) transport: Transport,
    /// The command line. `{node}`, `{modules}`, `{scripts}`, `{python}`, `{programs}`, `{peers}`, `{rust}`, `{hidden}` and
    /// `{files}` stand for places under `.peers/` and `peers/`, `{port}` for where a server is to listen. In a client's command `{url}` or `{server}` is its server, and `{era}` stands
    /// where its era can be chosen: `auto`, `legacy` or `modern`.
    pub(super) command: &'static [&'static str],
    /// Where it listens, for servers over HTTP.
    pub(super) path: &'static str,
    /// What it speaks over this transport, oldest first. A report that covers other revisions is a failure: a peer
    /// that is silently judged less than before must not look like a good one.
    pub(super) revisions: &'static [&'static str],
    pub(super) side: Side,
    /// Variables of its process, `NAME=VALUE`, with the same places.
    pub(super) env: &'static [&'static str],
    /// Options of `proof check` for it.
    pub(super) options: &'static [&'static str],
}

impl Peer {
    /// The name with the transport: unique.
    pub(super) fn id(&self) -> String {
        format!("{}-{}", self.name, self.transport.name())
    }

    /// Whether `--only NAME` means this one.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.id() == name
    }

    /// The address on a loopback port, for the servers that have one.
    pub(super) fn url(&self, port: u16) -> Option<String> {
        let served = self.transport != Transport::Stdio && matches!(self.side, Side::Server { .. });
        served.then(|| format!("http://127.0.0.1:{port}{}", self.path))
    }

    /// The newest revision of each era that it speaks.
    pub(super) fn eras(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let newest =
            |modern: bool| self.revisions.iter().copied().rfind(|revision| MODERN.contains(revision) == modern);
        [("legacy", newest(false)), ("modern", newest(true))]
            .into_iter()
            .filter_map(|(era, newest)| Some((era, newest?)))
    }

    /// Those of its revisions that are judged.
    pub(super) fn judged(&self, at: Judged) -> Vec<&'static str> {
        match at {
            Judged::All => self.revisions.to_vec(),
            Judged::NewestOfEachEra => self.eras().map(|(_, newest)| newest).collect(),
        }
    }

    /// Says what `proof client` asks of a server.
    const fn visited(mut self, visits: Visits) -> Self {
        self.side = Side::Server { visits };
        self
    }

    /// Sets variables of its process.
    pub(super) const fn with(mut self, env: &'static [&'static str]) -> Self {
        self.env = env;
        self
    }

    /// Adds options of `proof check`.
    pub(super) const fn checked(mut self, options: &'static [&'static str]) -> Self {
        self.options = options;
        self
    }

    /// Makes it a client, judged in these scenarios.
    pub(super) const fn plays(mut self, scenarios: &'static [&'static str]) -> Self {
        self.side = Side::Client { scenarios };
        self
    }
}

type Visits = &'static [(&'static [&'static str], &'static str)];

pub(super) const fn stdio(
    name: &'static str,
    command: &'static [&'static str],
    revisions: &'static [&'static str],
) -> Peer {
    Peer {
        name,
        transport: Transport::Stdio,
        command,
        path: "",
        revisions,
        side: Side::Server { visits: &[] },
        env: &[],
        options: &[],
    }
}

pub(super) const fn http(
    name: &'static str,
    command: &'static [&'static str],
    revisions: &'static [&'static str],
) -> Peer {
    Peer { transport: Transport::Http, path: "/mcp", ..stdio(name, command, revisions) }
}

/// Every revision.
const ALL: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
/// The `initialize` handshake, over stdio.
const LEGACY: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// Every revision that defines Streamable HTTP. The SDKs also accept 2024-11-05 there, which no revision provides for.
const HTTP_ALL: &[&str] = &["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
/// The `initialize` handshake, over Streamable HTTP.
const HTTP_LEGACY: &[&str] = &["2025-03-26", "2025-06-18", "2025-11-25"];
/// What tmcp serves, over stdio and over Streamable HTTP: 2025-11-25 is left out.
const TMCP: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2026-07-28"];
const HTTP_TMCP: &[&str] = &["2025-03-26", "2025-06-18", "2026-07-28"];
/// What mcp-lite serves.
const HTTP_MIDDLE: &[&str] = &["2025-03-26", "2025-06-18"];
/// What rust-mcp-sdk serves since its second version.
const MODERN: &[&str] = &["2026-07-28"];
/// The one revision that defines HTTP+SSE.
const SSE: &[&str] = &["2024-11-05"];

/// Our own server, offering what the official suite wants to find. Whoever judges it knows where its binary lies.
pub(super) const OFFICIAL: [Peer; 2] = [stdio("official", &[], ALL), http("official", &[], HTTP_ALL)];

pub(super) const EVERYTHING: &str = "{modules}/@modelcontextprotocol/server-everything/dist/index.js";
const MEMORY: &str = "{modules}/@modelcontextprotocol/server-memory/dist/index.js";
const THINKING: &str = "{modules}/@modelcontextprotocol/server-sequential-thinking/dist/index.js";
/// On the SDK for Go. It asks nothing of a Grafana before a tool is called.
const GRAFANA: &[&str] = &["{programs}/mcp-grafana", "-usage-stats", "disabled", "-enabled-tools", "search,datasource"];
const GRAFANA_HTTP: &[&str] = &[
    "{programs}/mcp-grafana",
    "-usage-stats",
    "disabled",
    "-enabled-tools",
    "search,datasource",
    "-transport",
    "streamable-http",
    "-address",
    "127.0.0.1:{port}",
];
const FILESYSTEM: &str = "{modules}/@modelcontextprotocol/server-filesystem/dist/index.js";

/// What the small servers of ours are asked.
const OURS: Visits = &[
    (&["discover"], "peer-"),
    (&["tools"], "countdown"),
    (&["call", "add", "a=2", "b=3"], "5"),
    (&["resources"], "memo://greeting"),
    (&["read", "memo://greeting"], "Good day."),
    (&["get", "summarize", "text=A"], "Sum this up"),
];
/// The same where every question starts a process.
const OURS_BRIEFLY: Visits = &[(&["call", "add", "a=2", "b=3"], "5"), (&["read", "memo://greeting"], "Good day.")];
const EVERYTHING_VISITS: Visits = &[
    (&["tools"], "echo"),
    (&["call", "echo", "message=Grüße"], "Grüße"),
    (&["get", "simple-prompt"], "simple prompt"),
];
const FILESYSTEM_VISITS: Visits = &[(&["tools"], "read_text_file"), (&["call", "list_allowed_directories"], "files")];
const TIME_VISITS: Visits = &[(&["tools"], "convert_time"), (&["call", "get_current_time", "timezone=UTC"], "UTC")];
const MEMORY_VISITS: Visits = &[(&["tools"], "create_entities"), (&["call", "read_graph"], "entities")];
const THINKING_VISITS: Visits = &[(
    &["call", "sequentialthinking", "thought=So", "nextThoughtNeeded=false", "thoughtNumber=1", "totalThoughts=1"],
    "thoughtNumber",
)];
const GRAFANA_VISITS: Visits = &[(&["discover"], "mcp-grafana"), (&["tools"], "search_dashboards")];
const GIT_VISITS: Visits = &[(&["tools"], "git_status"), (&["call", "git_status", "repo_path=."], "branch")];

/// Where each client takes a second of a processor to start: what shows the features, and what went wrong somewhere.
const SLOW: &[&str] = &[
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "sep-2322-client-request-state",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "lists",
    "prompts",
    "progress",
    "cancellation",
    "sampling",
    "subscriptions",
    "untyped-results",
    "pinged",
    "hostile.unknown-members",
    "hostile.wrong-id",
    "session-ended",
    "hostile.session-id-changes",
];
/// What clients can do that always do the same: list and call `echo`.
pub(super) const ONE_CALL: &[&str] =
    &["echo", "untyped-results", "pinged", "hostile.unknown-members", "hostile.unsupported-version", "session-ended"];

/// What the client on rmcp does in addition to listing and calling.
const FEATURES: &[&str] = &[
    "tools_call",
    "lists",
    "elicitation-sep1034-client-defaults",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "untyped-results",
    "session-ended",
    "hostile.session-id-changes",
];
/// What is different over stdio: how a request is given up, what stands between the messages, and the end.
const OVER_STDIO: &[&str] = &["lists", "cancellation", "hostile.garbage", "hostile.stdout-banner", "hostile.lingers"];

const INSPECTOR: &str = "{modules}/@modelcontextprotocol/inspector/clients/launcher/build/index.js";

/// Every peer over every transport, in the order in which they are judged.
pub(super) const PEERS: &[Peer] = &[
    stdio("server-everything", &["{node}", EVERYTHING, "stdio"], LEGACY).visited(EVERYTHING_VISITS),
    http("server-everything", &["{node}", EVERYTHING, "streamableHttp"], HTTP_LEGACY).visited(EVERYTHING_VISITS),
    Peer {
        name: "server-everything",
        transport: Transport::Sse,
        command: &["{node}", EVERYTHING, "sse"],
        path: "/sse",
        revisions: SSE,
        side: Side::Server { visits: EVERYTHING_VISITS },
        env: &[],
        options: &[],
    },
    stdio("ts-sdk", &["{node}", "{scripts}/ts-sdk.mjs", "stdio"], ALL).visited(OURS_BRIEFLY),
    http("ts-sdk", &["{node}", "{scripts}/ts-sdk.mjs", "http"], HTTP_ALL).visited(OURS),
    stdio("py-sdk", &["{python}", "{peers}/py_sdk.py", "stdio"], ALL).visited(OURS_BRIEFLY),
    http("py-sdk", &["{python}", "{peers}/py_sdk.py", "http"], HTTP_ALL).visited(OURS),
    stdio("rmcp", &["{rust}/rmcp-server", "stdio"], ALL).visited(OURS_BRIEFLY),
    http("rmcp", &["{rust}/rmcp-server", "http"], HTTP_ALL).visited(OURS),
    stdio("server-filesystem", &["{node}", FILESYSTEM, "{files}"], LEGACY).visited(FILESYSTEM_VISITS),
    stdio("server-time", &["{python}", "-m", "mcp_server_time", "--local-timezone", "UTC"], ALL).visited(TIME_VISITS),
    stdio("server-memory", &["{node}", MEMORY], LEGACY).visited(MEMORY_VISITS),
    stdio("server-thinking", &["{node}", THINKING], LEGACY).visited(THINKING_VISITS),
    stdio("server-git", &["{python}", "-m", "mcp_server_git"], ALL).visited(GIT_VISITS),
    stdio("ts-fastmcp", &["{node}", "{scripts}/ts-fastmcp.mjs", "stdio"], LEGACY).visited(OURS_BRIEFLY),
    http("ts-fastmcp", &["{node}", "{scripts}/ts-fastmcp.mjs", "http"], HTTP_LEGACY).visited(OURS),
    http("py-fastmcp", &["{python}", "{peers}/py_fastmcp.py", "http"], HTTP_ALL).visited(OURS),
    stdio("tmcp", &["{node}", "{scripts}/tmcp.mjs", "stdio"], TMCP).visited(OURS_BRIEFLY),
    http("tmcp", &["{node}", "{scripts}/tmcp.mjs", "http"], HTTP_TMCP).visited(OURS),
    stdio("grafana", GRAFANA, ALL).visited(GRAFANA_VISITS),
    http("grafana", GRAFANA_HTTP, HTTP_ALL).visited(GRAFANA_VISITS),
    http("mcp-lite", &["{node}", "{scripts}/mcp-lite.mjs"], HTTP_MIDDLE).visited(OURS),
    stdio("rust-mcp-sdk", &["{rust}/rust-mcp-sdk-server"], MODERN).visited(OURS_BRIEFLY),
    http("ts-sdk1-client", &["{node}", "{scripts}/ts-sdk1-client.mjs", "legacy", "{url}"], HTTP_LEGACY).plays(&[]),
    stdio("ts-sdk1-client", &["{node}", "{scripts}/ts-sdk1-client.mjs", "legacy", "{server}"], LEGACY)
        .plays(OVER_STDIO),
    http("ts-sdk-client", &["{node}", "{scripts}/ts-sdk-client.mjs", "{era}", "{url}"], HTTP_ALL).plays(&[]),
    stdio("ts-sdk-client", &["{node}", "{scripts}/ts-sdk-client.mjs", "{era}", "{server}"], ALL).plays(OVER_STDIO),
    http("py-sdk-client", &["{python}", "{peers}/py_client.py", "{era}", "{url}"], HTTP_ALL).plays(SLOW),
    stdio("py-sdk-client", &["{python}", "{peers}/py_client.py", "{era}", "{server}"], ALL).plays(OVER_STDIO),
    http("rmcp-client", &["{rust}/rmcp-client", "{era}", "{url}"], HTTP_ALL).plays(FEATURES),
    http(
        "inspector-cli",
        &[
            "{node}",
            INSPECTOR,
            "--cli",
            "{url}",
            "--protocol-era",
            "{era}",
            "--method",
            "tools/call",
            "--tool-name",
            "echo",
            "--tool-arg",
            "message=Good day",
        ],
        HTTP_ALL,
    )
    .plays(ONE_CALL),
    http("fastmcp-cli", &["{programs}/fastmcp", "call", "{url}", "echo", "message=Good day"], HTTP_ALL).plays(ONE_CALL),
];

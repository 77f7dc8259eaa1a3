//! The peers: which there are, over which transports they run, how each is started, and which revisions it serves.
//! Data only; nothing here starts anything.

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

    /// What `proof check` must be told besides the target.
    pub(super) const fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Stdio | Self::Http => &[],
            Self::Sse => &["--transport", "sse"],
        }
    }
}

/// One peer over one transport.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) name: &'static str,
    pub(super) transport: Transport,
    /// The command line. `{node}`, `{modules}`, `{scripts}`, `{python}`, `{peers}`, `{rust}` and `{files}` stand for
    /// places under `.peers/` and `peers/`.
    pub(super) command: &'static [&'static str],
    /// Where it listens, for HTTP.
    pub(super) path: &'static str,
    /// What it serves over this transport, oldest first. A report that covers other revisions is a failure: a peer
    /// that is silently judged less than before must not look like a good one.
    pub(super) revisions: &'static [&'static str],
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

    /// The address on a loopback port, for the transports that have one.
    pub(super) fn url(&self, port: u16) -> Option<String> {
        (self.transport != Transport::Stdio).then(|| format!("http://127.0.0.1:{port}{}", self.path))
    }
}

const fn stdio(name: &'static str, command: &'static [&'static str], revisions: &'static [&'static str]) -> Peer {
    Peer { name, transport: Transport::Stdio, command, path: "", revisions }
}

const fn http(name: &'static str, command: &'static [&'static str], revisions: &'static [&'static str]) -> Peer {
    Peer { name, transport: Transport::Http, command, path: "/mcp", revisions }
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

const EVERYTHING: &str = "{modules}/@modelcontextprotocol/server-everything/dist/index.js";
const MEMORY: &str = "{modules}/@modelcontextprotocol/server-memory/dist/index.js";
const THINKING: &str = "{modules}/@modelcontextprotocol/server-sequential-thinking/dist/index.js";
const FILESYSTEM: &str = "{modules}/@modelcontextprotocol/server-filesystem/dist/index.js";

/// Every peer over every transport, in the order in which they are judged.
pub(super) const PEERS: &[Peer] = &[
    stdio("server-everything", &["{node}", EVERYTHING, "stdio"], LEGACY),
    http("server-everything", &["{node}", EVERYTHING, "streamableHttp"], HTTP_LEGACY),
    Peer {
        name: "server-everything",
        transport: Transport::Sse,
        command: &["{node}", EVERYTHING, "sse"],
        path: "/sse",
        revisions: SSE,
    },
    stdio("ts-sdk", &["{node}", "{scripts}/ts-sdk.mjs", "stdio"], ALL),
    http("ts-sdk", &["{node}", "{scripts}/ts-sdk.mjs", "http"], HTTP_ALL),
    stdio("py-sdk", &["{python}", "{peers}/py_sdk.py", "stdio"], ALL),
    http("py-sdk", &["{python}", "{peers}/py_sdk.py", "http"], HTTP_ALL),
    stdio("rmcp", &["{rust}/rmcp-server", "stdio"], ALL),
    http("rmcp", &["{rust}/rmcp-server", "http"], HTTP_ALL),
    stdio("server-filesystem", &["{node}", FILESYSTEM, "{files}"], LEGACY),
    stdio("server-time", &["{python}", "-m", "mcp_server_time", "--local-timezone", "UTC"], ALL),
    stdio("server-memory", &["{node}", MEMORY], LEGACY),
    stdio("server-thinking", &["{node}", THINKING], LEGACY),
    stdio("server-git", &["{python}", "-m", "mcp_server_git"], ALL),
    stdio("ts-fastmcp", &["{node}", "{scripts}/ts-fastmcp.mjs", "stdio"], LEGACY),
    http("ts-fastmcp", &["{node}", "{scripts}/ts-fastmcp.mjs", "http"], HTTP_LEGACY),
    http("py-fastmcp", &["{python}", "{peers}/py_fastmcp.py", "http"], HTTP_ALL),
    stdio("tmcp", &["{node}", "{scripts}/tmcp.mjs", "stdio"], TMCP),
    http("tmcp", &["{node}", "{scripts}/tmcp.mjs", "http"], HTTP_TMCP),
    http("mcp-lite", &["{node}", "{scripts}/mcp-lite.mjs"], HTTP_MIDDLE),
    stdio("rust-mcp-sdk", &["{rust}/rust-mcp-sdk-server"], MODERN),
];

//! The servers of the corpus: how each is started, and what it may be asked. Data only. What arguments mean something to one
//! stands in `peers/arguments/NAME.json`.

/// One server.
pub(super) struct Server {
    pub(super) name: &'static str,
    /// Where it comes from.
    pub(super) origin: &'static str,
    /// The command line; places as in the catalog of the peers, and `{folder}`, a new folder.
    pub(super) command: &'static [&'static str],
    /// Variables, with the same places.
    pub(super) env: &'static [(&'static str, &'static str)],
    /// Options for `proof generate`.
    pub(super) options: &'static [&'static str],
    /// What is run before it, in its folder.
    pub(super) prepare: &'static [&'static str],
    /// Whether it wants something to fetch, at `{port}`.
    pub(super) fetches: bool,
}

const fn server(name: &'static str, origin: &'static str, command: &'static [&'static str]) -> Server {
    Server { name, origin, command, env: &[], options: &["--call", "all"], prepare: &[], fetches: false }
}

impl Server {
    const fn with(mut self, env: &'static [(&'static str, &'static str)]) -> Self {
        self.env = env;
        self
    }

    const fn with_options(mut self, options: &'static [&'static str]) -> Self {
        self.options = options;
        self
    }

    const fn after(mut self, prepare: &'static [&'static str]) -> Self {
        self.prepare = prepare;
        self
    }

    const fn fetching(mut self) -> Self {
        self.fetches = true;
        self
    }
}

const EVERYTHING: &str = "{modules}/@modelcontextprotocol/server-everything/dist/index.js";
const MEMORY: &str = "{modules}/@modelcontextprotocol/server-memory/dist/index.js";
const THINKING: &str = "{modules}/@modelcontextprotocol/server-sequential-thinking/dist/index.js";
const FILESYSTEM: &str = "{modules}/@modelcontextprotocol/server-filesystem/dist/index.js";
const HELLO: &str = "{modules}/mcp-hello-world/build/stdio.js";
const SHRIMP: &str = "{modules}/mcp-shrimp-task-manager/dist/index.js";

/// An entity to be observed.
const REMEMBERED: &str =
    r#"open("memory.jsonl", "w").write('{"type":"entity","name":"proof","entityType":"proof","observations":[]}')"#;
const WORKBOOK: &str = r#"
import openpyxl
book = openpyxl.Workbook()
for row in [["one", 2], ["three", 4]]:
    book.active.append(row)
book.save("t.xlsx")
"#;
const DATABASE: &str = r#"
import sqlite3
base = sqlite3.connect("t.db")
base.execute("CREATE TABLE t (a)")
base.execute("INSERT INTO t VALUES (1)")
base.commit()
"#;

/// All of them.
pub(super) const SERVERS: &[Server] = &[
    // One of its tools fetches from the network, and says that it does not only read.
    server("everything", "npm @modelcontextprotocol/server-everything", &["{node}", EVERYTHING, "stdio"])
        .with_options(&[]),
    server("filesystem", "npm @modelcontextprotocol/server-filesystem", &["{node}", FILESYSTEM, "{folder}"]),
    server("memory", "npm @modelcontextprotocol/server-memory", &["{node}", MEMORY])
        .with(&[("MEMORY_FILE_PATH", "{folder}/memory.jsonl")])
        .after(&["{python}", "-c", REMEMBERED]),
    server("thinking", "npm @modelcontextprotocol/server-sequential-thinking", &["{node}", THINKING]),
    server("hello-world", "npm mcp-hello-world", &["{node}", HELLO]),
    server("shrimp", "npm mcp-shrimp-task-manager", &["{node}", SHRIMP]).with(&[("DATA_DIR", "{folder}/shrimp")]),
    server(
        "ts-sdk",
        "npm @modelcontextprotocol/server, a small server on it",
        &["{node}", "{scripts}/ts-sdk.mjs", "stdio"],
    ),
    server("ts-fastmcp", "npm fastmcp, a small server on it", &["{node}", "{scripts}/ts-fastmcp.mjs", "stdio"]),
    server("tmcp", "npm tmcp, a small server on it", &["{node}", "{scripts}/tmcp.mjs", "stdio"]),
    server("time", "PyPI mcp-server-time", &["{python}", "-m", "mcp_server_time", "--local-timezone", "UTC"]),
    server("git", "PyPI mcp-server-git", &["{python}", "-m", "mcp_server_git"]),
    server("fetch", "PyPI mcp-server-fetch", &["{python}", "-m", "mcp_server_fetch"]).fetching(),
    // The tools that change a workbook would need one of their own each.
    server("excel", "PyPI excel-mcp-server", &["{programs}/excel-mcp-server", "stdio"])
        .with_options(&[])
        .with(&[("EXCEL_FILES_PATH", "{folder}")])
        .after(&["{python}", "-c", WORKBOOK]),
    server("sqlite", "PyPI mcp-server-sqlite", &["{programs1}/mcp-server-sqlite", "--db-path", "{folder}/t.db"])
        .after(&["{python}", "-c", DATABASE]),
    server("calculator", "PyPI mcp-server-calculator", &["{programs1}/mcp-server-calculator"]),
    server("py-sdk", "PyPI mcp, a small server on it", &["{python}", "{peers}/py_sdk.py", "stdio"]),
    server("rmcp", "crate rmcp, a small server on it", &["{rust}/rmcp-server", "stdio"]),
    server("rust-mcp-sdk", "crate rust-mcp-sdk, a small server on it", &["{rust}/rust-mcp-sdk-server"]),
];

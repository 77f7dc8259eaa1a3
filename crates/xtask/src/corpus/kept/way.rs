//! The ways to reach a server of the kept corpus: a transport, with a revision that it carries. Starts nothing.

use std::fmt::Write as _;

use anyhow::Context as _;

/// How a server is reached.
#[derive(Debug)]
pub(super) struct Way {
    /// The transport, also in the file's name.
    pub(super) name: &'static str,
    pub(super) revision: &'static str,
    /// The options of `proof serve`; `{port}` is a free port.
    serve: &'static [&'static str],
    /// The address; none over stdio.
    pub(super) url: Option<&'static str>,
    /// The value of `--transport`, where it is not detected.
    transport: Option<&'static str>,
}

pub(super) static STDIO: Way =
    Way { name: "stdio", revision: "2026-07-28", serve: &["--stdio"], url: None, transport: None };

pub(super) static OTHERS: [Way; 3] = [
    Way {
        name: "http",
        revision: "2025-06-18",
        serve: &["--http", "127.0.0.1:{port}"],
        url: Some("http://127.0.0.1:{port}/mcp"),
        transport: None,
    },
    Way {
        name: "ws",
        revision: "2025-03-26",
        serve: &["--http", "127.0.0.1:{port}", "--ws"],
        url: Some("ws://127.0.0.1:{port}/mcp/ws"),
        transport: None,
    },
    Way {
        name: "sse",
        revision: "2024-11-05",
        serve: &["--http", "127.0.0.1:{port}", "--sse"],
        url: Some("http://127.0.0.1:{port}/sse"),
        transport: Some("sse"),
    },
];

impl Way {
    /// The command that serves the catalogue.
    pub(super) fn command(&self, server: &str) -> Vec<String> {
        let catalogue = format!("servers/{server}.yaml");
        let words = ["proof", "serve"].iter().chain(self.serve).map(|word| (*word).to_owned());
        words.chain(["--catalog".to_owned(), catalogue]).collect()
    }

    /// The options of a verb, and the target behind them.
    pub(super) fn targeted(&self, options: &[&str], target: &[String]) -> Vec<String> {
        let mut words: Vec<String> = options.iter().copied().map(str::to_owned).collect();
        words.extend(self.transport.iter().flat_map(|name| ["--transport", *name]).map(str::to_owned));
        if self.url.is_none() {
            words.push("--".to_owned());
        }
        words.extend_from_slice(target);
        words
    }

    /// A generated file with the server that anyone can start in place of the one that was running.
    pub(super) fn rewritten(&self, text: &str, server: &str) -> anyhow::Result<String> {
        let cases = text.find("\nmatrix:").context("the generated file has no `matrix`")?;
        let command = serde_json::to_string(&self.command(server))?;
        let mut out = format!("# The server `{server}` over {}. Made by: cargo xtask corpus kept --write\n", self.name);
        let _ = writeln!(out, "server:\n  command: {command}");
        if let Some(url) = self.url {
            let _ = writeln!(out, "  url: \"{url}\"");
        }
        if let Some(transport) = self.transport {
            let _ = writeln!(out, "  transport: {transport}");
        }
        out.push_str(&text[cases + 1..]);
        Ok(out)
    }
}

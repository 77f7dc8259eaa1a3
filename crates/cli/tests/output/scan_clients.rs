//! `proof scan --all-clients`: which files of a user are read, and what does not pass for clean.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::printed::Printed;

/// Scans the clients of a user with this home; other variables are given as they are.
fn scanned(home: &Path, variables: &[(&str, &Path)], arguments: &[&str]) -> Printed {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof"));
    command.args(["scan", "--all-clients"]).args(arguments).stdin(Stdio::null()).current_dir(home);
    command.env_clear().env("HOME", home).envs(variables.iter().copied());
    Printed::by(&mut command)
}

fn put(home: &Path, path: &str, text: &str) {
    let path = home.join(path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    std::fs::write(path, text).expect("a file");
}

fn servers(name: &str, package: &str) -> String {
    json!({ "mcpServers": { name: { "command": "npx", "args": ["-y", package] } } }).to_string()
}

#[test]
fn every_file_that_exists_is_read_and_named() {
    let home = tempfile::tempdir().expect("a folder");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let path = home.path();
    put(path, ".cursor/mcp.json", &servers("shared", "pkg"));
    put(
        path,
        ".claude.json",
        &json!({ "projects": { "/p": serde_json::from_str::<Value>(&servers("local", "pkg")).expect("JSON") } })
            .to_string(),
    );
    put(path, ".gemini/settings.json", "{}");
    put(path, ".codex/config.toml", "[mcp_servers.unseen]\ncommand = \"npx\"\nargs = [\"pkg\"]\n");
    put(elsewhere.path(), "config.toml", "[mcp_servers.codex]\ncommand = \"npx\"\nargs = [\"pkg\"]\n");
    put(
        elsewhere.path(),
        "zed/settings.json",
        "{ \"context_servers\": { \"shared\": { \"command\": \"npx\", \"args\": [\"pkg\"] }, } }",
    );
    let variables = [("CODEX_HOME", elsewhere.path()), ("XDG_CONFIG_HOME", elsewhere.path())];
    let ran = scanned(path, &variables, &["--format", "json", "--fail-on", "medium"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let results = report["results"].as_array().expect("results");
    let mut places: Vec<_> =
        results.iter().map(|one| format!("{} {}", one["place"]["item"], one["place"]["server"])).collect();
    places.sort_unstable();
    // One server in two files is a finding in each.
    assert_eq!(places, [r#""claude-code" "local""#, r#""codex" "codex""#, r#""cursor" "shared""#, r#""zed" "shared""#]);
    let notes = report["notes"].to_string();
    for words in
        ["known places of", "windsurf", ".cursor/mcp.json): 1 server", "gemini-cli (", "): 0 servers", "4 servers of"]
    {
        assert!(notes.contains(words), "{words}: {notes}");
    }
    assert_eq!(scanned(path, &variables, &[]).code, Some(0), "medium alone does not fail");
}

#[test]
fn nothing_found_or_read_is_never_clean() {
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path();
    let refused = |words: &str| {
        let ran = scanned(path, &[], &[]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{words}");
        assert!(ran.stderr.contains(words) && ran.stderr.contains("--config FILE"), "{words}: {}", ran.stderr);
    };
    refused("no configuration with an MCP server is in any of");
    put(path, ".cursor/mcp.json", "{}");
    refused("cursor (");
    put(path, ".cursor/mcp.json", "{ \"mcpServers\": {");
    refused("is damaged");
    put(path, ".kiro/settings/mcp.json", &servers("a", "pkg@1.2.3"));
    let incomplete = |words: &str| {
        let ran = scanned(path, &[], &[]);
        assert_eq!(ran.code, Some(1), "{words}: {}", ran.stderr);
        let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("Incomplete: ") && text.contains(words), "{words}: {text}");
    };
    incomplete("is damaged");
    put(path, ".cursor/mcp.json", "{}");
    assert_eq!(scanned(path, &[], &[]).code, Some(0));
    put(path, ".config/goose/config.yaml", "extensions: [\n");
    incomplete("config.yaml is damaged: line 2");
    std::fs::remove_file(path.join(".config/goose/config.yaml")).expect("it is removed");
    std::fs::create_dir_all(path.join(".lmstudio/mcp.json")).expect("a folder");
    incomplete(".lmstudio/mcp.json");
    std::fs::remove_dir(path.join(".lmstudio/mcp.json")).expect("it is removed");
    // A link to itself is there and cannot be followed.
    std::os::unix::fs::symlink("mcp.json", path.join(".lmstudio/mcp.json")).expect("a link");
    incomplete(".lmstudio/mcp.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof"));
    let ran = Printed::by(command.args(["scan", "--all-clients"]).stdin(Stdio::null()).env_remove("HOME"));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("HOME is not set"), "{}", ran.stderr);
}

#[test]
fn servers_start_only_where_that_is_asked_for() {
    let home = tempfile::tempdir().expect("a folder");
    let started = home.path().join("started");
    let entry = json!({ "command": "touch", "args": [started] });
    put(home.path(), ".cursor/mcp.json", &json!({ "mcpServers": { "a": entry } }).to_string());
    let path = std::env::var_os("PATH").expect("a path");
    let variables = [("PATH", Path::new(&path))];
    assert_eq!(scanned(home.path(), &variables, &[]).code, Some(0));
    assert!(!started.exists());
    let ran = scanned(home.path(), &variables, &["--start"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stdout);
    assert!(started.exists());
}

#[test]
fn yaml_is_read_as_each_client_writes_it() {
    for (file, text) in [
        (
            ".config/goose/config.yaml",
            "extensions:\n  a:\n    type: stdio\n    cmd: npx\n    args: [-y, pkg]\n  b:\n    type: builtin\n",
        ),
        (
            ".continue/config.yaml",
            "name: mine\nmcpServers:\n  - name: a\n    command: npx\n    args:\n      - -y\n      - pkg\n",
        ),
        (".config/LibreChat/librechat.yaml", "mcpServers:\n  a:\n    command: npx\n    args: [\"-y\", \"pkg\"]\n"),
    ] {
        let home = tempfile::tempdir().expect("a folder");
        put(home.path(), file, text);
        let ran = scanned(home.path(), &[], &["--format", "json"]);
        let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let found: Vec<_> = report["results"].as_array().expect("results").iter().map(|one| &one["rule"]).collect();
        assert_eq!(found, ["scan.unpinned-launch"], "{file}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(report["subject"]["servers"], json!(["a"]), "{file}");
    }
}

#[test]
fn every_server_of_a_configuration_is_started() {
    let home = tempfile::tempdir().expect("a folder");
    let proof = env!("CARGO_BIN_EXE_proof");
    let serve = |catalog: &str| json!({ "command": proof, "args": ["serve", "--stdio", "--catalog", catalog] });
    let both = json!({ "mcpServers": { "a": serve("standard"), "b": serve("official") } });
    put(home.path(), ".cursor/mcp.json", &both.to_string());
    let ran = scanned(home.path(), &[], &["--start", "--format", "json", "--fail-on", "high"]);
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(report["incomplete"], json!([]), "{}", ran.stderr);
    assert!(report["summary"]["items"]["prompt"].as_u64() > Some(1), "{}", report["summary"]);
}

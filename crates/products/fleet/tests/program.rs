//! What `proof-fleet` does without `proof`: a first file, its mistakes, what clients have that the inventory has not.

use std::path::Path;
use std::process::{Command, Output};

fn fleet(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_proof-fleet"))
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder.join("home"))
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("USER")
        .env_remove("LOGNAME")
        .env_remove("USERNAME")
        .output()
        .expect("the program")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn scene() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    write("shop/openapi.yaml", "openapi: 3.1.0");
    write("shop/api.yaml", "name: shop");
    write("notes/package.json", r#"{ "bin": "dist/index.js", "dependencies": { "@modelcontextprotocol/sdk": "1" } }"#);
    write("notes/src/index.ts", "let a = 1;\nlet b = 2;\n");
    write("other/package.json", r#"{ "bin": "x.js", "dependencies": { "express": "1" } }"#);
    let servers = r#"{ "mcpServers": {
        "docs": { "url": "https://docs.example/mcp", "headers": { "Authorization": "Bearer sk-4829a7c1e5b36d08f2" } },
        "issues": { "command": "npx", "args": ["-y", "issues-mcp@1.2.3"], "env": { "ISSUES_TOKEN": "ghp_4829a7c1e5b36d08f2a91b7c3d" } },
        "leaky": { "command": "leaky", "args": ["--api-key", "sk-9948a7c1e5b36d08f2"] } } }"#;
    write("home/.cursor/mcp.json", servers);
    folder
}

#[test]
fn a_first_file_has_the_servers_of_the_folder_and_of_clients_without_secrets() {
    let folder = scene();
    let made = fleet(folder.path(), &["init", "--clients"]);
    assert_eq!(made.status.code(), Some(0), "{}", out(&made));
    assert!(out(&made).contains("leaky of cursor is left out"), "{}", out(&made));
    let text = std::fs::read_to_string(folder.path().join("fleet.yaml")).expect("the file");
    for part in [
        "openapi: shop/openapi.yaml",
        "config: shop/api.yaml",
        "command: [node, notes/dist/index.js]",
        "language: TypeScript",
        "lines: 2",
        "url: \"https://docs.example/mcp\"",
        "bearer: { env: MCP_DOCS_TOKEN }",
        "ISSUES_TOKEN: { env: ISSUES_TOKEN }",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("owner:") && out(&made).contains("no owner is known"), "{text}{}", out(&made));
    assert!(!text.contains("other") && !text.contains("5b36d08f2") && !out(&made).contains("5b36d08f2"), "{text}");
    let again = fleet(folder.path(), &["init"]);
    assert_eq!(again.status.code(), Some(2), "an existing file is not overwritten: {}", out(&again));
}

#[test]
fn a_folder_without_servers_is_answered_with_what_is_looked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = fleet(folder.path(), &["init"]);
    let text = out(&made);
    assert!(
        made.status.code() == Some(2) && text.contains("openapi.yaml") && text.contains("pyproject.toml"),
        "{text}"
    );
}

#[test]
fn an_audit_lists_what_the_inventory_does_not_have() {
    let folder = scene();
    let inventory = "servers:\n  - { name: issues, command: [npx, -y, issues-mcp@1.3.0] }\n";
    std::fs::write(folder.path().join("fleet.yaml"), inventory).expect("a file");
    let audit = fleet(folder.path(), &["audit"]);
    let text = out(&audit);
    assert_eq!(audit.status.code(), Some(1), "{text}");
    assert!(text.contains("docs: not in the inventory") && text.contains("leaky: not in the inventory"), "{text}");
    assert!(!text.contains("issues: not"), "another version is the same server: {text}");
    assert!(!text.contains("5b36d08f2"), "a secret is shown: {text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80 || line.contains('/')), "{text}");
}

#[test]
fn mistakes_are_shown_with_their_places_and_the_exit_code_of_usage() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("fleet.yaml"), "servers:\n  - { name: a, comand: [x] }\n").expect("a file");
    let run = fleet(folder.path(), &["status"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(out(&run).contains("fleet.yaml:2:") && out(&run).contains("`command`"), "{}", out(&run));
    let missing = fleet(folder.path(), &["status", "--file", "none.yaml"]);
    assert!(missing.status.code() == Some(2) && out(&missing).contains("proof fleet init"), "{}", out(&missing));
}

#[test]
fn the_schema_and_every_help_are_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let schema = fleet(folder.path(), &["--schema"]);
    assert_eq!(
        String::from_utf8_lossy(&schema.stdout).trim(),
        include_str!("../../../../docs/fleet.schema.json").trim()
    );
    for verb in ["run", "status", "ui", "waive", "report", "worker"] {
        let help = fleet(folder.path(), &[verb, "--help"]);
        let text = out(&help);
        assert!(help.status.success() && text.contains("Usage: proof fleet"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}

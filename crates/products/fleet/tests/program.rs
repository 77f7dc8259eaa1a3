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
    assert!(!text.contains("\n  owner:") && out(&made).contains("no owner is known"), "{text}{}", out(&made));
    assert!(!text.contains("other") && !text.contains("5b36d08f2") && !out(&made).contains("5b36d08f2"), "{text}");
    let again = fleet(folder.path(), &["init"]);
    assert_eq!(again.status.code(), Some(2), "an existing file is not overwritten: {}", out(&again));
}

#[test]
fn a_first_file_has_each_server_of_gateways_projects_and_clients_once() {
    let folder = scene();
    let gateway = "upstreams:\n  notes: { command: [node, notes/dist/index.js] }\n  \
                   docs: { url: \"https://docs.example/mcp\", headers: { Authorization: { from_env: DOCS } } }\n  \
                   mail: { command: [mail-mcp], cwd: work, env: { MAIL_TOKEN: \"sk-5538a7c1e5b36d08f2\" } }\n  \
                   leaky-mail: { command: [mail-mcp, --token, sk-5538a7c1e5b36d08f2] }\n";
    let path = folder.path().join("deploy/gateway.yaml");
    std::fs::create_dir_all(folder.path().join("deploy")).expect("a folder");
    std::fs::write(path, gateway).expect("a file");
    let made = fleet(folder.path(), &["init", "--gateway", "deploy/gateway.yaml", "--clients"]);
    assert_eq!(made.status.code(), Some(0), "{}", out(&made));
    let said = out(&made);
    assert!(
        said.contains("leaky-mail is left out") && said.contains("5 servers") && !said.contains("5b36d08f2"),
        "{said}"
    );
    let read = ::fleet::config::Fleet::load(&folder.path().join("fleet.yaml")).expect("it loads");
    let mut names: Vec<_> = read.servers.iter().map(|server| server.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["docs", "issues", "mail", "notes", "shop"]);
    let mail = read.server("mail").expect("it is there");
    assert_eq!(mail.cwd.as_deref(), Some("deploy/work"), "from the folder of fleet.yaml");
    assert_eq!(read.server("docs").expect("it is there").source.as_deref(), Some("configuration of the gateway"));
    let text = std::fs::read_to_string(folder.path().join("fleet.yaml")).expect("the file");
    assert!(text.contains("MAIL_TOKEN: { env: MAIL_TOKEN }") && !text.contains("5b36d08f2"), "{text}");
}

#[test]
fn a_gateway_that_cannot_be_read_makes_no_file() {
    let folder = scene();
    std::fs::write(folder.path().join("list.yaml"), "servers:\n  docs: { url: \"https://docs.example/mcp\" }\n")
        .expect("a file");
    for (file, part) in [("missing.yaml", "missing.yaml:"), ("list.yaml", "no `upstreams`"), ("shop", "shop:")] {
        let made = fleet(folder.path(), &["init", "--gateway", file]);
        assert!(made.status.code() == Some(2) && out(&made).contains(part), "{}", out(&made));
        assert!(!folder.path().join("fleet.yaml").exists(), "{file}");
    }
}

/// What little is known of a project is a valid entry, and its comments say what is missing.
#[test]
fn a_project_that_names_no_program_is_listed_with_a_hint_how_to_start_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    write("js/package.json", r#"{ "dependencies": { "@modelcontextprotocol/sdk": "1" } }"#);
    write("py/pyproject.toml", "[project]\nname = \"py\"\ndependencies = [\"mcp>=1.2\"]\n");
    write("rs/Cargo.toml", "[package]\nname = \"rs\"\n[dependencies]\nrmcp = \"1\"\n");
    write("go/go.mod", "module a\nrequire (\n\tgithub.com/mark3labs/mcp-go v0.1.0\n)\n");
    write("go1/go.mod", "module a\nrequire github.com/modelcontextprotocol/go-sdk v1.0.0\n");
    write("none/Cargo.toml", "[package]\nname = \"rmcp-like\"\n[dependencies]\nserde = \"1\"\n");
    let made = fleet(folder.path(), &["init"]);
    assert_eq!(made.status.code(), Some(0), "{}", out(&made));
    let text = std::fs::read_to_string(folder.path().join("fleet.yaml")).expect("the file");
    for part in [
        "# command: [node, js/dist/index.js]",
        "# command: [uv, run, \"--directory\", py, server.py]",
        "# command: [rs/target/release/rs]",
        "# command: [go, run, \"./go\"]",
        "# command: [go, run, \"./go1\"]",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("none"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let read = ::fleet::config::Fleet::load(&folder.path().join("fleet.yaml")).expect("it loads");
    assert!(read.servers.len() == 5 && read.servers.iter().all(|one| one.launch == ::fleet::config::Launch::Unknown));
    let corrected = text.replace("    # command:", "    command:");
    std::fs::write(folder.path().join("fleet.yaml"), corrected).expect("a file");
    let read = ::fleet::config::Fleet::load(&folder.path().join("fleet.yaml")).expect("as its comment says");
    assert!(read.servers.iter().all(|one| one.launch != ::fleet::config::Launch::Unknown));
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

#[test]
fn errors_fit_a_terminal_and_name_the_verb_that_was_meant() {
    let folder = tempfile::tempdir().expect("a folder");
    let mistyped = fleet(folder.path(), &["rnu"]);
    assert_eq!(mistyped.status.code(), Some(2));
    assert!(out(&mistyped).contains("'run'"), "{}", out(&mistyped));
    for arguments in
        [&["-f", "a-file-of-a-fleet-that-is-in-no-folder-of-this-test.yaml", "audit"][..], &["waive", "a", "nothing"]]
    {
        let text = out(&fleet(folder.path(), arguments));
        assert!(text.starts_with("error: ") && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}

#[test]
fn an_import_adds_servers_once_and_leaves_the_file_as_it_is_where_it_cannot() {
    let folder = scene();
    let file = folder.path().join("fleet.yaml");
    let list = "servers:\n  docs: { url: \"https://docs.example/mcp\" }\n  shop: { command: node, args: [shop.js] }\n";
    std::fs::write(folder.path().join("mcp.servers.yaml"), list).expect("a file");
    let first = fleet(folder.path(), &["import", "mcp.servers.yaml"]);
    assert_eq!(first.status.code(), Some(0), "{}", out(&first));
    let text = std::fs::read_to_string(&file).expect("the file");
    assert!(text.contains("name: docs") && text.contains("command: [node, shop.js]"), "{text}");
    let second = fleet(folder.path(), &["import", "mcp.servers.yaml"]);
    assert!(out(&second).contains("0 servers") && out(&second).contains("already"), "{}", out(&second));
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), text);
    let more = fleet(folder.path(), &["import", "home/.cursor/mcp.json"]);
    assert!(out(&more).contains("leaky is left out") && !out(&more).contains("sk-9948"), "{}", out(&more));
    let text = std::fs::read_to_string(&file).expect("the file");
    assert!(text.contains("issues-mcp@1.2.3") && !text.contains("ghp_"), "{text}");
    std::fs::write(&file, "servers: [{ name: a, command: [x] }]\n").expect("a file");
    let refused = fleet(folder.path(), &["import", "mcp.servers.yaml"]);
    assert_eq!(refused.status.code(), Some(2), "{}", out(&refused));
    assert!(out(&refused).contains("--print"), "{}", out(&refused));
    let printed = fleet(folder.path(), &["import", "--print", "mcp.servers.yaml"]);
    assert!(out(&printed).contains("  - name: docs"), "{}", out(&printed));
}

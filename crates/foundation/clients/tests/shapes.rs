//! What the data file says of clients, and what entries look like in each.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clients::plan::Target;
use clients::server::Transport;
use clients::shape::{Entry, Knowledge, Refusal, entry};
use clients::{Client, Launch, Platform, Scope, Server, Variables, clients, find};
use serde_json::{Value, json};

fn known(client: &str) -> &'static Client {
    find(client).unwrap_or_else(|| panic!("{client}"))
}

fn is_secret(_: &str, value: &str) -> bool {
    value.contains("hunter2")
}

fn made(client: &str, launch: Launch) -> Result<Entry, Refusal> {
    let variable = |name: &str| (name == "SET").then(|| "value".to_owned());
    let known_of = Knowledge { is_secret: &is_secret, variable: &variable };
    entry(&Server { name: "srv".to_owned(), launch }, known(client), Scope::User, false, &known_of)
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn stdio(env: &[(&str, &str)]) -> Launch {
    Launch::Stdio { command: "npx".to_owned(), args: vec!["-y".to_owned(), "p@1.2.3".to_owned()], env: pairs(env) }
}

fn remote(headers: &[(&str, &str)]) -> Launch {
    Launch::Remote { transport: Transport::Http, url: "https://h.example/mcp".to_owned(), headers: pairs(headers) }
}

fn value(client: &str, launch: Launch) -> Value {
    made(client, launch).unwrap_or_else(|refusal| panic!("{client}: {refusal:?}")).value
}

#[test]
fn the_data_file_is_whole() {
    let ids: Vec<_> = clients().iter().map(|client| client.id.as_str()).collect();
    assert!(ids.len() >= 40, "{}", ids.len());
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "sorted, each once");
    let mut names = BTreeSet::new();
    for client in clients() {
        assert!(
            std::iter::once(&client.id).chain(&client.aliases).all(|name| names.insert(name.clone())),
            "{}",
            client.id
        );
        for platform in [Platform::Linux, Platform::MacOs, Platform::Windows] {
            assert!(!client.user.of(platform).is_empty(), "{}", client.id);
        }
        // Every shape exists: an unknown one would panic here.
        let _ = (client.is_remote(), client.syntax(), client.shape(Scope::Project, true));
    }
}

#[test]
fn the_environment_says_where() {
    let at = |variables: &[(&str, &str)], platform, client: &str| {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value));
        let variables = Variables::new(platform, &variable).expect("a home");
        variables.user_files(known(client))[0].to_string_lossy().into_owned()
    };
    let (linux, home) = (Platform::Linux, ("HOME", "/h"));
    assert_eq!(at(&[home], linux, "cursor"), "/h/.cursor/mcp.json");
    assert_eq!(at(&[home], linux, "crush"), "/h/.config/crush/crush.json");
    assert_eq!(at(&[home, ("XDG_CONFIG_HOME", "/x")], linux, "crush"), "/x/crush/crush.json");
    assert_eq!(at(&[home, ("XDG_CONFIG_HOME", "x")], linux, "crush"), "/h/.config/crush/crush.json");
    assert_eq!(at(&[home, ("CODEX_HOME", "")], linux, "codex"), "/h/.codex/config.toml");
    assert_eq!(at(&[home, ("CODEX_HOME", "/c")], linux, "codex"), "/c/config.toml");
    assert_eq!(at(&[home], linux, "claude-code"), "/h/.claude.json");
    assert_eq!(at(&[home, ("CLAUDE_CONFIG_DIR", "/c")], linux, "claude-code"), "/c/.claude.json");
    assert_eq!(at(&[home], Platform::MacOs, "zed"), "/h/.config/zed/settings.json");
    assert_eq!(at(&[home], Platform::MacOs, "vscode"), "/h/Library/Application Support/Code/User/mcp.json");
    let windows = [("USERPROFILE", "/u"), ("APPDATA", "/a"), ("LOCALAPPDATA", "/l")];
    assert_eq!(at(&windows, Platform::Windows, "vscode"), "/a/Code/User/mcp.json");
    assert_eq!(at(&windows, Platform::Windows, "crush"), "/l/crush/crush.json");
    assert!(Variables::new(linux, &|_| None).is_none());
    assert!(Variables::new(linux, &|_| Some(PathBuf::new())).is_none(), "an empty HOME");
}

#[test]
fn every_file_is_named_once() {
    let home = |name: &str| (name == "HOME").then(|| PathBuf::from("/h"));
    let variables = Variables::new(Platform::Linux, &home).expect("a home");
    let mut paths: Vec<_> = clients().iter().flat_map(|client| variables.all_files(client)).collect();
    let number = paths.len();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), number);
}

#[test]
fn entries_by_url_and_by_command() {
    let args = json!(["-y", "p@1.2.3"]);
    for (client, by_command, by_url) in [
        (
            "claude-code",
            json!({ "type": "stdio", "command": "npx", "args": args }),
            json!({ "type": "http", "url": "https://h.example/mcp" }),
        ),
        ("cursor", json!({ "command": "npx", "args": args }), json!({ "url": "https://h.example/mcp" })),
        ("windsurf", json!({ "command": "npx", "args": args }), json!({ "serverUrl": "https://h.example/mcp" })),
        (
            "cline",
            json!({ "command": "npx", "args": args, "disabled": false }),
            json!({ "type": "streamableHttp", "url": "https://h.example/mcp", "disabled": false }),
        ),
        (
            "zed",
            json!({ "source": "custom", "command": "npx", "args": args, "env": {} }),
            json!({ "source": "custom", "url": "https://h.example/mcp" }),
        ),
        ("codex", json!({ "command": "npx", "args": args }), json!({ "url": "https://h.example/mcp" })),
        (
            "opencode",
            json!({ "type": "local", "command": ["npx", "-y", "p@1.2.3"], "enabled": true }),
            json!({ "type": "remote", "url": "https://h.example/mcp", "enabled": true }),
        ),
        (
            "goose",
            json!({ "name": "srv", "description": "", "type": "stdio", "cmd": "npx", "args": args, "enabled": true, "timeout": 300 }),
            json!({
                "name": "srv", "description": "", "type": "streamable_http", "uri": "https://h.example/mcp", "enabled": true,
                "timeout": 300
            }),
        ),
        (
            "github-copilot-cli",
            json!({ "type": "stdio", "command": "npx", "args": args, "tools": ["*"] }),
            json!({ "type": "http", "url": "https://h.example/mcp", "tools": ["*"] }),
        ),
        (
            "mistral-vibe",
            json!({ "name": "srv", "transport": "stdio", "command": "npx", "args": args }),
            json!({ "name": "srv", "transport": "streamable-http", "url": "https://h.example/mcp" }),
        ),
    ] {
        assert_eq!(value(client, stdio(&[])), by_command, "{client}");
        assert_eq!(value(client, remote(&[])), by_url, "{client}");
    }
    assert_eq!(made("claude-desktop", remote(&[])), Err(Refusal::Transport("servers by URL")));
    assert_eq!(made("roo-code", stdio(&[])), Err(Refusal::Discontinued));
}

/// Each client gets a reference in its own way; add-mcp writes one for all.
#[test]
fn references_are_those_of_the_client() {
    let env = |client: &str| value(client, stdio(&[("TOKEN", "${TOKEN}")]));
    for (client, written) in [
        ("claude-code", "${TOKEN}"),
        ("cursor", "${env:TOKEN}"),
        ("vscode", "${env:TOKEN}"),
        ("gemini-cli", "${TOKEN}"),
        ("windsurf", "${env:TOKEN}"),
    ] {
        assert_eq!(env(client)["env"]["TOKEN"], written, "{client}");
    }
    assert_eq!(env("opencode")["environment"]["TOKEN"], "{env:TOKEN}");
    assert_eq!(env("codex")["env_vars"], json!(["TOKEN"]));
    assert_eq!(env("codex")["env"], Value::Null);
    assert_eq!(env("goose")["env_keys"], json!(["TOKEN"]));
    let bearer = |client: &str| value(client, remote(&[("Authorization", "Bearer ${T}"), ("X-Key", "${K}")]));
    let codex = bearer("codex");
    assert_eq!((&codex["bearer_token_env_var"], &codex["env_http_headers"]), (&json!("T"), &json!({ "X-Key": "K" })));
    assert_eq!(bearer("cursor")["headers"]["Authorization"], "Bearer ${env:T}");
    assert_eq!(value("claude-code", stdio(&[("A", "${A:-b}")]))["env"]["A"], "${A:-b}");
    // No syntax: a value that is set stands in clear, one that is not is refused.
    let clear = made("lm-studio", stdio(&[("A", "${SET}")])).expect("an entry");
    assert_eq!((clear.value["env"]["A"].as_str(), clear.clear), (Some("value"), vec!["env.A".to_owned()]));
    assert_eq!(made("lm-studio", stdio(&[("A", "${UNSET}")])), Err(Refusal::Variable("UNSET".to_owned())));
}

#[test]
fn a_secret_in_clear_becomes_a_reference_wherever_there_is_one() {
    let given = || stdio(&[("API_KEY", "hunter2"), ("LOG", "debug")]);
    for client in clients().iter().filter(|client| !client.discontinued) {
        let made = made(&client.id, given()).expect("an entry");
        let text = made.value.to_string();
        let has_none = !client.has_references() || !(client.reference.is_some() || text.contains("env_"));
        assert_eq!(text.contains("hunter2"), !made.clear.is_empty(), "{}: {text}", client.id);
        assert!(has_none || made.clear.is_empty(), "{}: {text}", client.id);
        assert!(text.contains("debug"), "{}: {text}", client.id);
    }
    let code = made("vscode", given()).expect("an entry");
    assert_eq!(code.value["env"]["API_KEY"], "${input:srv-api-key}");
    assert_eq!((code.inputs[0]["id"].as_str(), &code.inputs[0]["password"]), (Some("srv-api-key"), &json!(true)));
    let header = made("claude-code", remote(&[("Authorization", "Bearer hunter2")])).expect("an entry");
    assert_eq!(header.value["headers"]["Authorization"], "Bearer ${SRV_AUTHORIZATION}");
    assert_eq!((header.needs, header.clear), (vec!["SRV_AUTHORIZATION".to_owned()], Vec::<String>::new()));
    let argument =
        Launch::Stdio { command: "x".to_owned(), args: vec!["--key".to_owned(), "hunter2".to_owned()], env: vec![] };
    assert_eq!(made("claude-code", argument).expect("an entry").clear, ["args[1]"]);
}

/// What is written is read back as the same server.
#[test]
fn entries_are_read_back() {
    for client in clients().iter().filter(|client| !client.discontinued) {
        let launch = stdio(&[("LOG", "debug")]);
        assert_eq!(Launch::of_entry(&value(&client.id, launch.clone())), Some(launch), "{}", client.id);
        if client.is_remote() {
            let launch = remote(&[("X-Mode", "fast")]);
            assert_eq!(Launch::of_entry(&value(&client.id, launch.clone())), Some(launch), "{}", client.id);
        }
    }
}

#[test]
fn a_change_keeps_what_the_user_added() {
    let target = Target { client: known("cursor"), scope: Scope::User, project: "" };
    let before = "{\n  \"mcpServers\": {\n    \"srv\": {\n      // mine\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"p@1.0.0\"],\n      \"disabled\": true,\n      \"env\": { \"MINE\": \"1\" }\n    }\n  }\n}\n";
    let entry = made("cursor", stdio(&[("LOG", "debug")])).expect("an entry");
    let (after, _) = target.add(before, "srv", &entry, false).expect("a text");
    assert_eq!(
        after,
        before.replace("p@1.0.0", "p@1.2.3").replace("\"MINE\": \"1\" }", "\"MINE\": \"1\", \"LOG\": \"debug\" }")
    );
    let again = target.add(&after, "srv", &entry, false).expect("a text");
    assert_eq!(again, (after, clients::plan::Outcome::Unchanged));
    let other = before.replace("p@1.0.0", "quite-another");
    assert!(matches!(target.add(&other, "srv", &entry, false), Err(clients::plan::Problem::OtherServer { .. })));
    let (forced, _) = target.add(&other, "srv", &entry, true).expect("a text");
    assert!(!forced.contains("disabled") && !forced.contains("MINE") && forced.contains("// mine"), "{forced}");
}

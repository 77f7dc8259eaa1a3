//! What the data file says of clients, and what entries look like in each.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clients::plan::{Manner, Target};
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
    let (after, _) = target.add(before, "srv", &entry, Manner::Merge).expect("a text");
    assert_eq!(
        after,
        before.replace("p@1.0.0", "p@1.2.3").replace("\"MINE\": \"1\" }", "\"MINE\": \"1\", \"LOG\": \"debug\" }")
    );
    let again = target.add(&after, "srv", &entry, Manner::Merge).expect("a text");
    assert_eq!(again, (after, clients::plan::Outcome::Unchanged));
    let other = before.replace("p@1.0.0", "quite-another");
    assert!(matches!(
        target.add(&other, "srv", &entry, Manner::Merge),
        Err(clients::plan::Problem::OtherServer { .. })
    ));
    let (forced, _) = target.add(&other, "srv", &entry, Manner::Replace).expect("a text");
    assert!(!forced.contains("disabled") && !forced.contains("MINE") && forced.contains("// mine"), "{forced}");
}

fn merged(client: &str, old: &Value, launch: Launch, manner: Manner) -> Value {
    let client_of = known(client);
    let target = Target { client: client_of, scope: Scope::User, project: "" };
    let mut way: Value = old.clone();
    for key in client_of.key.iter().rev() {
        way = if client_of.list { json!({ key: [way] }) } else { json!({ key: { "srv": way } }) };
    }
    let way_to = target.way_to(&way, "srv");
    // Each format reads JSON in its own way, but all write the same value.
    let before = match client_of.format {
        clients::text::Format::Toml => {
            clients::text::apply("", client_of.format, &[clients::text::Change::Set(way_to.clone(), old.clone())])
                .expect("a text")
        }
        _ => way.to_string(),
    };
    let entry = made(client, launch).expect("an entry");
    let read = |text: &str| clients::text::read(text, client_of.format).expect("a text");
    let value = read(&before);
    let mut after = before.clone();
    match target.add_to(&before, &value, "srv", &entry, manner) {
        Ok((text, ..)) => after = text,
        // Braces on one line of YAML are left alone: the value alone is looked at.
        Err(problem) => panic!("{client}: {problem:?}\n{after}"),
    }
    clients::text::at(&read(&after), &way_to).expect("an entry").clone()
}

/// What a client's shape proposes does not take back what the user chose.
#[test]
fn choices_of_the_user_stay() {
    let cline = json!({ "command": "npx", "args": ["-y", "p@1.0.0"], "disabled": true, "autoApprove": ["x"] });
    let opencode = json!({ "type": "local", "command": ["npx", "-y", "p@1.0.0"], "enabled": false });
    let copilot = json!({ "type": "stdio", "command": "npx", "args": ["-y", "p@1.0.0"], "tools": ["read"] });
    let zed = json!({ "source": "mine", "command": "npx", "args": ["-y", "p@1.0.0"], "env": {} });
    let fx = json!({ "type": "local", "command": ["npx", "-y", "p@1.0.0"], "enabled": false });
    for (client, old) in [
        ("cline", &cline),
        ("cline-cli", &cline),
        ("opencode", &opencode),
        ("kilo-code", &opencode),
        ("github-copilot-cli", &copilot),
        ("zed", &zed),
        ("fx", &fx),
    ] {
        for manner in [Manner::Merge, Manner::Declare] {
            let mut expected = old.clone();
            match expected["command"].as_array_mut() {
                Some(words) => words[2] = json!("p@1.2.3"),
                None => expected["args"] = json!(["-y", "p@1.2.3"]),
            }
            assert_eq!(merged(client, old, stdio(&[]), manner), expected, "{client} {manner:?}");
        }
    }
    let sse = json!({ "type": "sse", "url": "https://h.example/mcp", "disabled": true });
    let http = merged("cline", &sse, remote(&[]), Manner::Merge);
    assert_eq!(http, json!({ "type": "streamableHttp", "url": "https://h.example/mcp", "disabled": true }));
}

#[test]
fn names_of_variables_are_united_and_stand_once() {
    let old = json!({ "command": "npx", "args": ["-y", "p@1.2.3"], "env_vars": ["A", "B"], "env": { "C": "clear", "D": "1" } });
    let new = merged("codex", &old, stdio(&[("C", "${C}")]), Manner::Merge);
    assert_eq!((&new["env_vars"], &new["env"]), (&json!(["A", "B", "C"]), &json!({ "D": "1" })));
    let new = merged("codex", &old, stdio(&[("A", "plain")]), Manner::Merge);
    assert_eq!((&new["env_vars"], &new["env"]["A"]), (&json!(["B"]), &json!("plain")));
    let old = json!({ "url": "https://h.example/mcp", "http_headers": { "authorization": "Bearer x", "X-A": "1" } });
    let new = merged("codex", &old, remote(&[("Authorization", "Bearer ${T}")]), Manner::Merge);
    assert_eq!((&new["bearer_token_env_var"], &new["http_headers"]), (&json!("T"), &json!({ "X-A": "1" })));
}

/// A declared list says all of how a server is reached: what stands there besides is a difference.
#[test]
fn a_declared_server_is_what_the_list_says() {
    let old = json!({
        "command": "npx", "args": ["-y", "p@1.2.3"], "env": { "LOG": "debug", "NODE_OPTIONS": "--require /tmp/evil.js" },
        "envFile": "/tmp/evil", "cwd": "/tmp", "disabled": true
    });
    let plain = json!({ "command": "npx", "args": ["-y", "p@1.2.3"], "disabled": true });
    let mut logging = plain.clone();
    logging["env"] = json!({ "LOG": "debug" });
    assert_eq!(merged("cursor", &old, stdio(&[("LOG", "debug")]), Manner::Declare), logging);
    assert_eq!(merged("cursor", &old, stdio(&[]), Manner::Declare), plain);
    assert_eq!(merged("cursor", &old, stdio(&[]), Manner::Merge), old);
    let old = json!({ "url": "https://h.example/mcp", "headers": { "X-Evil": "1" }, "headersHelper": "/tmp/x", "alwaysAllow": ["a"] });
    let new = merged("cursor", &old, remote(&[("X-A", "1")]), Manner::Declare);
    assert_eq!(new, json!({ "url": "https://h.example/mcp", "headers": { "X-A": "1" }, "alwaysAllow": ["a"] }));
    let old = json!({ "command": "npx", "args": ["-y", "p@1.2.3"], "env_vars": ["A"], "enabled": false });
    let new = merged("codex", &old, stdio(&[]), Manner::Declare);
    assert_eq!(new, json!({ "command": "npx", "args": ["-y", "p@1.2.3"], "enabled": false }));
}

/// Entries without a command can be removed; the client's own are none.
#[test]
fn every_entry_is_held() {
    let names = |client: &str, value: &Value| {
        clients::plan::held(known(client), Scope::User, value).into_iter().map(|held| held.name).collect::<Vec<_>>()
    };
    let value = json!({ "mcpServers": { "a": { "disabled": true }, "b": null, "c": { "command": "x" }, "d": 1 } });
    assert_eq!(names("cursor", &value), ["a", "b", "c"]);
    let value =
        json!({ "extensions": { "developer": { "type": "builtin" }, "x": { "bundled": true, "cmd": "y" }, "z": {} } });
    assert_eq!(names("goose", &value), ["z"]);
    let target = Target { client: known("cursor"), scope: Scope::User, project: "" };
    let without = target.remove("{\"mcpServers\": {\"a\": {\"disabled\": true}}}", "a").expect("a text");
    assert_eq!(without.as_deref(), Some("{\"mcpServers\": {}}"));
}

#[test]
fn a_question_goes_with_the_last_entry_that_asks_it() {
    let code = known("vscode");
    let target = Target { client: code, scope: Scope::User, project: "" };
    let made = made("vscode", stdio(&[("API_KEY", "hunter2")])).expect("an entry");
    assert_eq!(made.inputs.len(), 1);
    let mine = "{\n  \"inputs\": [\n    { \"type\": \"promptString\", \"id\": \"mine\", \"description\": \"x\" }\n  ],\n  \"servers\": {\n    \"other\": { \"command\": \"y\" }\n  }\n}\n";
    let (with, _) = target.add(mine, "srv", &made, Manner::Merge).expect("it is added");
    assert!(with.contains("srv-api-key"), "{with}");
    assert_eq!(target.remove(&with, "srv").expect("it is removed").as_deref(), Some(mine));
    // Another entry asks the same question.
    let shared = with.replace("\"command\": \"y\"", "\"command\": \"y\", \"env\": { \"K\": \"${input:srv-api-key}\" }");
    let left = target.remove(&shared, "srv").expect("it is removed").expect("a text");
    assert!(left.contains("\"id\": \"srv-api-key\""), "{left}");
    // The user changed the question, so it is theirs.
    let changed = with.replace("API_KEY of srv", "Key of the weather service");
    let left = target.remove(&changed, "srv").expect("it is removed").expect("a text");
    assert!(left.contains("\"id\": \"srv-api-key\""), "{left}");
}

#[test]
fn what_is_no_server_is_named() {
    let misfits = |client: &str, value: &Value| clients::plan::misfits(known(client), Scope::User, value);
    let none: [String; 0] = [];
    assert_eq!(misfits("cursor", &json!({ "mcpServers": [] })), ["`mcpServers` is a list, expected a mapping"]);
    assert_eq!(
        misfits("cursor", &json!({ "mcpServers": { "a": 5, "b": { "command": "b" }, "c": null } })),
        ["the server `a` is a number, expected a mapping"]
    );
    assert_eq!(misfits("cursor", &json!({ "mcpServers": null })), none);
    assert_eq!(misfits("cursor", &json!({})), none);
    let local = json!({ "mcpServers": {}, "projects": { "/p": { "mcpServers": "x" } } });
    assert_eq!(misfits("claude-code", &local), ["`mcpServers` is a text, expected a mapping"]);
}

//! List, effective and doctor.

use serde_json::{Value, json};

use crate::home::Home;

#[test]
fn the_list_shows_what_is_wrong() {
    let home = Home::new();
    let entry = |command: &str, args: Value| json!({ "command": command, "args": args });
    home.put(
        ".cursor/mcp.json",
        &json!({ "mcpServers": {
            "unpinned": entry("npx", json!(["-y", "p"])), "pinned": entry("npx", json!(["-y", "q@1.0.0"])),
            "twice": entry("npx", json!(["-y", "q@2.0.0"])), "missing": entry("/no/such/command", json!([])),
        } })
        .to_string(),
    );
    home.put("project/.cursor/mcp.json", &json!({ "mcpServers": { "pinned": entry("sh", json!([])) } }).to_string());
    home.put(
        ".config/goose/config.yaml",
        "extensions:\n  developer: { type: builtin, bundled: true, cmd: x }\n  mine: { type: stdio, cmd: sh }\n",
    );
    let document: Value = serde_json::from_str(&home.done(&["list", "--json"])).expect("JSON");
    let notes = |name: &str, scope: &str| {
        let servers = document["servers"].as_array().expect("a list");
        let one =
            servers.iter().find(|one| one["name"] == name && one["scope"] == scope).unwrap_or_else(|| panic!("{name}"));
        one["notes"].to_string()
    };
    assert_eq!(notes("unpinned", "user"), "[\"p has no fixed version\"]");
    assert!(notes("pinned", "user").contains("shadowed by the entry of scope project"));
    assert!(notes("pinned", "user").contains("the same server as twice"));
    assert!(notes("missing", "user").contains("/no/such/command is not found"));
    assert_eq!(notes("pinned", "project"), "[]");
    assert_eq!(notes("mine", "user"), "[]");
    assert!(!document.to_string().contains("developer"), "what is built in is no server of the user");
    let text = home.done(&["list"]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.ends_with("6 entries in 2 clients, 5 notes\n"), "{text}");
    home.put(".kiro/settings/mcp.json", "{");
    let ran = home.run(&["list"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains(".kiro/settings/mcp.json:1:2: expected a name in quotes"), "{}", ran.stderr);
}

#[test]
fn a_file_of_the_project_starts_nothing_by_itself() {
    let home = Home::new();
    let script = "touch \"$HOME/started\"";
    home.put(
        "project/.mcp.json",
        &json!({ "mcpServers": { "a": { "command": "sh", "args": ["-c", script] } } }).to_string(),
    );
    let ran = home.run(&["doctor", "a", "--client", "claude-code"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert!(ran.stdout.contains("not started") && ran.stdout.contains("--trust-project"), "{}", ran.stdout);
    assert!(!home.path("started").exists());
    home.run(&["doctor", "a", "--client", "claude-code", "--trust-project"]);
    assert!(home.path("started").exists());
}

#[test]
fn the_doctor_reads_an_entry_as_its_client_does() {
    let home = Home::new();
    let proof = env!("CARGO_BIN_EXE_proof");
    let entry = |more: Value| {
        let mut entry = json!({ "command": proof, "args": ["serve", "--stdio"] });
        entry.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        entry
    };
    home.put(
        ".cursor/mcp.json",
        &json!({ "mcpServers": {
            "foreign": entry(json!({ "env": { "KEY": "${HOME}" } })), "own": entry(json!({ "env": { "KEY": "${env:HOME}" } })),
            "off": entry(json!({ "disabled": true })), "nowhere": entry(json!({ "cwd": "/no/such/folder" })),
        } })
        .to_string(),
    );
    let doctor = |name: &str| home.run(&["doctor", name, "--timeout", "20"]);
    let foreign = doctor("foreign");
    assert_eq!(foreign.code, Some(1), "{}", foreign.stdout);
    assert!(foreign.stdout.contains("does not fill in the reference in env.KEY"), "{}", foreign.stdout);
    assert!(doctor("own").stdout.contains("cursor (user): works"));
    let off = doctor("off");
    assert!(off.stdout.contains("not started") && off.stdout.contains("switches it off"), "{}", off.stdout);
    assert_ne!(doctor("nowhere").code, Some(0), "its folder is not there");
    home.put("project/.mcp.json", &json!({ "mcpServers": { "p": entry(json!({})) } }).to_string());
    home.put(".claude/settings.json", "{ \"disabledMcpjsonServers\": [\"p\"] }");
    let text = home.done(&["config", "effective", "--client", "claude-code"]);
    assert!(text.contains("not used: disabledMcpjsonServers in"), "{text}");
}

#[test]
fn the_list_of_clients_shows_what_is_found() {
    let home = Home::new();
    home.put(".cursor/other", "");
    assert!(home.done(&["clients", "--found"]).ends_with("1 clients, 1 found on this machine\n"));
    let text = home.done(&["clients"]);
    assert!(text.lines().count() > 80 && text.contains("claude-code          Claude Code"), "{text}");
}

#[test]
fn what_is_not_there_is_said_with_what_is_near() {
    let home = Home::new();
    assert_eq!(home.done(&["list"]), "no servers found; `proof add NAME -- COMMAND` adds one\n");
    home.done(&["add", "weather", "--client", "cursor", "--no-verify", "--", "x"]);
    let near = home.run(&["remove", "wether"]);
    assert_eq!(near.stderr, "error: no client has a server `wether`\n  try: `weather`; `proof list` shows all names\n");
    let elsewhere = home.run(&["remove", "weather", "--client", "codex"]);
    assert!(
        elsewhere.stderr.starts_with("error: none of these clients and scopes has a server `weather`\n"),
        "{}",
        elsewhere.stderr
    );
    assert_eq!((near.code, elsewhere.code), (Some(2), Some(2)));
}

#[test]
fn a_file_in_another_encoding_is_to_be_saved_as_utf_8() {
    let home = Home::new();
    home.put(".cursor/mcp.json", "");
    let utf_16: Vec<u8> = "\u{feff}{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(home.path(".cursor/mcp.json"), &utf_16).expect("a file");
    for arguments in [&["add", "a", "--client", "cursor", "--no-verify", "--", "x"][..], &["list"], &["remove", "a"]] {
        let ran = home.run(arguments);
        assert!(ran.stderr.contains("it is not UTF-8\n  try: save the file as UTF-8 in an editor\n"), "{}", ran.stderr);
    }
    assert_eq!(std::fs::read(home.path(".cursor/mcp.json")).expect("a file"), utf_16);
}

#[test]
fn the_doctor_walks_to_what_does_not_answer() {
    let home = Home::new();
    let script = "echo no key >&2; exit 7";
    let server = json!({ "command": "sh", "args": ["-c", script] });
    home.put(".cursor/mcp.json", &json!({ "mcpServers": { "gone": server } }).to_string());
    let named = home.run(&["doctor", "gone", "--client", "cursor"]);
    assert_eq!(named.code, Some(3), "{}", named.stderr);
    assert!(named.stdout.contains("failed   start") && named.stdout.contains("code 7"), "{}", named.stdout);
    let all = home.run(&["doctor", "--client", "cursor"]);
    assert_eq!((all.code, all.stdout.contains("cursor gone (user): not started")), (Some(0), true), "{}", all.stdout);
    let broken = home.run(&["doctor", "--format", "json", "--", "sh", "-c", script]);
    assert_eq!(broken.code, Some(3), "{}", broken.stderr);
    let document: Value = serde_json::from_str(&broken.stdout).expect("JSON");
    assert_eq!((&document["target"]["failed"], &document["target"]["works"]), (&json!("start"), &json!(false)));
    let works = home.run(&["doctor", "--", env!("CARGO_BIN_EXE_proof"), "serve", "--stdio"]);
    assert_eq!(works.code, Some(0), "{}{}", works.stdout, works.stderr);
    assert!(works.stdout.contains("serve --stdio: works") && !works.stdout.contains("failed"), "{}", works.stdout);
}

#[test]
fn servers_of_a_project_wait_for_an_approval() {
    let home = Home::new();
    let servers = json!({ "a": { "command": "a" }, "b": { "command": "b" } });
    home.put("project/.mcp.json", &json!({ "mcpServers": servers }).to_string());
    let standings = |folder: Option<&str>| {
        let mut command = home.command(&["config", "effective", "--client", "claude-code", "--json"]);
        if let Some(folder) = folder {
            command.env("CLAUDE_CONFIG_DIR", home.path(folder));
        }
        let ran = crate::printed::Printed::by(&mut command);
        let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let entries = document["entries"].as_array().expect("a list").clone();
        entries
            .iter()
            .map(|one| format!("{} {}", one["standing"].as_str().unwrap(), one["why"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    let expect = |folder: Option<&str>, expected: [&str; 2]| {
        let found = standings(folder);
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}, expected {expected}");
        }
    };
    let pending = "pending approval not used before you approve it: run `claude` in this folder";
    expect(None, [pending, pending]);
    // What the repository brings approves nothing before the user trusts the folder.
    home.put("project/.claude/settings.json", "{ \"enableAllProjectMcpServers\": true }");
    expect(None, [pending, pending]);
    assert!(standings(None)[0].contains("enableAllProjectMcpServers in"), "{:?}", standings(None));
    // The user's own settings of the folder count at once.
    home.put("project/.claude/settings.local.json", "{ \"enabledMcpjsonServers\": [\"a\"] }");
    expect(None, ["used used: approved by enabledMcpjsonServers in", pending]);
    let trust = |folder: String| {
        let projects = json!({ folder: { "hasTrustDialogAccepted": true } });
        home.put(".claude.json", &json!({ "projects": projects }).to_string());
    };
    trust(home.path("elsewhere").to_string_lossy().into_owned());
    expect(None, ["used used: approved by enabledMcpjsonServers in", pending]);
    trust(home.project());
    expect(None, ["used used: approved by enabledMcpjsonServers", "used used: approved by enableAllProjectMcpServers"]);
    let text = home.done(&["config", "effective", "--client", "claude-code"]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    // A rejection wins; the variable says where the user's own choices are.
    home.put(
        "other/settings.json",
        "{ \"enabledMcpjsonServers\": [\"a\", \"b\"], \"disabledMcpjsonServers\": [\"b\"] }",
    );
    expect(
        Some("other"),
        ["used used: approved by enabledMcpjsonServers in", "switched off not used: disabledMcpjsonServers in"],
    );
    home.put("other/settings.json", "{}");
    std::fs::remove_file(home.path("project/.claude/settings.local.json")).expect("a file");
    expect(Some("other"), [pending, pending]);
    let doctor = home.run(&["doctor", "a", "--client", "claude-code"]);
    assert!(!doctor.stdout.contains("approve"), "it is approved: {}", doctor.stdout);
}

//! Add, remove, undo and sync.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::home::{Home, mode};

const ADD: [&str; 4] = ["--no-verify", "--", "npx", "-y"];

#[test]
fn an_entry_goes_in_and_out_and_the_file_is_as_it_was() {
    for (client, file, text) in [
        ("cursor", ".cursor/mcp.json", None),
        ("cursor", ".cursor/mcp.json", Some("{}")),
        ("cursor", ".cursor/mcp.json", Some("{\n}\n")),
        ("codex", ".codex/config.toml", Some("model = \"x\" # why\r\n")),
        ("goose", ".config/goose/config.yaml", Some("# only a comment\n")),
        ("goose", ".config/goose/config.yaml", Some("extensions:\nGOOSE: 1")),
        ("opencode", ".config/opencode/opencode.json", Some("{\"mcp\": {\"servers\": {}}}")),
    ] {
        let home = Home::new();
        if let Some(text) = text {
            home.put(file, text);
        }
        let before = std::fs::read(home.path(file)).ok();
        home.done(&[&["add", "one", "--client", client][..], &ADD, &["one@1.0.0"]].concat());
        home.done(&[&["add", "two", "--client", client][..], &ADD, &["two@1.0.0"]].concat());
        let both = home.text(file);
        assert!(both.contains("one@1.0.0") && both.contains("two@1.0.0"), "{both}");
        home.done(&["remove", "two"]);
        home.done(&["remove", "one"]);
        assert_eq!(std::fs::read(home.path(file)).ok(), before, "{client} {text:?}");
        // And back, step by step.
        home.done(&["undo"]);
        home.done(&["undo"]);
        assert_eq!(home.text(file), both, "{client} {text:?}");
        home.done(&["undo"]);
        home.done(&["undo"]);
        assert_eq!(std::fs::read(home.path(file)).ok(), before);
        assert_eq!(home.run(&["undo"]).code, Some(2), "nothing is left to take back");
    }
}

#[test]
fn scopes_of_claude_code() {
    let home = Home::new();
    home.put(".claude.json", "{\n  \"numStartups\": 3\n}\n");
    let add = |arguments: &[&str]| home.done(&[&["add", "--client", "claude-code", "--no-verify"], arguments].concat());
    add(&["srv", "--env", "KEY=value", "--", "python", "server.py", "--port", "8080"]);
    let entry = json!({ "type": "stdio", "command": "python", "args": ["server.py", "--port", "8080"], "env": { "KEY": "value" } });
    let user = home.json(".claude.json");
    assert_eq!(user["projects"][home.project()]["mcpServers"]["srv"], entry);
    assert_eq!(user["numStartups"], 3);
    add(&["srv", "--scope", "user", "--", "python", "user.py"]);
    add(&["srv", "--scope", "project", "--", "python", "project.py"]);
    assert_eq!(home.json("project/.mcp.json")["mcpServers"]["srv"]["args"][0], "project.py");
    let effective: Value =
        serde_json::from_str(&home.done(&["config", "effective", "--client", "claude-code", "--json"])).expect("JSON");
    let entries = effective["entries"].as_array().expect("a list");
    let all: Vec<_> =
        entries.iter().map(|one| (one["scope"].as_str().unwrap(), one["standing"].as_str().unwrap())).collect();
    assert_eq!(all, [("local", "used"), ("project", "shadowed"), ("user", "shadowed")]);
    home.done(&["remove", "srv", "--scope", "local"]);
    let text = home.done(&["config", "effective"]);
    assert!(text.contains("claude-code srv (project): not used before you approve it: run `claude`"), "{text}");
    assert!(text.contains("claude-code srv (user): not used: the entry of scope project wins"), "{text}");
    let undone = home.run(&["add", "srv", "--client", "cursor", "--scope", "local", "--no-verify", "--", "x"]);
    assert_eq!(undone.code, Some(2));
    assert!(undone.stderr.contains("it has no scope `local`"), "{}", undone.stderr);
}

/// As Claude Code 2.1.197 does it (`cargo xtask clients-peers`).
#[test]
fn the_local_scope_is_that_of_the_repository() {
    let home = Home::new();
    let add = |name: &str, folder: &str| {
        let mut command = home.command(&["add", name, "--client", "claude-code", "--no-verify", "--", "x"]);
        assert_eq!(
            command.current_dir(home.path(folder)).stdout(Stdio::null()).status().expect("it runs").code(),
            Some(0)
        );
    };
    home.put("project/.git/HEAD", "");
    home.put("project/sub/file", "");
    add("below", "project/sub");
    home.put("tree/.git", &format!("gitdir: {}/.git/worktrees/tree\n", home.project()));
    home.put("project/.git/worktrees/tree/gitdir", &format!("{}\n", home.path("tree/.git").display()));
    add("worktree", "tree");
    home.put("module/.git", "gitdir: ../project/.git/modules/module\n");
    add("module", "module");
    let projects = home.json(".claude.json")["projects"].clone();
    let servers = &projects[home.project()]["mcpServers"];
    assert!(servers["below"].is_object() && servers["worktree"].is_object(), "{projects}");
    assert_eq!(projects.as_object().expect("projects").len(), 2, "{projects}");
    // A folder that only claims to be a worktree gets no entry under the repository.
    home.put("claim/.git", &format!("gitdir: {}/.git/worktrees/tree\n", home.project()));
    add("claimed", "claim");
    let servers = home.json(".claude.json")["projects"][home.project()]["mcpServers"].clone();
    assert!(servers["claimed"].is_null(), "{servers}");
    assert!(home.done(&["list"]).contains("below"));
    home.done(&["remove", "below"]);
}

#[test]
fn a_dry_run_as_json_names_the_place_and_writes_nothing() {
    let home = Home::new();
    let words = [
        "add",
        "--client",
        "claude-code",
        "--scope",
        "local",
        "--env",
        "KEY=value",
        "myserver",
        "--dry-run",
        "--json",
        "--",
    ];
    let text = home.done(&[&words[..], &["python", "server.py", "--port", "8080"]].concat());
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let change = &document["changes"][0];
    let pointer = format!("/projects/{}/mcpServers/myserver", home.project().replace('/', "~1"));
    assert_eq!((change["pointer"].as_str(), &change["outcome"]), (Some(pointer.as_str()), &json!("added")));
    assert!(change["diff"].as_str().expect("a text").contains("+          \"command\": \"python\""), "{text}");
    assert_eq!(std::fs::read_dir(home.path("")).expect("a folder").count(), 1, "the project alone");
    let shown = home.done(&["add", "a", "--client", "codex", "--dry-run", "--", "x"]);
    assert!(shown.starts_with("--- /dev/null\n+++ ") && shown.contains("+[mcp_servers.a]\n"), "{shown}");
    let order = home.run(&["add", "--from-claude", "claude mcp add name --env K=v -- x", "--client", "codex"]);
    assert_eq!(order.code, Some(2));
    assert!(order.stderr.contains("Claude Code takes options before it"), "{}", order.stderr);
}

#[test]
fn a_second_run_changes_nothing() {
    let home = Home::new();
    home.put("list.yaml", "clients: [cursor, codex, goose]\nservers:\n  one: { command: npx, args: [-y, one@1.0.0] }\n  two: { url: \"https://h.example/mcp\", headers: { X-Mode: fast } }\n");
    let check = || home.run(&["sync", "../list.yaml", "--check"]).code;
    assert_eq!(check(), Some(1), "drift");
    let first = home.done(&["sync", "../list.yaml"]);
    let files = [".cursor/mcp.json", ".codex/config.toml", ".config/goose/config.yaml"];
    let before =
        files.map(|file| (home.text(file), home.path(file).metadata().expect("a file").modified().expect("a time")));
    assert_eq!(check(), Some(0));
    let again = home.done(&["sync", "../list.yaml"]);
    assert_eq!(again.matches("unchanged").count(), 6, "{again}");
    assert_eq!(first.matches("Cursor reads the file when it changes").count(), 1, "once for two servers: {first}");
    let after =
        files.map(|file| (home.text(file), home.path(file).metadata().expect("a file").modified().expect("a time")));
    assert_eq!(before, after, "not even written");
    home.put(".cursor/mcp.json", &before[0].0.replace("one@1.0.0", "one@0.9.0"));
    assert_eq!(check(), Some(1), "drift");
    home.done(&["sync", "../list.yaml"]);
    assert_eq!(home.text(".cursor/mcp.json"), before[0].0);
    for (list, words) in [
        ("servers: {}", "declares no servers"),
        ("server: {}", "unknown key `server`"),
        ("servers: { a: { comand: x } }", "`comand` is not one of"),
        ("servers: { a: { command: x, args: [1] } }", "is no text"),
        ("clients: [x]\nservers: { a: { command: x } }", "unknown client `x`"),
        ("servers: [", "list.yaml: 2:1"),
    ] {
        home.put("list.yaml", list);
        let ran = home.run(&["sync", "../list.yaml", "--client", "cursor"]);
        assert_eq!(ran.code, Some(2), "{list}: {}", ran.stdout);
        assert!(ran.stderr.contains(words), "{list}: {}", ran.stderr);
    }
}

#[test]
fn another_server_under_a_declared_name_is_drift() {
    let home = Home::new();
    home.put("list.yaml", "clients: [cursor]\nservers:\n  one: { command: npx, args: [-y, one@1.0.0] }\n");
    home.done(&["add", "one", "--client", "cursor", "--no-verify", "--", "other"]);
    let checked = home.run(&["sync", "../list.yaml", "--check"]);
    assert_eq!(checked.code, Some(1), "{}", checked.stderr);
    assert!(checked.stderr.contains("`one` is another server there: other, not package one"), "{}", checked.stderr);
    // Without --check, nothing could be done.
    assert_eq!(home.run(&["sync", "../list.yaml"]).code, Some(2));
    // A file that cannot be read says nothing about drift.
    home.put(".cursor/mcp.json", "{");
    assert_eq!(home.run(&["sync", "../list.yaml", "--check"]).code, Some(2));
}

#[test]
fn two_at_once_lose_nothing() {
    let home = Home::new();
    let names: Vec<_> = (0..12).map(|number| format!("s{number}")).collect();
    let start = |name: &String| {
        home.command(&["add", name, "--client", "cursor,codex", "--no-verify", "--", "npx", "-y", "p@1.0.0"])
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts")
    };
    let children: Vec<_> = names.iter().map(start).collect();
    for mut child in children {
        assert_eq!(child.wait().expect("it ends").code(), Some(0));
    }
    let servers = home.json(".cursor/mcp.json")["mcpServers"].clone();
    let toml = home.text(".codex/config.toml");
    for name in &names {
        assert!(servers[name].is_object() && toml.contains(&format!("[mcp_servers.{name}]\n")), "{name}");
    }
}

#[test]
fn secrets_stay_out_of_files_and_output() {
    const SECRET: &str = "sk-live-4242424242424242abcdef";
    let home = Home::new();
    let env = format!("API_KEY={SECRET}");
    let add = |client: &str, more: &[&str]| {
        home.run(
            &[&["add", "srv", "--client", client, "--env", &env, "--no-verify"], more, &["--", "npx", "p@1"]].concat(),
        )
    };
    for (client, file, reference) in [
        ("cursor", ".cursor/mcp.json", "${env:API_KEY}"),
        ("codex", ".codex/config.toml", "env_vars = [\"API_KEY\"]"),
        ("goose", ".config/goose/config.yaml", "env_keys:"),
        ("vscode", ".config/Code/User/mcp.json", "${input:srv-api-key}"),
    ] {
        let ran = add(client, &[]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let text = home.text(file);
        assert!(text.contains(reference) && !text.contains(SECRET), "{text}");
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(SECRET), "{}", ran.stdout);
    }
    // A client without references is asked; without a terminal the answer is no.
    let refused = add("lm-studio", &[]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("would stand in clear: env.API_KEY") && refused.stderr.contains("--clear-secrets"),
        "{}",
        refused.stderr
    );
    assert!(!home.path(".lmstudio/mcp.json").exists());
    let dry = add("lm-studio", &["--dry-run"]);
    assert_eq!(dry.code, Some(2), "a dry run refuses what the run refuses: {}", dry.stdout);
    let shown = add("lm-studio", &["--dry-run", "--clear-secrets"]);
    assert!(shown.stdout.contains("API_KEY") && !shown.stdout.contains(SECRET), "{}", shown.stdout);
    let agreed = add("lm-studio", &["--clear-secrets"]);
    assert!(
        agreed.stdout.contains("In clear in this file: env.API_KEY") && !agreed.stdout.contains(SECRET),
        "{}",
        agreed.stdout
    );
    assert!(home.text(".lmstudio/mcp.json").contains(SECRET));
    assert_eq!(mode(&home.path(".lmstudio/mcp.json")), 0o600);
    // A neighbour's secret does not get into a diff, nor into the list.
    let diff = home.done(&["add", "other", "--client", "lm-studio", "--dry-run", "--", "x"]);
    assert!(diff.contains("\"other\"") && !diff.contains(SECRET), "{diff}");
    let list = home.done(&["list"]);
    assert!(list.contains("a secret stands in clear in env.API_KEY") && !list.contains(SECRET), "{list}");
    // What is kept for `undo` is private.
    let state = home.path(".local/state/proof/clients");
    assert_eq!(mode(&state), 0o700);
    home.done(&["remove", "srv", "--client", "lm-studio"]);
    let copies = std::fs::read_dir(&state).expect("a folder").flatten().filter(|entry| entry.path().is_dir());
    for copy in copies.flat_map(|folder| std::fs::read_dir(folder.path()).expect("a folder").flatten()) {
        assert_eq!(mode(&copy.path()), 0o600, "{copy:?}");
    }
}

#[test]
fn a_file_that_changed_since_is_not_taken_back() {
    let home = Home::new();
    home.put(".cursor/mcp.json", "{ \"mcpServers\": {} }\n");
    home.done(&["add", "a", "--client", "cursor,codex", "--no-verify", "--", "x"]);
    home.put(".cursor/mcp.json", "{ \"mcpServers\": { \"mine\": { \"command\": \"y\" } } }\n");
    let ran = home.run(&["undo"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert!(ran.stderr.contains("was changed since") && ran.stderr.contains(".before"), "{}", ran.stderr);
    assert!(home.text(".cursor/mcp.json").contains("mine"));
    assert!(!home.path(".codex/config.toml").exists(), "the other file is taken back");
    let again = home.run(&["undo"]);
    assert_eq!(again.code, Some(2), "it does not stick to one change: {}", again.stdout);
}

#[test]
fn undo_goes_on_with_the_change_before() {
    let home = Home::new();
    home.done(&["add", "a", "--client", "codex", "--no-verify", "--", "x"]);
    home.done(&["add", "b", "--client", "cursor", "--no-verify", "--", "x"]);
    home.put(".cursor/mcp.json", "{}");
    let ran = home.run(&["undo"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.starts_with("did not take back `add b`"), "{}", ran.stdout);
    assert!(ran.stderr.contains("there was no file before") && !ran.stderr.contains(".before"), "{}", ran.stderr);
    assert!(home.done(&["undo"]).starts_with("took back `add a`"));
    assert!(!home.path(".codex/config.toml").exists());
}

#[test]
fn a_journal_with_a_strange_folder_is_used() {
    let home = Home::new();
    home.put(".local/state/proof/clients/18446744073709551615/x", "");
    home.done(&["add", "a", "--client", "cursor", "--no-verify", "--", "x"]);
    home.done(&["undo"]);
}

#[test]
fn links_of_a_project_do_not_lead_out_of_it() {
    let home = Home::new();
    let add =
        |client: &str| home.run(&["add", "a", "--client", client, "--scope", "project", "--no-verify", "--", "x"]);
    std::os::unix::fs::symlink("../.profile", home.path("project/.mcp.json")).expect("a link");
    std::fs::create_dir(home.path(".cursor")).expect("a folder");
    std::os::unix::fs::symlink(home.path(".cursor"), home.path("project/.cursor")).expect("a link");
    for (client, file) in [("claude-code", ".profile"), ("cursor", ".cursor/mcp.json")] {
        let ran = add(client);
        assert_eq!(ran.code, Some(2), "{}", ran.stdout);
        assert!(ran.stderr.contains("a link leads out of the project"), "{}", ran.stderr);
        assert!(!home.path(file).exists());
    }
    std::fs::remove_file(home.path("project/.mcp.json")).expect("a link");
    home.put("project/sub/real.json", "{}");
    std::os::unix::fs::symlink("sub/real.json", home.path("project/.mcp.json")).expect("a link");
    assert_eq!(add("claude-code").code, Some(0), "a link inside is fine");
    assert!(home.text("project/sub/real.json").contains("\"a\""));
}

#[test]
fn a_file_of_the_project_is_at_the_root_of_the_repository() {
    let home = Home::new();
    home.put("project/.git/HEAD", "");
    home.put("project/src/x", "");
    let mut command = home.command(&["add", "a", "--client", "cursor", "--scope", "project", "--no-verify", "--", "x"]);
    assert!(command.current_dir(home.path("project/src")).stdout(Stdio::null()).status().expect("it runs").success());
    assert!(home.path("project/.cursor/mcp.json").exists() && !home.path("project/src/.cursor").exists());
}

#[test]
fn values_are_secret_or_not_alike_everywhere() {
    let home = Home::new();
    home.done(&[
        "add",
        "a",
        "--client",
        "cursor",
        "--no-verify",
        "--env",
        "PGPASS=hunter22xyz",
        "--env",
        "NOTION=ntn_4829a7c1e5b36d08f2",
        "--env",
        "GOOGLE_APPLICATION_CREDENTIALS=/home/u/key.json",
        "--env",
        "REGION=eu-central-1",
        "--",
        "x",
    ]);
    let env = home.json(".cursor/mcp.json")["mcpServers"]["a"]["env"].clone();
    assert_eq!(
        env,
        json!({
            "PGPASS": "${env:PGPASS}", "NOTION": "${env:NOTION}",
            "GOOGLE_APPLICATION_CREDENTIALS": "/home/u/key.json", "REGION": "eu-central-1",
        })
    );
}

#[test]
fn what_a_stranger_describes_is_shown_and_not_started() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    home.put("bin/npx", "#!/bin/sh\ntouch \"$HOME/started\"\n");
    std::fs::set_permissions(home.path("bin/npx"), std::fs::Permissions::from_mode(0o755)).expect("permissions");
    home.put("project/server.json", r#"{ "name": "io.github.owner/weather", "packages": [{ "registryType": "npm", "identifier": "p", "runtimeArguments": [{ "type": "named", "name": "-c", "value": "touch x" }], "environmentVariables": [{ "name": "LD_PRELOAD", "value": "./evil.so" }, { "name": "AWS_SECRET_ACCESS_KEY", "isRequired": true }] }] }"#);
    let mut command =
        home.command(&["add", "io.github.owner/weather", "--registry", "server.json", "--client", "claude-code"]);
    let path = format!("{}:/usr/bin:/bin", home.path("bin").display());
    let ran = crate::printed::Printed::by(command.env("PATH", path).env("AWS_SECRET_ACCESS_KEY", "value-of-the-user"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for words in ["npx -y -c touch x p", "LD_PRELOAD: ./evil.so", "not connected"] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    assert!(!home.path("started").exists());
    let text = home.text(".claude.json");
    assert!(text.contains("${WEATHER_AWS_SECRET_ACCESS_KEY}") && !text.contains("${AWS"), "{text}");
}

#[test]
fn what_is_verified_is_what_was_written() {
    let home = Home::new();
    let proof = env!("CARGO_BIN_EXE_proof");
    let secret = "API_KEY=sk-live-4242424242424242abcdef";
    let ran = home.run(&["add", "a", "--client", "cursor", "--env", secret, "--", proof, "serve", "--stdio"]);
    assert!(!ran.stdout.contains("answers"), "{}", ran.stdout);
    assert!(ran.stderr.contains("API_KEY, which is not set here"), "{}", ran.stderr);
    let slow = home.run(&["add", "b", "--client", "cursor,codex", "--timeout", "1", "--", "sleep", "60"]);
    assert_eq!(slow.code, Some(3), "{}", slow.stderr);
    assert_eq!(slow.stderr.matches("error:").count(), 1, "equal servers are started once: {}", slow.stderr);
}

#[test]
fn a_server_json_becomes_an_entry_of_each_client() {
    let home = Home::new();
    home.put("project/server.json", r#"{ "name": "io.github.owner/weather", "packages": [{ "registryType": "npm", "identifier": "weather-mcp", "version": "1.2.3", "transport": { "type": "stdio" }, "environmentVariables": [{ "name": "KEY", "isRequired": true, "isSecret": true }] }], "remotes": [{ "type": "streamable-http", "url": "https://w.example/mcp" }] }"#);
    let add = |client: &str| {
        home.done(&["add", "io.github.owner/weather", "--registry", "server.json", "--client", client, "--no-verify"])
    };
    add("cursor");
    assert_eq!(home.json(".cursor/mcp.json")["mcpServers"]["weather"]["url"], "https://w.example/mcp");
    let refused = home.run(&[
        "add",
        "io.github.owner/weather",
        "--registry",
        "server.json",
        "--client",
        "claude-desktop",
        "--no-verify",
    ]);
    assert!(refused.stderr.contains("KEY is not set here"), "{}", refused.stderr);
    let other = home.run(&["add", "io.github.other/weather", "--registry", "server.json", "--client", "cursor"]);
    assert_eq!(other.code, Some(2), "{}", other.stdout);
    assert!(other.stderr.contains("it is the server.json of io.github.owner/weather"), "{}", other.stderr);
}

#[test]
fn after_add_the_server_is_connected_and_locked() {
    let home = Home::new();
    let proof = env!("CARGO_BIN_EXE_proof");
    let text = home.done(&["add", "ref", "--client", "cursor", "--lock", "--", proof, "serve", "--stdio"]);
    assert!(text.contains("answers, at revision") && text.contains("locked ref: "), "{text}");
    assert!(home.text("project/mcp.lock").contains("\"ref\""));
    // Both entries are started, one after the other.
    home.done(&["add", "ref", "--client", "codex", "--", proof, "serve", "--stdio"]);
    let both = home.done(&["doctor", "ref"]);
    assert_eq!(both.matches(": works").count(), 2, "{both}");
    let silent = home.run(&["add", "gone", "--client", "cursor", "--", "false"]);
    assert_eq!(silent.code, Some(3), "{}", silent.stdout);
    assert!(silent.stderr.contains("`proof undo` takes the entry back"), "{}", silent.stderr);
    let doctor = home.run(&["doctor", "gone", "--json"]);
    assert_eq!(doctor.code, Some(3), "{}", doctor.stdout);
}

#[test]
fn an_api_is_added_by_its_description() {
    let home = Home::new();
    let description = json!({
        "openapi": "3.1.0", "info": { "title": "Pet Store – v2", "version": "1" },
        "servers": [{ "url": "http://127.0.0.1:9/" }],
        "paths": { "/pets": { "get": { "operationId": "list_pets", "responses": { "200": { "description": "pets" } } } } },
    });
    home.put("project/pets.json", &description.to_string());
    home.put("project/pets-api.yaml", "name: pets\n");
    let text = home.done(&["add", "./pets.json", "--client", "cursor", "--env", "PETS_KEY=none", "--lock"]);
    assert!(text.contains("answers, at revision") && text.contains("locked pet-store-v2: "), "{text}");
    let entry = home.json(".cursor/mcp.json")["mcpServers"]["pet-store-v2"].clone();
    let file = home.path("project/pets.json").to_string_lossy().into_owned();
    assert_eq!(entry["args"], json!(["serve", "--stdio", "--openapi", file]), "{entry}");
    assert!(std::path::Path::new(entry["command"].as_str().expect("a text")).is_absolute(), "{entry}");
    assert!(home.text("project/mcp.lock").contains("list_pets"));
    // A name of the user's, and the configuration of the API.
    home.done(&["add", "mine", "pets.json", "--api-config", "pets-api.yaml", "--client", "cursor"]);
    let words = home.json(".cursor/mcp.json")["mcpServers"]["mine"]["args"].clone();
    assert!(words[5].as_str().is_some_and(|word| word.ends_with("/project/pets-api.yaml")), "{words}");
    let before = home.text(".cursor/mcp.json");
    home.put("project/server.json", r#"{ "name": "io.github.owner/weather", "packages": [] }"#);
    home.put("project/broken.yaml", "openapi: [");
    for (words, expected) in [
        (["gone.yaml"].as_slice(), "cannot read gone.yaml"),
        (&["server.json"], "it has no `openapi`"),
        (&["broken.yaml"], "broken.yaml:2:1"),
        (&["pets.json", "--header", "X: y"], "--api-config FILE"),
        (&["pets.json", "--api-config", "gone.yaml"], "cannot read gone.yaml"),
        (&["https://pets.example/mcp", "--api-config", "pets-api.yaml"], "is for an OpenAPI description"),
    ] {
        let ran = home.run(&[&["add", "--client", "cursor", "--no-verify"], words].concat());
        assert!(ran.code == Some(2) && ran.stderr.contains(expected), "{words:?}: {}", ran.stderr);
    }
    assert_eq!(home.text(".cursor/mcp.json"), before, "nothing was written");
    // After `--` stands a command, so this is a name.
    home.done(&["add", "a.json", "--client", "cursor", "--no-verify", "--", "npx", "-y", "a@1.0.0"]);
    assert_eq!(home.json(".cursor/mcp.json")["mcpServers"]["a.json"]["command"], "npx");
}

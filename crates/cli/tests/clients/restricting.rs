//! What Claude Code may use: managed files, and lists of allowed and denied servers in its settings.

use serde_json::{Value, json};

use crate::home::Home;

/// The managed files of Claude Code, in a folder of the test.
#[test]
fn managed_files_decide() {
    let home = Home::new();
    for (name, words) in [("exact", ["npx", "-y", "x"].as_slice()), ("other", &["npx", "x"])] {
        home.done(&[&["add", name, "--client", "claude-code", "--scope", "user", "--no-verify", "--"], words].concat());
    }
    home.done(&["add", "corp", "https://a.corp/mcp", "--client", "claude-code", "--scope", "user", "--no-verify"]);
    home.done(&["add", "far", "https://a.example/mcp", "--client", "claude-code", "--scope", "user", "--no-verify"]);
    let managed = home.path("managed").to_string_lossy().into_owned();
    let standings = || {
        let text = home.done(&["config", "effective", "--managed", &managed, "--json"]);
        let document: Value = serde_json::from_str(&text).expect("JSON");
        let entries = document["entries"].as_array().expect("a list").clone();
        entries
            .iter()
            .map(|one| format!("{} {}", one["name"].as_str().unwrap(), one["standing"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(standings(), ["corp used", "exact used", "far used", "other used"]);
    home.put(
        "managed/managed-settings.json",
        &json!({
            "allowedMcpServers": [{ "serverCommand": ["npx", "-y", "x"] }, { "serverUrl": "https://*.corp/*" }],
            "deniedMcpServers": [{ "serverName": "corp" }],
        })
        .to_string(),
    );
    assert_eq!(standings(), ["corp denied", "exact used", "far denied", "other denied"]);
    let doctor = home.run(&["doctor", "other", "--managed", &managed]);
    assert_eq!(doctor.code, Some(1), "{}", doctor.stderr);
    assert!(doctor.stdout.contains("fault: not used: denied, because allowedMcpServers in"), "{}", doctor.stdout);
    home.put("managed/managed-mcp.json", &json!({ "mcpServers": { "given": { "command": "y" } } }).to_string());
    assert_eq!(standings(), ["corp", "exact", "far", "other"].map(|name| format!("{name} ignored: exclusive")));
    let text = home.done(&["config", "effective", "--managed", &managed]);
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains("managed-mcp.json alone: given."), "{text}");
    home.put("managed/managed-settings.json", &json!({ "deniedMcpServers": [{ "name": "x" }] }).to_string());
    let ran = home.run(&["config", "effective", "--managed", &managed]);
    assert_eq!(ran.code, Some(2), "a policy that is half understood decides nothing");
    assert!(ran.stderr.contains("has the unknown member `name`"), "{}", ran.stderr);
}

/// Which of four servers of the user are used, and why one is not.
fn standings(home: &Home, managed: &str) -> Vec<(String, String)> {
    let ran = home.run(&["config", "effective", "--client", "claude-code", "--managed", managed, "--json"]);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stderr));
    let entries = document["entries"].as_array().expect("a list");
    let text = |one: &Value, member: &str| one[member].as_str().expect("a text").to_owned();
    entries.iter().map(|one| (format!("{} {}", text(one, "name"), text(one, "standing")), text(one, "why"))).collect()
}

fn home_with_servers() -> (Home, String) {
    let home = Home::new();
    for name in ["a", "b", "c"] {
        home.done(&["add", name, "--client", "claude-code", "--scope", "user", "--no-verify", "--", "run", name]);
    }
    let managed = home.path("managed").to_string_lossy().into_owned();
    (home, managed)
}

#[test]
fn lists_of_every_scope_count_and_a_denial_wins() {
    let (home, managed) = home_with_servers();
    let deny = |name: &str| json!({ "deniedMcpServers": [{ "serverName": name }] }).to_string();
    let allow = |names: &[&str]| {
        let rules: Vec<_> = names.iter().map(|name| json!({ "serverName": name })).collect();
        json!({ "allowedMcpServers": rules })
    };
    let expect = |expected: [&str; 3]| {
        let found = standings(&home, &managed);
        assert_eq!(found.iter().map(|(standing, _)| standing.as_str()).collect::<Vec<_>>(), expected, "{found:?}");
        found
    };
    let all = ["a used", "b used", "c used"];
    expect(all);
    // Each scope alone denies.
    for (file, shown) in [
        (".claude/settings.json", "/.claude/settings.json"),
        ("project/.claude/settings.json", "/project/.claude/settings.json"),
        ("project/.claude/settings.local.json", "/project/.claude/settings.local.json"),
        ("managed/managed-settings.json", "/managed/managed-settings.json"),
        ("managed/managed-settings.d/10-mcp.json", "/managed/managed-settings.d/10-mcp.json"),
    ] {
        home.put(file, &deny("b"));
        let found = expect(["a used", "b denied", "c used"]);
        let why = &found[1].1;
        assert!(
            why.contains("deniedMcpServers in ") && why.contains(shown) && why.ends_with("has the name `b`"),
            "{why}"
        );
        std::fs::remove_file(home.path(file)).expect("a file");
        expect(all);
    }
    // Claude Code reads the settings of the folder in which it starts.
    home.put("project/.git/HEAD", "ref: refs/heads/main\n");
    home.put("project/.claude/settings.json", &deny("b"));
    std::fs::create_dir_all(home.path("project/inner")).expect("a folder");
    let mut command = home.command(&["config", "effective", "--client", "claude-code", "--managed", &managed]);
    let ran = crate::printed::Printed::by(command.current_dir(home.path("project/inner")));
    assert!(ran.stdout.contains("b (user): used"), "{}", ran.stdout);
    std::fs::remove_file(home.path("project/.claude/settings.json")).expect("a file");
    // Only files of managed settings count.
    home.put("managed/managed-settings.d/.hidden.json", &deny("b"));
    home.put("managed/managed-settings.d/notes.txt", &deny("b"));
    expect(all);
    // Permissions of all scopes add up; a denial of the project wins over the user's permission.
    home.put("managed/managed-settings.json", &allow(&["a"]).to_string());
    home.put(".claude/settings.json", &allow(&["b"]).to_string());
    home.put("project/.claude/settings.local.json", &allow(&["c"]).to_string());
    expect(all);
    home.put("project/.claude/settings.json", &deny("b"));
    expect(["a used", "b denied", "c used"]);
    // Only the administrator's permissions, and everyone's denials.
    let mut only = allow(&["a", "b"]);
    only["allowManagedMcpServersOnly"] = json!(true);
    home.put("managed/managed-settings.json", &only.to_string());
    let found = expect(["a used", "b denied", "c denied"]);
    assert!(
        found[2].1.contains("allowedMcpServers in ") && found[2].1.contains("managed-settings.json does not have it")
    );
    // Other clients have no such lists.
    home.done(&["add", "b", "--client", "cursor", "--no-verify", "--", "run", "b"]);
    let text = home.done(&["config", "effective", "--client", "cursor", "--managed", &managed]);
    assert!(text.starts_with("cursor b (user): used\n"), "{text}");
}

#[test]
fn rules_see_the_values_of_variables_and_do_not_show_them() {
    let (home, managed) = home_with_servers();
    let url = json!({ "type": "http", "url": "https://${PLACE}/mcp" });
    home.put(".claude.json", &json!({ "mcpServers": { "far": url } }).to_string());
    home.put(".claude/settings.json", r#"{ "deniedMcpServers": [{ "serverUrl": "https://*.${DOMAIN}/*" }] }"#);
    let mut command = home.command(&["config", "effective", "--client", "claude-code", "--managed", &managed]);
    let ran = crate::printed::Printed::by(command.env("PLACE", "x.corp.example").env("DOMAIN", "corp.example"));
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("far (user): not used: denied") && text.contains("https://*.${DOMAIN}/*"), "{text}");
    assert!(!text.contains("corp.example"), "{text}");
}

#[test]
fn settings_that_cannot_be_read_are_named_and_the_others_count() {
    let (home, managed) = home_with_servers();
    home.put("project/.claude/settings.json", "{\n  \"deniedMcpServers\": [{ \"serverName\": \"a\" }");
    home.put(".claude/settings.json", r#"{ "deniedMcpServers": [{ "server": "a" }, { "serverName": "b" }] }"#);
    let arguments = ["config", "effective", "--client", "claude-code", "--managed", &managed];
    let ran = home.run(&arguments);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("/project/.claude/settings.json:2:44: Claude Code cannot read this: EOF"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("/.claude/settings.json: a rule of `deniedMcpServers` has the unknown member"));
    assert!(
        ran.stdout.contains("a (user): used") && ran.stdout.contains("b (user): not used: denied"),
        "{}",
        ran.stdout
    );
    home.put("managed/managed-settings.d/1.json", r#"{ "allowedMcpServers": 1 }"#);
    let ran = home.run(&arguments);
    assert_eq!(ran.code, Some(2), "a managed file that is half understood decides nothing");
    assert!(ran.stderr.contains("managed-settings.d/1.json: `allowedMcpServers` is not a list"), "{}", ran.stderr);
}

#[test]
fn denials_hold_for_the_servers_of_a_managed_list_too() {
    let (home, managed) = home_with_servers();
    let servers = json!({ "mcpServers": {
        "given": { "command": "x" }, "mine": { "command": "y" }, "open": { "command": "z", "args": ["${HOME}"] },
    } });
    home.put("managed/managed-mcp.json", &servers.to_string());
    home.put("managed/managed-settings.json", r#"{ "allowedMcpServers": [] }"#);
    home.put(".claude/settings.json", r#"{ "deniedMcpServers": [{ "serverName": "mine" }] }"#);
    let text = home.done(&["config", "effective", "--client", "claude-code", "--managed", &managed, "--json"]);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    // Its own servers need no permission, but for one with the user's variables.
    assert_eq!(document["managed"]["servers"], json!(["given"]));
    let denied = document["managed"]["denied"].as_array().expect("a list");
    assert_eq!(denied.iter().map(|one| &one["name"]).collect::<Vec<_>>(), ["mine", "open"]);
    let text = home.done(&["config", "effective", "--client", "claude-code", "--managed", &managed]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("alone: given. mine is not used: denied, because deniedMcpServers in"), "{text}");
}

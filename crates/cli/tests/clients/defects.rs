//! What another installer was measured to do wrong, one test for each.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::home::{Home, mode};

#[test]
fn d1_comments_of_toml_and_yaml_stay() {
    let home = Home::new();
    let (toml, yaml) = ("# mine\nmodel = \"x\"   # why\n", "# mine\nGOOSE_MODE:   auto   # why\n");
    home.put(".codex/config.toml", toml);
    home.put(".config/goose/config.yaml", yaml);
    home.done(&["add", "a", "--client", "codex,goose", "--no-verify", "--", "x"]);
    assert!(home.text(".codex/config.toml").starts_with(toml));
    assert!(home.text(".config/goose/config.yaml").starts_with(yaml));
}

#[test]
fn d2_comments_inside_the_servers_stay() {
    let home = Home::new();
    home.put(
        ".config/zed/settings.json",
        "{\n  \"context_servers\": {\n    // mine\n    \"b\": { \"command\": \"y\" }, // why\n  },\n}\n",
    );
    home.done(&["add", "a", "--client", "zed", "--no-verify", "--", "x"]);
    let text = home.text(".config/zed/settings.json");
    assert!(text.contains("    // mine\n    \"b\": { \"command\": \"y\" }, // why\n    \"a\": {"), "{text}");
}

#[test]
fn d3_a_malformed_file_is_not_made_worse() {
    for text in ["not json at all {{{", "{ \"mcpServers\": { \"a\""] {
        let home = Home::new();
        home.put(".cursor/mcp.json", text);
        let ran = home.run(&["add", "b", "--client", "cursor", "--no-verify", "--", "x"]);
        assert_eq!(ran.code, Some(2), "{}", ran.stdout);
        assert!(ran.stderr.contains("mcp.json:1:"), "{}", ran.stderr);
        assert_eq!(home.text(".cursor/mcp.json"), text);
    }
}

#[test]
fn d4_only_the_whole_name_is_removed() {
    let home = Home::new();
    for name in ["ex", "context7", "index"] {
        home.done(&["add", name, "--client", "cursor", "--no-verify", "--", name]);
    }
    home.done(&["remove", "ex"]);
    let names =
        home.json(".cursor/mcp.json")["mcpServers"].as_object().expect("servers").keys().cloned().collect::<Vec<_>>();
    assert_eq!(names, ["context7", "index"]);
    let missing = home.run(&["remove", "ex"]);
    assert_eq!(missing.code, Some(2), "a name that does not exist is an error");
    assert!(missing.stderr.contains("no client has a server `ex`"), "{}", missing.stderr);
    home.done(&["remove", "*ex*", "--match"]);
    assert!(home.json(".cursor/mcp.json")["mcpServers"].as_object().expect("servers").is_empty());
}

#[test]
fn d5_members_of_the_user_stay_and_another_server_is_refused() {
    let home = Home::new();
    let text = "{ \"mcpServers\": { \"a\": { \"command\": \"npx\", \"args\": [\"-y\", \"p@1.0.0\"], \"disabled\": true, \"alwaysAllow\": [\"x\"] } } }";
    home.put(".cursor/mcp.json", text);
    let add = |package: &str| home.run(&["add", "a", "--client", "cursor", "--no-verify", "--", "npx", "-y", package]);
    assert_eq!(add("p@2.0.0").code, Some(0));
    assert_eq!(home.text(".cursor/mcp.json"), text.replace("p@1.0.0", "p@2.0.0"));
    let other = add("quite-another@1.0.0");
    assert_eq!(other.code, Some(2));
    assert!(
        other.stderr.contains("`a` is another server there: package p, not package quite-another"),
        "{}",
        other.stderr
    );
    assert_eq!(home.text(".cursor/mcp.json"), text.replace("p@1.0.0", "p@2.0.0"));
}

/// The shapes of these clients have constants, which are proposals for a new entry only.
#[test]
fn d5_choices_of_the_user_stay_where_the_client_has_such_members() {
    let home = Home::new();
    let cline = ".cline/data/settings/cline_mcp_settings.json";
    for (client, file, text) in [
        (
            "cline-cli",
            cline,
            "{\"mcpServers\": {\"a\": {\"command\": \"npx\", \"args\": [\"p@1.0.0\"], \"disabled\": true}}}",
        ),
        (
            "github-copilot-cli",
            ".copilot/mcp-config.json",
            "{\"mcpServers\": {\"a\": {\"type\": \"stdio\", \"command\": \"npx\", \"args\": [\"p@1.0.0\"], \"tools\": [\"read\"]}}}",
        ),
        (
            "opencode",
            ".config/opencode/opencode.jsonc",
            "{\"mcp\": {\"a\": {\"type\": \"local\", \"command\": [\"npx\", \"p@1.0.0\"], \"enabled\": false}}}",
        ),
        (
            "goose",
            ".config/goose/config.yaml",
            "extensions:\n  a:\n    name: mine\n    description: mine\n    type: stdio\n    cmd: npx\n    args:\n      - \"p@1.0.0\"\n    enabled: false\n    timeout: 20\n",
        ),
    ] {
        home.put(file, text);
        home.done(&["add", "a", "--scope", "user", "--client", client, "--no-verify", "--", "npx", "p@2.0.0"]);
        let expected = text.replace("p@1.0.0", "p@2.0.0").replace("name: mine", "name: a");
        assert_eq!(home.text(file), expected, "{client}");
    }
    let codex = "[mcp_servers.a]\ncommand = \"x\"\nargs = []\nenv_vars = [\"A\", \"B\"]\n";
    home.put(".codex/config.toml", codex);
    home.done(&["add", "a", "--client", "codex", "--no-verify", "--env", "C", "--", "x"]);
    assert_eq!(home.text(".codex/config.toml"), codex.replace("\"B\"", "\"B\", \"C\""));
}

#[test]
fn d6_modes_and_links_stay_and_there_is_a_copy() {
    let home = Home::new();
    home.put("dotfiles/mcp.json", "{}\n");
    std::fs::set_permissions(home.path("dotfiles/mcp.json"), std::fs::Permissions::from_mode(0o600))
        .expect("permissions");
    std::fs::create_dir(home.path(".cursor")).expect("a folder");
    symlink("../dotfiles/mcp.json", home.path(".cursor/mcp.json")).expect("a link");
    home.done(&["add", "a", "--client", "cursor", "--no-verify", "--", "x"]);
    assert!(home.path(".cursor/mcp.json").symlink_metadata().expect("a link").is_symlink());
    assert_eq!(mode(&home.path("dotfiles/mcp.json")), 0o600);
    assert_eq!(home.text(".local/state/proof/clients/00000001/0.before"), "{}\n");
    home.done(&["undo"]);
    assert_eq!(home.text("dotfiles/mcp.json"), "{}\n");
}

/// A rename would give one name of a hard link the new text and leave the others the old one.
#[test]
fn d6_a_hard_link_is_not_parted() {
    let home = Home::new();
    home.put(".cursor/mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": []}}}\n");
    std::fs::hard_link(home.path(".cursor/mcp.json"), home.path("dotfiles.json")).expect("a link");
    home.put(".codex/config.toml", "");
    for arguments in [
        &["add", "b", "--client", "cursor,codex", "--no-verify", "--", "y"][..],
        &["remove", "a"],
        &["add", "b", "--client", "cursor", "--dry-run", "--", "y"],
    ] {
        let ran = home.run(arguments);
        assert!(ran.stderr.contains("it is a hard link, and has 2 names; a change would part them"), "{}", ran.stderr);
        assert!(matches!(ran.code, Some(1 | 2)), "{:?}", ran.code);
    }
    assert!(home.text(".codex/config.toml").contains("[mcp_servers.b]"), "other clients get the server");
    assert!(
        home.text(".cursor/mcp.json") == home.text("dotfiles.json") && !home.text("dotfiles.json").contains("\"b\"")
    );
    home.done(&["add", "a", "--client", "cursor", "--no-verify", "--", "x"]);
}

#[test]
fn d7_a_command_is_what_the_shell_made_of_it() {
    let home = Home::new();
    home.done(&["add", "a", "--client", "cursor", "--no-verify", "--", "node", "/path with space/s.js"]);
    let entry = &home.json(".cursor/mcp.json")["mcpServers"]["a"];
    assert_eq!(entry["args"], serde_json::json!(["/path with space/s.js"]));
}

#[test]
fn d8_without_a_terminal_there_is_an_error_and_no_trace() {
    let home = Home::new();
    home.put(".cursor/mcp.json", "{}");
    let ran = home.run(&["add", "a", "--no-verify", "--", "x"]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.stderr, "error: no client is named; found: cursor\n  try: --client cursor, or --all\n");
    assert_eq!(home.text(".cursor/mcp.json"), "{}");
}

#[test]
fn d9_a_file_that_two_clients_share_is_named() {
    let home = Home::new();
    let text = home.done(&["add", "a", "--client", "claude-code", "--scope", "project", "--no-verify", "--", "x"]);
    assert!(
        text.split_whitespace().collect::<Vec<_>>().join(" ").contains(".mcp.json is read by github-copilot-cli, too."),
        "{text}"
    );
    let both = home.done(&[
        "add",
        "b",
        "--client",
        "claude-code,github-copilot-cli",
        "--scope",
        "project",
        "--no-verify",
        "--",
        "x",
    ]);
    assert!(both.contains("b added in claude-code") && both.contains("b unchanged in github-copilot-cli"), "{both}");
}

#[test]
fn d10_a_reference_is_that_of_the_client() {
    let home = Home::new();
    home.done(&[
        "add",
        "a",
        "https://h.example/mcp",
        "--header",
        "Authorization: Bearer ${TOKEN}",
        "--client",
        "claude-code,cursor,opencode,codex",
        "--scope",
        "user",
        "--no-verify",
    ]);
    for (file, reference) in [
        (".claude.json", "Bearer ${TOKEN}"),
        (".cursor/mcp.json", "Bearer ${env:TOKEN}"),
        (".config/opencode/opencode.jsonc", "Bearer {env:TOKEN}"),
        (".codex/config.toml", "bearer_token_env_var = \"TOKEN\""),
    ] {
        let text = home.text(file);
        assert!(text.contains(reference), "{file}: {text}");
    }
}

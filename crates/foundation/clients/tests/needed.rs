//! Variables that an entry needs, and where they stand in a file of each format.

use clients::needed::needed;
use clients::text::{Places, read};
use clients::{Scope, find, plan};
use serde_json::{Value, json};

/// The variables of all entries of a file, each with its place in the entry and in the file.
fn found(client: &str, text: &str) -> Vec<String> {
    let client = find(client).expect("a client");
    let value = read(text, client.format).expect("a file");
    let places = Places::of(text, client.format).expect("a file");
    let all = plan::held(client, Scope::User, &value).into_iter().flat_map(|held| {
        let places = &places;
        needed(client, &held.value).into_iter().map(move |one| {
            let at = places.find(&[held.way.as_slice(), &one.way].concat(), &one.written).expect("a place");
            format!("{} in {} at {}:{}", one.name, one.place(), at.line, at.column)
        })
    });
    all.collect()
}

#[test]
fn json_with_comments() {
    let text = "\u{feff}// ${NO}\n{\n  \"mcpServers\": {\n    \"a\": { /* ä */ \"command\": \"x\", \"args\": [\"-y\", \"é${A}/${B:-b}\"],\n      \"env\": { \"K\": \"${C}\" } },\n    \"b\": { \"type\": \"http\", \"url\": \"https://${D}/\", \"headers\": { \"X\": \"Bearer ${E}\" } }\n  },\n  \"projects\": { \"/p\": { \"mcpServers\": { \"c\": { \"command\": \"${F}\" } } } }\n}\n";
    assert_eq!(
        found("claude-code", text),
        [
            "A in args[1] at 4:53",
            "C in env.K at 5:22",
            "D in url at 6:44",
            "E in headers.X at 6:78",
            "F in command at 8:60",
        ]
    );
}

#[test]
fn toml_and_yaml() {
    let toml = "# TOKEN\n[mcp_servers.a]\ncommand = \"x\"\nenv_vars = [\"PATH\",\n  \"TOKEN\"]\n\n[mcp_servers.b]\nurl = \"https://h/\"\nbearer_token_env_var = \"BEARER\"\nenv_http_headers = { \"X-Key\" = \"KEY\" }\n";
    assert_eq!(
        found("codex", toml),
        [
            "PATH in env_vars[0] at 4:14",
            "TOKEN in env_vars[1] at 5:4",
            "BEARER in bearer_token_env_var at 9:25",
            "KEY in env_http_headers.X-Key at 10:33",
        ]
    );
    // No YAML client has references; the places of values are found all the same.
    let yaml = "mcpServers:\n  - name: a\n    command: x\n    args:\n      - -y\n      - \"${A}\"\n";
    let places = Places::of(yaml, clients::text::Format::Yaml).expect("a file");
    let client = find("continue").expect("a client");
    let held = plan::held(client, Scope::User, &read(yaml, client.format).expect("a file"));
    let way =
        [held[0].way.as_slice(), &[clients::text::Segment::Key("args".to_owned()), clients::text::Segment::Index(1)]];
    let at = places.find(&way.concat(), "${A}").expect("a place");
    assert_eq!((at.line, at.column), (6, 10));
}

#[test]
fn only_the_syntax_of_the_client_counts() {
    let entry = json!({ "command": "sh", "args": ["-c", "echo ${A} ${env:B} {env:C}"], "env": { "K": "${env:D:-d}" } });
    let names = |client: &str, entry: &Value| {
        let found = needed(find(client).expect("a client"), entry);
        found.into_iter().map(|one| one.name).collect::<Vec<_>>()
    };
    assert_eq!(names("claude-code", &entry), ["A"]);
    assert_eq!(names("cursor", &entry), ["B"]);
    assert_eq!(names("opencode", &entry), ["B", "C"], "it fills in what is in braces, also behind a dollar sign");
    assert_eq!(names("zed", &entry), [""; 0], "it fills in nothing");
    assert_eq!(names("vscode", &json!({ "env": { "K": "${input:k}", "F": "${workspaceFolder}" } })), [""; 0]);
    assert_eq!(names("goose", &json!({ "cmd": "x", "env_keys": ["K"] })), [""; 0], "it may be in the keyring");
}

//! Lists of allowed and denied servers, from the settings of several authors.

use clients::Launch;
use clients::policy::{Author, Decision, Policy, wildcard};
use clients::server::Transport;
use serde_json::{Value, json};

use Author::{Administrator, Anyone};

fn stdio(words: &[&str]) -> Launch {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    Launch::Stdio { command: words[0].clone(), args: words[1..].to_vec(), env: Vec::new() }
}

fn url(url: &str) -> Launch {
    Launch::Remote { transport: Transport::Http, url: url.to_owned(), headers: Vec::new() }
}

fn variable(name: &str) -> Option<String> {
    (name == "HOST").then(|| "a.corp".to_owned())
}

fn policy(files: &[(Author, Value)]) -> Policy {
    let mut policy = Policy::default();
    for (index, (author, settings)) in files.iter().enumerate() {
        let problems = policy.add(&format!("file {index}"), *author, settings, &variable);
        assert!(problems.is_empty(), "{problems:?}");
    }
    policy
}

fn denied(policy: &Policy, name: &str, launch: &Launch) -> Option<String> {
    match policy.decide(name, launch) {
        Decision::Allowed => None,
        Decision::Denied(why) => Some(why),
    }
}

#[test]
fn rules_decide() {
    let policy = |settings| policy(&[(Administrator, settings)]);
    let denied = |policy: &Policy, name: &str, launch: &Launch| denied(policy, name, launch).is_some();
    let npx = stdio(&["npx", "-y", "x"]);
    let exact =
        policy(json!({ "allowedMcpServers": [{ "serverCommand": ["npx", "-y", "x"] }, { "serverName": "named" }] }));
    assert!(!denied(&exact, "any", &npx));
    assert!(denied(&exact, "any", &stdio(&["npx", "x"])), "not the same array");
    assert!(denied(&exact, "named", &stdio(&["npx", "x"])), "a name is not enough where commands are listed");
    assert!(!denied(&exact, "named", &url("https://h.example")), "no URL is listed");
    let urls = policy(json!({ "allowedMcpServers": [{ "serverUrl": "https://*.corp/*" }] }));
    assert!(!denied(&urls, "a", &url("https://x.corp/mcp")) && denied(&urls, "a", &url("https://x.corp.evil/mcp")));
    let both =
        policy(json!({ "allowedMcpServers": [{ "serverName": "a" }], "deniedMcpServers": [{ "serverName": "a" }] }));
    assert!(denied(&both, "a", &npx), "a denial wins");
    assert!(!denied(&policy(json!({})), "a", &npx) && denied(&policy(json!({ "allowedMcpServers": [] })), "a", &npx));
    assert!(wildcard("a*b*c", "a-b-b-c") && !wildcard("a*b", "a-b-c") && wildcard("*", "") && !wildcard("ab", "a"));
    assert!(!wildcard("a*a", "a"), "the ends do not overlap");
}

#[test]
fn denials_come_from_every_file_and_win() {
    let npx = stdio(&["npx", "x"]);
    let allow = json!({ "allowedMcpServers": [{ "serverName": "a" }, { "serverName": "b" }] });
    for author in [Administrator, Anyone] {
        let deny = json!({ "deniedMcpServers": [{ "serverName": "a" }] });
        for files in
            [[(Administrator, allow.clone()), (author, deny.clone())], [(author, deny), (Anyone, allow.clone())]]
        {
            let policy = policy(&files);
            let why = denied(&policy, "a", &npx).expect("a denial");
            assert!(why.starts_with("deniedMcpServers in file ") && why.ends_with("has the name `a`"), "{why}");
            assert_eq!(denied(&policy, "b", &npx), None);
            assert_eq!(policy.denial("a", &npx), Some(why));
        }
    }
}

#[test]
fn permissions_of_all_files_count_unless_the_administrator_says_otherwise() {
    let npx = stdio(&["npx", "x"]);
    let allow = |name: &str| json!({ "allowedMcpServers": [{ "serverName": name }] });
    let all = policy(&[(Administrator, allow("a")), (Anyone, allow("b"))]);
    assert_eq!((denied(&all, "a", &npx), denied(&all, "b", &npx)), (None, None));
    let why = denied(&all, "c", &npx).expect("a denial");
    assert_eq!(why, "allowedMcpServers in file 0, file 1 does not have it");
    assert!(denied(&policy(&[(Anyone, allow("b"))]), "c", &npx).is_some(), "a user's own list restricts, too");
    for only in [json!(true), json!("yes")] {
        let mut own = allow("a");
        own["allowManagedMcpServersOnly"] = only;
        let managed = policy(&[(Administrator, own), (Anyone, allow("b"))]);
        assert_eq!(denied(&managed, "a", &npx), None);
        assert_eq!(denied(&managed, "b", &npx).expect("a denial"), "allowedMcpServers in file 0 does not have it");
    }
    let mut others = allow("b");
    others["allowManagedMcpServersOnly"] = json!(true);
    let users = policy(&[(Administrator, allow("a")), (Anyone, others)]);
    assert_eq!(denied(&users, "b", &npx), None, "only an administrator may say so");
    let later = policy(&[
        (Administrator, json!({ "allowManagedMcpServersOnly": true })),
        (Administrator, json!({ "allowManagedMcpServersOnly": false, "allowedMcpServers": [{ "serverName": "a" }] })),
        (Anyone, allow("b")),
    ]);
    assert_eq!(denied(&later, "b", &npx), None, "the later of two managed files counts");
    // One command in any of the files makes names too little for commands.
    let mixed =
        policy(&[(Administrator, allow("a")), (Anyone, json!({ "allowedMcpServers": [{ "serverCommand": ["y"] }] }))]);
    assert!(denied(&mixed, "a", &npx).is_some() && denied(&mixed, "z", &stdio(&["y"])).is_none());
}

fn fits(pattern: &str, address: &str) -> bool {
    let policy = policy(&[(Anyone, json!({ "deniedMcpServers": [{ "serverUrl": pattern }] }))]);
    policy.denial("a", &url(address)).is_some()
}

#[test]
fn urls_fit_by_host_and_path() {
    for (pattern, address) in [
        ("https://mcp.example.com/*", "https://mcp.example.com/api"),
        ("https://mcp.example.com/*", "https://mcp.example.com"),
        ("https://Mcp.Example.com/*", "HTTPS://mcp.example.COM./api"),
        ("https://mcp.example.com", "https://mcp.example.com/any/path?q"),
        ("http://localhost:*/*", "http://localhost:3000/mcp"),
        ("*://mcp.example.com/*", "http://mcp.example.com/"),
        ("https://${HOST}/*", "https://a.corp/x"),
    ] {
        assert!(fits(pattern, address), "{pattern} {address}");
    }
    for (pattern, address) in [
        ("https://mcp.example.com/api", "https://mcp.example.com/API"),
        ("https://*.corp/*", "https://evil.example/x.corp/y"),
        ("https://*.corp/*", "https://a.corp@evil.example/y"),
        ("https://mcp.example.com", "https://mcp.example.com.evil.example/"),
        ("https://${OTHER}/*", "https://a.corp/x"),
    ] {
        assert!(!fits(pattern, address), "{pattern} {address}");
    }
}

#[test]
fn a_value_of_a_variable_is_not_shown() {
    let policy = policy(&[(Anyone, json!({ "deniedMcpServers": [{ "serverUrl": "https://${HOST}/*" }] }))]);
    let why = policy.denial("a", &url("https://a.corp/x")).expect("a denial");
    assert!(why.contains("${HOST}") && !why.contains("a.corp"), "{why}");
}

#[test]
fn rules_that_are_unknown_are_said_and_the_others_count() {
    for (settings, what) in [
        (json!({ "allowedMcpServers": {} }), "is not a list"),
        (json!({ "deniedMcpServers": [{ "server": "a" }] }), "unknown member"),
        (json!({ "deniedMcpServers": [{ "serverName": 1 }] }), "wrong type"),
        (json!({ "deniedMcpServers": [{ "serverName": "a", "serverUrl": "b" }] }), "must have one member"),
    ] {
        let problems = Policy::default().add("file", Anyone, &settings, &variable);
        assert!(problems.len() == 1 && problems[0].contains(what), "{settings}: {problems:?}");
    }
    let mut policy = Policy::default();
    let settings = json!({ "deniedMcpServers": [{ "server": "a" }, { "serverName": "b" }] });
    assert_eq!(policy.add("file", Anyone, &settings, &variable).len(), 1);
    assert!(policy.denial("b", &stdio(&["x"])).is_some());
}

/// What Claude Code 2.1.197 does with spellings of a URL; `cargo xtask clients-peers` compares with the installed one.
#[test]
fn a_url_is_its_address_however_it_is_spelled() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("claude-code-urls.json")).expect("a table");
    assert!(rows.len() >= 40);
    for row in rows {
        let list = row["list"].as_str().expect("a list");
        let policy = policy(&[(Anyone, json!({ list: [{ "serverUrl": row["serverUrl"] }] }))]);
        let decision = policy.decide("a", &url(row["url"].as_str().expect("a URL")));
        assert_eq!(decision == Decision::Allowed, row["used"] == true, "{row}");
    }
}

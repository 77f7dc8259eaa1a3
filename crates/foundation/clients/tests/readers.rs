//! Readers: lines for Claude Code, `server.json`, policies, scopes and references.

use clients::claude_command::{self, split};
use clients::policy::Policy;
use clients::reference::{expanded, parts};
use clients::scope::{Candidate, Standing, standings};
use clients::server::Transport;
use clients::{Launch, Scope, check, registry};
use serde_json::json;

fn stdio(words: &[&str]) -> Launch {
    let args = words[1..].iter().map(|word| (*word).to_owned()).collect();
    Launch::Stdio { command: words[0].to_owned(), args, env: Vec::new() }
}

fn url(url: &str) -> Launch {
    Launch::Remote { transport: Transport::Http, url: url.to_owned(), headers: Vec::new() }
}

#[test]
fn lines_for_claude_code() {
    let read = |line: &str| claude_command::read(line).unwrap_or_else(|error| panic!("{line}: {error:?}"));
    let one = read("claude mcp add --transport stdio myserver -- npx server");
    assert_eq!((one.server.name.as_str(), one.server.launch), ("myserver", stdio(&["npx", "server"])));
    let two = read("claude mcp add --transport stdio --env KEY=value myserver -- python server.py --port 8080");
    let Launch::Stdio { command, args, env } = two.server.launch else { panic!("a command") };
    assert_eq!(
        (command.as_str(), args),
        ("python", vec!["server.py".to_owned(), "--port".to_owned(), "8080".to_owned()])
    );
    assert_eq!(env, [("KEY".to_owned(), "value".to_owned())]);
    let three = read("claude mcp add --scope user --transport http --header \"X-Key: a b\" docs https://h.example/mcp");
    assert_eq!(three.scope, Some(Scope::User));
    let Launch::Remote { headers, .. } = three.server.launch else { panic!("a URL") };
    assert_eq!(headers, [("X-Key".to_owned(), "a b".to_owned())]);
    for line in [
        "claude mcp add name --env K=v -- npx x",
        "claude mcp add --transport http name https://h.example --header 'A: b'",
    ] {
        let (what, remedy) = claude_command::read(line).expect_err(line);
        assert!(what.contains("comes after the name") && remedy.contains("before the name"), "{what}; {remedy}");
    }
    for line in [
        "claude mcp add",
        "claude mcp add name",
        "npx x",
        "claude mcp add 'name",
        "claude mcp add --unknown x name -- y",
        "claude mcp add --transport http --env K=v name https://h.example",
        "claude mcp add --header 'A: b' name -- y",
        "claude mcp add --transport foo name https://h.example",
        "claude mcp add name https://h.example",
        "claude mcp add --transport http name not-a-url",
        "claude mcp add --transport http name file:///etc/passwd",
        "claude mcp add --env 'BAD NAME=v' name -- y",
        "claude mcp add --env K= name -- y",
        "claude mcp add --transport http --header 'A b: c' name https://h.example",
    ] {
        assert!(claude_command::read(line).is_err(), "{line}");
    }
    assert_eq!(split("node \"/a b/s.js\" 'c d' e\\ f").expect("words"), ["node", "/a b/s.js", "c d", "e f"]);
}

#[test]
fn server_json() {
    let value = json!({
        "name": "io.github.owner/weather",
        "packages": [{
            "registryType": "npm", "identifier": "@owner/weather", "version": "1.2.3", "transport": { "type": "stdio" },
            "environmentVariables": [
                { "name": "KEY", "isRequired": true, "isSecret": true }, { "name": "MODE", "default": "fast" }, { "name": "OTHER" }
            ],
            "packageArguments": [{ "type": "positional", "value": "serve" }, { "type": "named", "name": "--port", "value": "1" }]
        }],
        "remotes": [{ "type": "sse", "url": "https://h.example/sse" }, {
            "type": "streamable-http", "url": "https://h.example/mcp",
            "headers": [{ "name": "Authorization", "value": "Bearer {api_key}", "isSecret": true }]
        }]
    });
    for value in [value.clone(), json!({ "server": value })] {
        let read = registry::read(&value).expect("a server");
        assert_eq!((read.short_name(), read.launches.len()), ("weather", 3));
        let Launch::Remote { transport: Transport::Http, headers, .. } = &read.launches[0] else {
            panic!("HTTP first")
        };
        assert_eq!(headers[0].1, "Bearer ${WEATHER_API_KEY}");
        assert!(matches!(&read.launches[1], Launch::Remote { transport: Transport::Sse, .. }));
        let Launch::Stdio { command, args, env } = &read.launches[2] else { panic!("a package") };
        assert_eq!((command.as_str(), args.join(" ").as_str()), ("npx", "-y @owner/weather@1.2.3 serve --port 1"));
        assert_eq!(
            env.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>(),
            ["KEY=${WEATHER_KEY}", "MODE=fast"]
        );
    }
    let needs = json!({ "name": "a/b", "packages": [{
        "registryType": "npm", "identifier": "x", "packageArguments": [{ "type": "positional", "valueHint": "folder", "isRequired": true }]
    }] });
    assert_eq!(registry::read(&needs), Err("it needs a value for `folder`".to_owned()));
    for (member, text) in
        [("identifier", "${AWS_SECRET_ACCESS_KEY}"), ("version", "$HOME"), ("name", "${env:AWS_SECRET_ACCESS_KEY}")]
    {
        let mut package = json!({ "registryType": "npm", "identifier": "x", "packageArguments": [{ "type": "named", "value": "v" }] });
        match member {
            "name" => package["packageArguments"][0]["name"] = text.into(),
            member => package[member] = text.into(),
        }
        let why =
            registry::read(&json!({ "name": "a/b", "packages": [package] })).expect_err("no reference of a stranger");
        assert!(why.contains("holds a reference"), "{why}");
    }
    let secret =
        json!([{ "name": "X-A", "value": "${AWS_SECRET_ACCESS_KEY}" }, { "name": "X-B", "value": "{env:HOME}" }]);
    let remote = json!({ "type": "http", "url": "https://h.example", "headers": secret });
    let read = registry::read(&json!({ "name": "a/b", "remotes": [remote] })).expect("a server");
    let Launch::Remote { headers, .. } = &read.launches[0] else { panic!("a URL") };
    assert_eq!((headers[0].1.as_str(), headers[1].1.as_str()), ("${B_AWS_SECRET_ACCESS_KEY}", "${B_ENV_HOME}"));
    assert!(registry::read(&json!({ "name": "a/b" })).is_err() && registry::read(&json!({})).is_err());
}

#[test]
fn the_strongest_scope_wins() {
    let candidate = |scope| Candidate { name: "a".to_owned(), scope, launch: stdio(&["x"]) };
    let all: Vec<_> = [Scope::User, Scope::Local, Scope::Project].map(candidate).into();
    let shadowed = Standing::Shadowed(Scope::Local);
    assert_eq!(standings(&all, &Policy::default()), [shadowed.clone(), Standing::Used, shadowed]);
    let mut exclusive = Policy::default();
    exclusive.is_exclusive = true;
    assert!(standings(&all, &exclusive).iter().all(|standing| *standing == Standing::Exclusive));
}

#[test]
fn references_are_expanded() {
    let value = |name: &str| (name == "A").then(|| "1".to_owned());
    assert_eq!(expanded("x${A}y${B:-2}{env:A}${env:A}", value).as_deref(), Ok("x1y211"));
    assert_eq!(expanded("${B}", value), Err("B".to_owned()));
    for literal in ["$A", "${A", "${input:x}", "${1}", "{A}", "${workspaceFolder}/x y${", "€${"] {
        assert_eq!(expanded(literal, value).as_deref(), Ok(literal));
    }
    assert_eq!(parts("").len(), 0);
}

#[test]
fn packages_and_identities() {
    for (words, name, is_pinned) in [
        (&["npx", "-y", "@a/b@1.2.3"][..], "@a/b", true),
        (&["npx", "-y", "@a/b"], "@a/b", false),
        (&["npx", "b@latest"], "b", false),
        (&["/usr/bin/npx", "--package", "b@2", "run"], "b", true),
        (&["cmd", "/c", "npx", "-y", "b@1.0.0"], "b", true),
        (&["uvx", "--from", "b==1.0", "c"], "b", true),
        (&["uvx", "b"], "b", false),
        (&["pnpm", "dlx", "b@1.0.0"], "b", true),
        (&["pipx", "run", "b"], "b", false),
    ] {
        let launch = stdio(words);
        let package = launch.package().unwrap_or_else(|| panic!("{words:?}"));
        assert_eq!((package.name, package.is_pinned()), (name, is_pinned), "{words:?}");
    }
    assert!(stdio(&["node", "server.js"]).package().is_none());
    assert_eq!(stdio(&["npx", "-y", "b@1"]).identity(), stdio(&["npx", "b@2"]).identity());
    let same = |one: &[&str], other: &[&str]| stdio(one).identity() == stdio(other).identity();
    assert!(same(&["npx", "-y", "b@1", "/home"], &["pnpm", "dlx", "b@2", "/home"]));
    assert!(same(&["cmd", "/c", "npx", "-y", "b@1"], &["npx", "b@2"]));
    assert!(same(&["uvx", "b==1"], &["pipx", "run", "b==2"]));
    for (one, other) in [
        (&["npx", "-y", "b@1", "/home/u/docs"][..], &["npx", "-y", "b@1", "/etc"][..]),
        (&["npx", "-y", "b@1", "--dir=/home"], &["npx", "-y", "b@1", "--dir=/etc"]),
        (&["npx", "-y", "b@1"], &["npx", "-y", "b@1", "-y"]),
        (&["npx", "-y", "b@1"], &["npx", "-y", "--registry", "https://other.example", "b@1"]),
        (&["npx", "b"], &["uvx", "b"]),
    ] {
        assert!(!same(one, other), "{one:?} {other:?}");
    }
    assert_ne!(stdio(&["node", "a.js"]).identity(), stdio(&["node", "b.js"]).identity());
    assert_eq!(url("https://h.example/mcp/").identity(), url("https://h.example/mcp").identity());
}

#[test]
fn what_is_no_server_is_refused() {
    for name in ["weather", "io.github.x", "a-b_c", "1"] {
        assert!(check::name(name).is_ok(), "{name}");
    }
    for name in ["", ".", "..", "__proto__", "constructor", "-x", "a b", "a/b", "é", "a\n", &"a".repeat(129)] {
        assert!(check::name(name).is_err(), "{name}");
    }
    let env = |name: &str, value: &str| Launch::Stdio {
        command: "x".to_owned(),
        args: Vec::new(),
        env: vec![(name.to_owned(), value.to_owned())],
    };
    let header = |name: &str, value: &str| Launch::Remote {
        transport: Transport::Http,
        url: "https://h.example/mcp".to_owned(),
        headers: vec![(name.to_owned(), value.to_owned())],
    };
    for good in [env("A", "${A}"), header("X-Key", "a\tb"), url("http://localhost:1/mcp"), url("https://${HOST}/mcp")] {
        assert_eq!(check::launch(&good), Ok(()), "{good:?}");
    }
    for bad in [
        env("A=B", "v"),
        env("", "v"),
        env("A", ""),
        env("A", "a\0b"),
        env("1A", "v"),
        header("X-A\r\nX-B", "v"),
        header("X", "a\r\nX-B: v"),
        header("X", " "),
        header("", "v"),
        header("X Y", "v"),
        url("file:///etc/passwd"),
        url("not-a-url"),
        url("https://"),
        url("https://h.example/a\nb"),
        url(""),
        stdio(&["https://h.example/mcp"]),
        stdio(&[" "]),
        stdio(&["x", "a\0"]),
    ] {
        assert!(check::launch(&bad).is_err(), "{bad:?}");
    }
}

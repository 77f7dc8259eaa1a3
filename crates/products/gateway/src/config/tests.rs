//! Good files, each kind of mistake with its message, and that the schema and the reader know the same members.

mod authzen;
mod bridge;
mod budgets;
mod consents;
mod context;
mod credentials;
mod egress;
mod guards;
mod inputs;
mod interceptors;
mod listen;
mod locks;
mod outputs;
mod replicas;
mod sandbox;
mod sanitize;
mod search;
mod slo;
mod store;
mod tasks;
mod telemetry;
mod traffic;

use std::env::VarError;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use document::Shape;
use serde_json::Value;

use super::sources::Sources;
use super::{MAX_BYTES, read, read_with, schema};
use crate::settings::{AuditInputs, AuditSettings, Sessions, Settings, Target};

/// Every member that there is, with a value in each line.
const FULL: &str = include_str!("full.yaml");

/// The same of what cannot stand in a file with the others.
const BRIDGED: &str = include_str!("full-bridge.yaml");

/// What no message may show.
const SECRET: &str = "s3cr3t-value";

/// The example of RFC 8410, section 10.
const SIGNING_KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";

fn variable(name: &str) -> Result<String, VarError> {
    match name {
        "FILES_KEY" | "DOCS_TOKEN" => Ok(SECRET.to_owned()),
        "CONSENT_KEY" | "REPLICA_KEY" => Ok("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=".to_owned()),
        "EMPTY" => Ok(String::new()),
        "LINES" => Ok(format!("{SECRET}\nX-Other: 1")),
        "NUL" => Ok(format!("{SECRET}\0")),
        "LATIN" => Err(VarError::NotUnicode(SECRET.into())),
        _ => Err(VarError::NotPresent),
    }
}

fn file(path: &Path) -> io::Result<Vec<u8>> {
    match path.to_str() {
        Some("etc/secrets/token" | "/run/token") => Ok(format!("{SECRET}\n").into_bytes()),
        Some("etc/audit.key") => Ok(SIGNING_KEY.as_bytes().to_vec()),
        Some("etc/crlf") => Ok(format!("{SECRET}\n\r\n").into_bytes()),
        Some("etc/empty") => Ok(b"\n".to_vec()),
        Some("etc/binary") => Ok([SECRET.as_bytes(), &[0xff]].concat()),
        Some("etc/large") => Ok(SECRET.repeat(10_000).into_bytes()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    }
}

fn parse(text: &str) -> Result<Settings, String> {
    let sources = Sources { variable: &variable, file: &file };
    let settings = read_with(text, "etc/gateway.yaml", sources).map_err(|errors| errors.to_string());
    if let Err(errors) = &settings {
        assert!(!errors.contains(SECRET), "{errors}");
    }
    settings
}

fn settings(text: &str) -> Settings {
    parse(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

#[track_caller]
fn refuses(text: &str, expected: &str) {
    assert_eq!(parse(text).expect_err(text), expected, "{text}");
}

/// Each part stands in the message.
#[track_caller]
fn mentions(text: &str, parts: &[&str]) {
    let errors = parse(text).expect_err(text);
    for part in parts {
        assert!(errors.contains(part), "no {part:?} in:\n{errors}\n{text}");
    }
}

/// A file with one upstream `a` that has these members.
fn upstream(members: &str) -> String {
    format!("upstreams:\n  a: {{ {members} }}\n")
}

fn limits(members: &str) -> String {
    format!("{}limits: {{ {members} }}\n", upstream("command: [x]"))
}

#[test]
fn a_full_file_sets_everything() {
    let settings = settings(FULL);
    assert_eq!(settings.listen.unwrap().to_string(), "127.0.0.1:3000");
    let tls = settings.tls.as_ref().expect("TLS");
    assert_eq!(tls.clients.as_ref().map(|clients| clients.required), Some(false));
    assert_eq!(settings.admin.unwrap().to_string(), "127.0.0.1:9464");
    assert_eq!(settings.hosts, ["mcp.example", "mcp.example:3000"]);
    assert_eq!(settings.origins, ["https://app.example"]);
    let [files, docs, _] = settings.upstreams.as_slice() else { panic!("{settings:?}") };
    assert_eq!((files.name.as_str(), docs.name.as_str()), ("files", "docs"));
    assert_eq!((files.sessions, docs.sessions), (Sessions::PerClient, Sessions::PerPrincipal));
    assert_eq!((files.revision, docs.revision), (Some(wire::Revision::R2025_11_25), None));
    let Target::Command { command, inherit, limits } = &files.target else { panic!("{files:?}") };
    assert_eq!((limits.starts_per_minute, limits.memory), (Some(10), Some(512 << 20)));
    assert_eq!(command.program, "npx");
    assert_eq!(command.args, ["-y", "@modelcontextprotocol/server-filesystem", "/data"]);
    assert_eq!(command.cwd.as_deref(), Some(Path::new("etc/data")));
    let env = [("LOG", "debug"), ("API_KEY", SECRET), ("TOKEN", SECRET)];
    assert_eq!(command.env, env.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert_eq!(inherit, &["NODE_OPTIONS"]);
    let Target::Sse(address) = &docs.target else { panic!("{docs:?}") };
    assert_eq!(address.url.as_str(), "https://docs.example/mcp");
    assert_eq!(address.authorization(), Some("Bearer s3cr3t-value"));
    assert_eq!(address.headers[1], ("X-Team".to_owned(), "docs".to_owned()));
    assert_eq!(address.ca.as_deref(), Some(Path::new("etc/./ca.pem")));
    let identity = address.identity.as_ref().unwrap();
    assert_eq!(identity.certificate, Path::new("etc/./client.pem"));
    assert_eq!(identity.key, Path::new("etc/./client-key.pem"));
    let limits = settings.limits;
    assert_eq!((limits.request_total, limits.list), (Duration::from_hours(2), Duration::from_secs(4)));
    assert_eq!((limits.request, limits.start), (Duration::from_mins(6), Duration::from_millis(500)));
    assert_eq!((limits.shutdown, limits.answer), (Duration::from_secs(3), Duration::from_hours(1)));
    assert_eq!((limits.idle, limits.message_bytes, limits.sessions), (Duration::from_mins(11), 64 << 20, 12));
}

#[test]
fn the_least_file_has_defaults() {
    let settings = settings(&upstream("command: [server]"));
    assert_eq!((settings.listen, settings.hosts.len(), settings.origins.len()), (None, 0, 0));
    assert_eq!(settings.limits.request, Duration::from_mins(5));
    let [one] = settings.upstreams.as_slice() else { panic!("{settings:?}") };
    let Target::Command { command, inherit, limits } = &one.target else { panic!("{one:?}") };
    assert_eq!(*limits, crate::settings::CommandLimits::default());
    assert_eq!(settings.limits.list, Duration::from_secs(5));
    assert_eq!((command.env.len(), command.cwd.as_deref(), inherit.len()), (0, None, 0));
}

#[test]
fn order_of_upstreams_is_kept() {
    let names = |text| settings(text).upstreams.into_iter().map(|one| one.name).collect::<Vec<_>>();
    assert_eq!(names("upstreams: { z: { command: [x] }, a: { command: [x] }, m: { command: [x] } }"), ["z", "a", "m"]);
}

#[test]
fn values_are_taken_from_files() {
    let token = |path| {
        let settings = settings(&upstream(&format!("url: 'http://x', headers: {{ T: {{ from_file: {path} }} }}")));
        let Target::Http(address) = settings.upstreams[0].target.clone() else { panic!("{settings:?}") };
        address.headers[0].1.clone()
    };
    assert_eq!(token("secrets/token"), SECRET);
    assert_eq!(token("/run/token"), SECRET);
    // One line break goes.
    mentions(&upstream("url: 'http://x', headers: { T: { from_file: crlf } }"), &["line break"]);
}

#[test]
fn messages_have_three_parts() {
    refuses(
        "upstreams:\n  files:\n    comand: [npx]\n",
        "error: the key `comand` is unknown here – etc/gateway.yaml:3:5\n  try: `command`",
    );
    refuses(
        "listen: 3000\nupstreams:\n  a:\n    command: npx server\n",
        "error: `listen` is a number, not a text – etc/gateway.yaml:1:1\n  try: put the value in quotes\n\
         error: `command` is a text, not a list – etc/gateway.yaml:4:5\n  try: a list: [program, argument]",
    );
    refuses(
        "upstreams:\n  a:\n    command: [x]\n    url: http://x\n  b: {}\n",
        "error: the upstream `a` has both `command` and `url` – etc/gateway.yaml:2:3\n  try: keep one of them\n\
         error: the upstream `b` has neither `command` nor `url` – etc/gateway.yaml:5:3\n  try: add one of them",
    );
    refuses(
        "upstreams:\n  my files: { command: [x] }\n",
        "error: the upstream name `my files` is invalid – etc/gateway.yaml:2:3\n  \
         try: 1 to 32 letters, digits, `-` and `_`",
    );
    refuses(
        "upstreams:\n  a: { command: [x] }\n  a: { command: [y] }\n",
        "error: the key `a` stands twice – etc/gateway.yaml:3:3\n  try: one of them; the first is in line 2",
    );
    refuses(
        &upstream("command: [x], revision: 2025-11-24"),
        "error: the revision `2025-11-24` is unknown – etc/gateway.yaml:2:22\n  try: `2025-11-25`",
    );
    refuses(
        &limits("request: 5 min"),
        "error: `5 min` is not a duration – etc/gateway.yaml:3:11\n  \
         try: 1ms to 24h: a whole number with ms, s, m or h, such as 30s",
    );
    refuses(
        "upstreams:\n  a:\n    url: https://x/mcp\n    headers:\n      Authorization: { from_env: NO_TOKEN }\n",
        "error: the environment variable `NO_TOKEN` is not set – etc/gateway.yaml:5:24\n  \
         try: set it before the gateway starts",
    );
    refuses(
        "upstreams:\n  a:\n    url: https://x/mcp\n    headers:\n      T: { from_file: none }\n",
        "error: cannot read the file `etc/none`: entity not found – etc/gateway.yaml:5:12\n  \
         try: check the path and its permissions",
    );
    mentions("upstreams:\n  a: [\n", &["error: this is no YAML: ", "– etc/gateway.yaml:3:1\n  try: "]);
}

#[test]
fn what_is_missing_is_reported_once() {
    refuses(
        "{}",
        "error: the file has no `upstreams` – etc/gateway.yaml:1:1\n  try: add `upstreams` with at least one entry",
    );
    refuses("upstream: {}", "error: the key `upstream` is unknown here – etc/gateway.yaml:1:1\n  try: `upstreams`");
    mentions("upstreams: {}", &["`upstreams` is empty – etc/gateway.yaml:1:1"]);
    mentions("upstreams:\n", &["`upstreams` has no value"]);
    mentions("upstreams: [a]", &["`upstreams` is a list, not a mapping"]);
    mentions("upstreams: { a: }", &["the upstream `a` has no value"]);
    mentions("[]", &["the file is a list, not a mapping"]);
    mentions("", &["the file is empty"]);
}

#[test]
fn addresses_are_checked() {
    for listen in ["localhost:3000", "127.0.0.1", "':3000'", "127.0.0.1:99999"] {
        mentions(
            &format!("listen: {listen}\n{}", upstream("command: [x]")),
            &["is not an IP address with a port", ":1:1"],
        );
    }
    assert!(settings(&format!("listen: '[::1]:0'\n{}", upstream("command: [x]"))).listen.is_some());
    for host in ["https://mcp.example", "a/b", "'a b'", "u@h", "''"] {
        mentions(&format!("allow_hosts: [{host}]\n{}", upstream("command: [x]")), &["is not a host name", ":1:15"]);
    }
    for (origin, remedy) in [
        ("https://app.example/", "try: `https://app.example`"),
        ("https://app.example:443", "try: `https://app.example`"),
        ("app.example", "try: a scheme"),
        ("'null'", "try: a scheme"),
    ] {
        let text = format!("allow_origins: [{origin}]\n{}", upstream("command: [x]"));
        mentions(&text, &["is not an origin", ":1:17", remedy]);
    }
}

#[test]
fn commands_are_checked() {
    mentions(&upstream("command: []"), &["`command` names no program"]);
    mentions(&upstream("command: ['', x]"), &["`command` names no program"]);
    mentions(
        &upstream("command: [x, 3000]"),
        &["an entry of `command` is a number, not a text", "put the value in quotes"],
    );
    mentions(&upstream(r#"command: [x, "\0"]"#), &["NUL"]);
    mentions(&upstream("command: [x], cwd: ''"), &["`cwd` is empty"]);
    mentions(&upstream("command: [x], cwd: "), &["`cwd` has no value"]);
    mentions(&upstream(r#"command: [x], cwd: "\0""#), &["`cwd` contains a NUL"]);
    mentions(&upstream("command: [x], env: [A=b]"), &["`env` is a list, not a mapping"]);
    mentions(&upstream("command: [x], env: { A=s3cr3t-value: b }"), &["the name of the variable `A` contains `=`"]);
    mentions(&upstream("command: [x], env: { '': b }"), &["the name of a variable is empty"]);
    mentions(
        &upstream("command: [x], inherit_env: ['A=s3cr3t-value']"),
        &["the name of the variable `A` contains `=`"],
    );
    mentions(&upstream("command: [x], sessions: per-user"), &["`per-user` is not a value of `sessions`"]);
    mentions(&upstream("command: [x], headers: {}, ca: c"), &["`headers` needs a `url`", "`ca` needs a `url`"]);
    mentions(&upstream("url: 'http://x', cwd: d, env: {}"), &["`cwd` needs a `command`", "`env` needs a `command`"]);
    mentions(&upstream("command: [x], revision: 1"), &["`revision` is a number, not a text"]);
}

#[test]
fn urls_and_headers_are_checked() {
    for url in ["ftp://u:s3cr3t-value@x", "'localhost:3000'", "'s3cr3t-value:x'"] {
        let parts = ["`url` is not an http, https, ws or wss URL", "https://mcp.example/mcp"];
        mentions(&upstream(&format!("url: {url}")), &parts);
    }
    for url in ["/mcp", "'http://'", "'https://s3cr3t-value:x'"] {
        mentions(&upstream(&format!("url: {url}")), &["`url` is not a URL: "]);
    }
    for url in ["https://s3cr3t-value@x", "https://u:s3cr3t-value@x", "'https://:s3cr3t-value@x'"] {
        mentions(&upstream(&format!("url: {url}")), &["`url` contains a user name or a password", "headers"]);
    }
    let headers = |members: &str| upstream(&format!("url: 'http://x', headers: {{ {members} }}"));
    mentions(&headers("'a b': c"), &["the header name `a b` is invalid"]);
    mentions(&headers(r#""a\n": c"#), &["the header name `a` is invalid"]);
    mentions(&headers(r#"a: "s3cr3t-value\r\nb: c""#), &["the value of the header `a` contains a line break"]);
    mentions(&headers("a: { from_env: LINES }"), &["the value of the header `a` contains a line break", ":2:41"]);
    mentions(&headers("X-A: b, x-a: c"), &["duplicate key `x-a`: upper and lower case"]);
    mentions(&headers("Mcp-Session-Id: b"), &["the gateway sets the header `Mcp-Session-Id` itself"]);
    mentions(&upstream("url: 'http://x', ca: c.pem"), &["`ca` needs an https or wss `url`"]);
    mentions(&upstream("url: 'ws://x', ca: c.pem"), &["`ca` needs an https or wss `url`"]);
    mentions(&upstream("url: 'https://x', client_cert: c"), &["`client_cert` needs a `client_key`"]);
    mentions(&upstream("url: 'https://x', client_key: c"), &["`client_key` needs a `client_cert`"]);
    mentions(&upstream("url: 'http://x', client_cert: c, client_key: k"), &["`client_key` needs an https"]);
}

#[test]
fn the_url_and_transport_decide_on_the_target() {
    let target = |members: &str| match settings(&upstream(members)).upstreams.remove(0).target {
        Target::Http(_) => "any",
        Target::StreamableHttp(_) => "http",
        Target::Sse(_) => "sse",
        Target::WebSocket(_) => "websocket",
        Target::Command { .. } => "command",
    };
    assert_eq!(target("url: 'https://x'"), "any");
    assert_eq!(target("url: 'https://x', transport: http"), "http");
    assert_eq!(target("url: 'https://x', transport: sse"), "sse");
    assert_eq!(target("url: 'http://x', transport: websocket"), "websocket");
    assert_eq!(target("url: 'ws://x'"), "websocket");
    assert_eq!(target("url: 'wss://x', transport: websocket, ca: c"), "websocket");
    mentions(&upstream("url: 'wss://x', transport: sse"), &["a ws or wss `url` needs `transport: websocket`"]);
    mentions(&upstream("url: 'https://x', transport: SSE"), &["`SSE` is not a value of `transport`", "`sse`"]);
    mentions(&upstream("command: [x], transport: sse"), &["`transport` needs a `url`"]);
}

#[test]
fn bounds_of_commands_are_checked() {
    mentions(&upstream("command: [x], start_limit: 0"), &["`start_limit` is not a whole number from 1 to 10000"]);
    mentions(&upstream("command: [x], memory: 1KiB"), &["`1KiB` is out of range", "1MiB to 1048576MiB"]);
    mentions(&upstream("command: [x], memory: []"), &["`memory` is a list, not a size"]);
    mentions(&upstream("url: 'http://x', memory: 1MiB, start_limit: 1"), &["`memory` needs a `command`"]);
}

#[test]
fn references_are_checked() {
    let env = |value: &str| upstream(&format!("command: [x], env: {{ A: {value} }}"));
    for (value, part) in [
        ("{ from_env: EMPTY }", "the environment variable `EMPTY` is empty"),
        ("{ from_env: LATIN }", "the environment variable `LATIN` is not UTF-8 text"),
        ("{ from_env: NUL }", "the value of `A` contains a NUL character"),
        ("{ from_env: '' }", "`from_env` is empty"),
        ("{ from_env: [A] }", "`from_env` is a list, not a text"),
        ("{ from_file: empty }", "the file `etc/empty` is empty"),
        ("{ from_file: binary }", "the file `etc/binary` is not UTF-8 text"),
        ("{ from_file: large }", "the file `etc/large` is larger than 64 KiB"),
        ("{ from_env: FILES_KEY, from_file: empty }", "`A` has both `from_env` and `from_file`"),
        ("{ prefix: s3cr3t-value }", "`A` has neither `from_env` nor `from_file`"),
        ("{ fromenv: A }", "try: `from_env`"),
        ("{ from_env: FILES_KEY, prefix: 1 }", "`prefix` is a number, not a text"),
        ("[s3cr3t-value]", "`A` is a list, not a text or a reference"),
        ("8080", "put the value in quotes"),
    ] {
        mentions(&env(value), &[part]);
    }
}

/// What YAML itself refuses is not shown: it may be a secret without quotes.
#[test]
fn yaml_errors_show_no_values() {
    let env = |value: &str| upstream(&format!("command: [x], env: {{ A: {value} }}"));
    mentions(&env("!s3cr3t-value"), &["the tag `…` means nothing here", ":2:32", "quote a text"]);
    mentions(&env("0x0123456789abcdef0123456789abcdef"), &["error: `…` is a number too large", ":2:32"]);
    mentions(&env("*s3cr3t-value"), &["error: this is no YAML"]);
    mentions("<<: {}\n", &["merge with `<<`"]);
}

#[test]
fn limits_are_checked() {
    mentions(&limits("request: 30"), &["`30` has no unit"]);
    mentions(&limits("request: 0s"), &["`0s` is out of range"]);
    mentions(&limits("request: 25h"), &["`25h` is out of range"]);
    mentions(&limits("request: [1s]"), &["`request` is a list, not a duration"]);
    mentions(&limits("message_bytes: 128MB"), &["`128MB` is not a size", "KiB"]);
    mentions(&limits("message_bytes: 12"), &["`12` is out of range"]);
    mentions(&limits("message_bytes: 2000MiB"), &["`2000MiB` is out of range"]);
    mentions(&limits("message_bytes: -1"), &["`-1` is not a size"]);
    mentions(&limits("message_bytes: "), &["`message_bytes` is empty, not a size"]);
    mentions(&limits("sessions: 0"), &["`sessions` is not a whole number from 1 to 10000"]);
    mentions(&limits("sessions: many"), &["`sessions` is not a whole number"]);
    mentions(&limits("requests: 5m"), &["the key `requests` is unknown here", "`request`"]);
    assert_eq!(settings(&limits("message_bytes: 4096")).limits.message_bytes, 4096);
}

#[test]
fn our_environment_and_real_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("token"), "abc\n").unwrap();
    let path = folder.path().join("gateway.yaml");
    let read = |value: &str| read(&upstream(&format!("command: [x], env: {{ A: {value} }}")), path.to_str().unwrap());
    let value = |settings: Settings| match &settings.upstreams[0].target {
        Target::Command { command, .. } => command.env[0].1.clone(),
        _ => panic!("{settings:?}"),
    };
    assert_eq!(value(read("{ from_file: token }").unwrap()), "abc");
    assert_eq!(value(read("{ from_env: PATH }").unwrap()), std::env::var("PATH").unwrap());
    assert!(read("{ from_file: . }").unwrap_err().to_string().contains("it is not a regular file"));
    std::fs::write(folder.path().join("long"), "x".repeat((64 << 10) + 1)).unwrap();
    assert!(read("{ from_file: long }").unwrap_err().to_string().contains("larger than 64 KiB"));
    assert!(read("{ from_env: PROOF_GATEWAY_UNSET }").is_err());
}

#[test]
fn long_files_are_read_in_bounded_time() {
    mentions(&"#".repeat(MAX_BYTES + 1), &["the file is larger than 1 MiB"]);
    let many = |entry: &str, count: usize| {
        let lines: Vec<String> = (0..count).map(|at| format!("  k{at}: {entry}\n")).collect();
        lines.concat()
    };
    for text in [many("1", 60_000), format!("upstreams:\n{}", many("{ command: [x] }", 30_000))] {
        let begun = Instant::now();
        let _ = parse(&text);
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}

/// Whether the schema accepts the text, and whether the reader does; `None` if it is not YAML.
fn agreed(text: &str) -> Option<(bool, bool)> {
    static SHAPE: Shape = Shape::new(include_str!("../../../../../docs/gateway.schema.json"), "", &[]);
    let (tree, _) = document::read(text).ok().filter(|(_, errors)| errors.is_empty())?;
    Some((SHAPE.check(&tree, &mut tree.to_value()).errors.is_empty(), parse(text).is_ok()))
}

/// Every key and every value of a good file, changed one at a time.
#[test]
fn schema_and_reader_know_the_same_members() {
    let both = both_refuse(FULL) + both_refuse(BRIDGED);
    assert!(both > 100, "{both}");
    // Where only the reader knows better, it is because of what a value means.
    for members in ["command: [x], url: 'http://x'", "cwd: x", "command: [x], ca: c", "url: 'http://x', env: {}"] {
        assert_eq!(agreed(&upstream(members)), Some((false, false)), "{members}");
    }
}

/// How many changes of a good file both refuse.
fn both_refuse(full: &str) -> usize {
    let lines: Vec<&str> = full.lines().collect();
    assert_eq!(agreed(full), Some((true, true)));
    let mut both = 0;
    for at in 0..lines.len() {
        let Some((before, rest)) = lines[at].split_once(':') else { continue };
        let values = ["[{}, 1, z]", "7", "7.5", "''", "x y", "true", "~", "[]", "{}", "{ a: b }", "[a]"];
        let changed = values.map(|value| format!("{before}: {value}")).into_iter();
        for changed in changed.chain([format!("{before}x:{rest}"), format!("{before} é:{rest}"), String::new()]) {
            let mut lines = lines.clone();
            lines[at] = &changed;
            let Some((fits, reads)) = agreed(&lines.join("\n")) else { continue };
            // The reader may be stricter, never more lenient.
            assert!(fits || !reads, "the reader accepts, the schema does not: line {}: {changed}", at + 1);
            both += usize::from(!reads && !fits);
        }
    }
    both
}

#[test]
fn the_full_file_has_every_member_of_the_schema() {
    let mut keys = Vec::new();
    collect(&serde_json::from_str(schema()).unwrap(), &mut keys);
    assert!(keys.len() > 25, "{keys:?}");
    for key in keys {
        let key = format!("{key}:");
        assert!(FULL.contains(&key) || BRIDGED.contains(&key), "no `{key}`");
    }
}

fn collect(schema: &Value, keys: &mut Vec<String>) {
    for (name, value) in schema.as_object().into_iter().flatten() {
        if name == "properties" {
            keys.extend(value.as_object().into_iter().flatten().map(|(key, _)| key.clone()));
        }
        collect(value, keys);
    }
    for value in schema.as_array().into_iter().flatten() {
        collect(value, keys);
    }
}

/// The examples of the page are good files.
#[test]
fn the_page_shows_good_files() {
    let page = include_str!("../../../../../docs/gateway-config.md");
    let examples: Vec<&str> = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() > 3, "{examples:?}");
    for example in examples {
        let whole = if example.contains("upstreams:") {
            example.to_owned()
        } else {
            format!("{}{example}", upstream("command: [x]"))
        };
        let sources = Sources { variable: &|_| Ok("value".to_owned()), file: &|_| Ok(b"value".to_vec()) };
        read_with(&whole, "gateway.yaml", sources).unwrap_or_else(|errors| panic!("{errors}\n{whole}"));
    }
}

#[test]
fn servers_select_and_change_what_clients_see() {
    let settings = settings(FULL);
    let [default, readers] = settings.servers.as_slice() else { panic!("{settings:?}") };
    assert_eq!((default.path().as_str(), readers.path().as_str()), ("/mcp", "/readers/mcp"));
    assert_eq!((default.upstreams.len(), readers.upstreams.as_slice()), (3, ["files".to_owned()].as_slice()));
    let [(pattern, change)] = readers.tools.change.as_slice() else { panic!("{readers:?}") };
    assert_eq!((pattern.upstream.as_deref(), pattern.text.as_str()), (Some("files"), "list_directory"));
    assert_eq!(
        serde_json::to_value(&change.pin).unwrap(),
        serde_json::json!({ "path": "/data", "deep": { "a": [1, true, null] } })
    );
    assert_eq!(settings.ready, crate::settings::Ready::Named(vec!["files".to_owned()]));
    let record = settings.record.expect("a folder");
    assert_eq!((record.folder.as_path(), record.file_bytes, record.files), (Path::new("etc/traces"), 1 << 20, 3));
    let expected = AuditSettings {
        required: true,
        sync: true,
        file_bytes: 2 << 20,
        files: Some(100),
        inputs: AuditInputs::Names,
        tenant_claim: "tid".to_owned(),
        key: Some(SIGNING_KEY.trim_end().to_owned()),
        ..AuditSettings::new("etc/audit".into())
    };
    assert_eq!(settings.audit, Some(expected));
}

#[test]
fn an_audit_log_is_checked() {
    let file = |audit: &str| format!("{}audit: {audit}\n", upstream("command: [x]"));
    let settings = settings(&file("log"));
    assert_eq!(settings.audit, Some(AuditSettings::new("etc/log".into())));
    mentions(&file("{ required: true }"), &["`audit` has no `folder`"]);
    mentions(&file("{ folder: log, required: 1 }"), &["`required`", "true or false"]);
    mentions(&file("{ folder: log, inputs: all }"), &["`all` is not a value of `inputs`", "values, names or none"]);
    mentions(&file("{ folder: log, file_bytes: 1KiB }"), &["`file_bytes` is not a size from 64KiB"]);
    mentions(&file("{ folder: log, files: 0 }"), &["not a whole number from 1"]);
    mentions(
        &file("{ folder: log, key: { from_file: secrets/token } }"),
        &["`key` cannot be used: it holds no private"],
    );
}

#[test]
fn servers_are_checked() {
    let file = |servers: &str| format!("{}  b: {{ command: [y] }}\nservers:\n{servers}", upstream("command: [x]"));
    refuses(
        &file("  few: { upstreams: [c] }\n"),
        "error: there is no upstream `c` – etc/gateway.yaml:5:22\n  try: one of `a`, `b`",
    );
    mentions(&file("  few: { upstreams: [a, a] }\n"), &["the upstream `a` is listed twice"]);
    mentions(&file("  few: { upstreams: [a] }\n"), &["no server shows the upstream `b`", "`default:` shows all"]);
    mentions(&file("  sse:\n"), &["the server name `sse` is invalid"]);
    mentions(&file("  a/b:\n"), &["the server name `a/b` is invalid"]);
    mentions(&file("  few: { tools: { change: { 'r*': { name: x } } } }\n"), &["`name` cannot be given to a pattern"]);
    mentions(
        &file("  few: { tools: { change: { r: { name: x }, s: { name: x } } } }\n"),
        &["the name `x` is given twice"],
    );
    mentions(&file("  few: { resources: { change: {} } }\n"), &["the key `change` is unknown here"]);
    mentions(&file("  few: { longest_name: 8 }\n"), &["not a whole number from 16 to 128"]);
    mentions(&format!("{}ready: [z]\n", upstream("command: [x]")), &["there is no upstream `z`"]);
    mentions(&format!("{}ready: some\n", upstream("command: [x]")), &["`some` is not a value of `ready`"]);
    mentions(&format!("{}record: {{ files: 0 }}\n", upstream("command: [x]")), &["`record` has no `folder`"]);
}

#[test]
fn who_may_use_the_gateway_is_read() {
    let settings = settings(FULL);
    let auth = settings.auth.expect("tokens");
    assert_eq!((auth.issuer.as_str(), auth.scopes.as_slice()), ("https://auth.example", ["mcp".to_owned()].as_slice()));
    assert_eq!(auth.public_url.as_deref(), Some("https://mcp.example"));
    let rules = settings.access.expect("rules");
    let [deny, allow] = rules.as_slice() else { panic!("{rules:?}") };
    assert_eq!(deny.tools.as_deref(), Some(["*delete*".to_owned()].as_slice()));
    let condition = allow.condition.as_ref().expect("a condition");
    assert_eq!((condition.text.as_str(), allow.tools.as_ref()), ("claims.team == \"data\"", None));
    assert_eq!(FULL.lines().nth(condition.line - 1).and_then(|line| line.find("claims")), Some(condition.column - 1));
}

#[test]
fn who_may_use_the_gateway_is_checked() {
    let file = |more: &str| format!("{}{more}\n", upstream("command: [x]"));
    mentions(&file("auth: {}"), &["`auth` has no `issuer`", "`auth` has no `keys`"]);
    let auth = |more: &str| file(&format!("auth: {{ issuer: i, keys: k.json, {more} }}"));
    mentions(&auth("public_url: mcp.example"), &["`mcp.example` is not a scheme, a host and perhaps a port"]);
    mentions(&auth("public_url: 'https://mcp.example/mcp'"), &["the paths of the endpoints come after it"]);
    mentions(&auth("scopes: ['a b']"), &["`a b` is not a scope"]);
    mentions(&file("auth: { issuer: i, keys: 'ftp://k' }"), &["`ftp://k` is not a URL"]);
    mentions(&file("access: []"), &["`access` is empty", "clients may use nothing"]);
    mentions(&file("access: [{ tools: [a] }]"), &["the rule has no `effect`"]);
    mentions(&file("access: [{ effect: permit }]"), &["`permit` is not an effect"]);
    mentions(&file("access: [{ effect: allow, tools: [] }]"), &["`tools` is empty"]);
    mentions(&file("access: [{ effect: allow, scopes: [a] }]"), &["`scopes` needs tokens, and the file has no `auth`"]);
}

mod answers;
mod assertions;

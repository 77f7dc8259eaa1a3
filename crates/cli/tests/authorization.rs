//! Tokens on the command line: a server that demands them, a check and a client that get them, and what is wrong usage.
#![expect(clippy::unwrap_used, reason = "a test may give up loudly")]

#[path = "shared/printed.rs"]
mod printed;
#[path = "shared/serving.rs"]
mod serving;

use std::path::Path;
use std::process::Command;

use printed::Printed;
use serving::Serving;

/// How every access token of ours begins: its header, encoded.
const TOKEN: &str = "eyJ0eXAiOiJhdCtqd3Qi";

fn proof(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof"));
    command
        .args(arguments)
        .env("CLIENT_OF_THIS_TEST", "machine:s3cret-of-this-test")
        .env("PASSWORD", "s3cret-of-this-test");
    command
}

fn ran(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Printed { code, stdout, stderr } = Printed::by(&mut proof(arguments));
    (code, stdout, stderr)
}

fn serving(arguments: &[&str]) -> Serving {
    Serving::start(proof(&["serve", "--http", "127.0.0.1:0"]).args(arguments))
}

fn development() -> Serving {
    serving(&["--auth", "dev", "--auth-client-env", "CLIENT_OF_THIS_TEST", "--sse", "--ws"])
}

/// Whether a token stands in any file of a directory.
fn tells(directory: &Path) -> bool {
    let mut files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    files.any(|path| std::fs::read_to_string(path).unwrap().contains(TOKEN))
}

#[test]
fn a_check_gets_a_token_and_prints_it_nowhere() {
    let server = development();
    let (code, _, said) = ran(&["serve", "--http", "127.0.0.1:0", "--stdio", "--auth", "dev"]);
    assert!(code == Some(0) && said.contains("for development only"), "{said}");
    let directory = tempfile::tempdir().unwrap();
    let traces = directory.path().join("traces");
    let only = ["--only", "authorization.*,http.authenticated", "--revision", "2026-07-28", "--timeout", "2"];
    let mut arguments = vec!["check", "--oauth", &server.url, "--save-trace", traces.to_str().unwrap()];
    arguments.extend(only);
    let (code, out, err) = ran(&arguments);
    // On a busy machine it lasts long enough to say how far it is.
    let unexpected: Vec<&str> = err.lines().filter(|line| !line.contains(" s: ")).collect();
    assert_eq!((code, unexpected), (Some(0), Vec::new()), "{out}");
    assert!(out.contains("Passed: no rule is broken."), "{out}");
    assert!(!out.contains(TOKEN) && !tells(&traces));
    let issuer = server.url.trim_end_matches("/mcp");
    let mut own_name = vec!["check", "--oauth=client", "--oauth-client-id", "machine", "--oauth-issuer", issuer];
    own_name.push(&server.url);
    own_name.extend(["--oauth-client-secret-env", "PASSWORD"]);
    own_name.extend(only);
    let (code, out, err) = ran(&own_name);
    let unexpected: Vec<&str> = err.lines().filter(|line| !line.contains(" s: ")).collect();
    assert_eq!((code, unexpected), (Some(0), Vec::new()), "{out}");
    let (code, out, _) = ran(&["check", &server.url]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("--oauth"), "{out}");
}

#[test]
fn a_client_gets_a_token_and_more_scopes_when_needed() {
    let server = development();
    let directory = tempfile::tempdir().unwrap();
    let cache = directory.path().join("tokens.json");
    let with = ["--oauth", "--oauth-cache", cache.to_str().unwrap(), "--url", &server.url];
    for revision in ["2025-11-25", "2026-07-28"] {
        let mut arguments = vec!["client", "--revision", revision];
        arguments.extend(with);
        arguments.extend(["call", "touch_resource"]);
        let (code, out, err) = ran(&arguments);
        assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "Touched proof://counter\n", ""), "{revision}");
    }
    let socket = server.url.replace("http://", "ws://").replace("/mcp", "/ws");
    let events = server.url.replace("/mcp", "/sse");
    for address in [&["--url", socket.as_str()][..], &["--transport", "sse", "--url", &events]] {
        let (code, out, err) = ran(&[&["client", "--oauth", "call", "touch_resource"][..], address].concat());
        assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "Touched proof://counter\n", ""), "{address:?}");
    }
    assert!(std::fs::read_to_string(&cache).unwrap().contains(TOKEN));
    let (code, _, err) = ran(&["client", "--url", &server.url, "tools"]);
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains("HTTP 401") && err.contains("--oauth"), "{err}");
}

#[test]
fn a_recorder_gets_a_token_for_its_clients_and_keeps_it_out_of_the_file() {
    let server = development();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.jsonl");
    let recorder = |way: &str| {
        let arguments = ["record", "-o", file.to_str().unwrap(), "--http", "127.0.0.1:0", way, &server.url];
        Serving::start(&mut proof(&arguments))
    };
    let recording = recorder("--oauth");
    let (code, out, err) = ran(&["client", "call", "touch_resource", &recording.url]);
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "Touched proof://counter\n", ""));
    // A token that the client brings stays: this one is refused.
    let own = ["client", "--header", "Authorization: Bearer of-the-client-1", "tools", &recording.url];
    let (code, _, err) = ran(&own);
    assert!(code == Some(3) && err.contains("HTTP 401"), "{err}");
    drop(recording);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("touch_resource") && !tells(directory.path()), "{text}");
    // Whoever reaches the recorder uses the token.
    let (code, _, err) = ran(&["record", "-o", file.to_str().unwrap(), "--http", "0.0.0.0:0", "--oauth", &server.url]);
    assert!(code == Some(2) && err.contains("would use your token"), "{err}");
}

/// A recording with one greeting, to be added to.
fn greeted(directory: &Path) -> String {
    let lines = [
        r#"{"trace":"proof.trace/1","subject":"server","transport":"stdio"}"#,
        r#"{"from":"client","line":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}}"#,
        r#"{"from":"server","line":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}}"#,
        r#"{"from":"client","line":{"jsonrpc":"2.0","id":2,"method":"tools/list"}}"#,
        r#"{"from":"server","line":{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"touch_resource","inputSchema":{"type":"object"}},{"name":"echo","inputSchema":{"type":"object"}}]}}}"#,
    ];
    let file = directory.join("greeted.jsonl");
    std::fs::write(&file, lines.join("\n") + "\n").unwrap();
    file.to_string_lossy().into_owned()
}

#[test]
fn a_replay_gets_a_token_for_live_requests_and_prints_it_nowhere() {
    let server = development();
    let socket = server.url.replace("http://", "ws://").replace("/mcp", "/ws");
    let events = server.url.replace("/mcp", "/sse");
    for live in [&["--live", server.url.as_str()][..], &["--live", &socket], &["--transport", "sse", "--live", &events]]
    {
        let directory = tempfile::tempdir().unwrap();
        let file = greeted(directory.path());
        let asks = |more: &[&str]| {
            let client = ["client", "--revision", "2025-11-25", "call", "touch_resource", "--"];
            ran(&[&client[..], &[env!("CARGO_BIN_EXE_proof"), "replay", &file], live, more].concat())
        };
        let (code, _, err) = asks(&[]);
        assert!(code == Some(1) && err.contains("HTTP 401"), "{live:?}: {err}");
        let (code, out, err) = asks(&["--oauth"]);
        assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "Touched proof://counter\n", ""), "{live:?}");
        let added = std::fs::read_to_string(&file).unwrap();
        assert!(added.contains("Touched proof://counter") && added.contains("Bearer"), "{added}");
        assert!(!tells(directory.path()));
    }
}

#[test]
fn a_replay_passes_on_headers_and_the_token_of_a_variable() {
    let server = serving(&["--bearer-env", "PASSWORD"]);
    let directory = tempfile::tempdir().unwrap();
    let proof = env!("CARGO_BIN_EXE_proof");
    let inherited = ["--inherit-env", "PASSWORD"];
    let call = ["client", "--revision", "2025-11-25", "call", "echo", "message=s3cret-of-this-test"];
    let call = [&call[..], &inherited, &["--", proof]].concat();
    for more in [&["--bearer-env", "PASSWORD"][..], &["--header", "Authorization: Bearer s3cret-of-this-test"]] {
        let file = greeted(directory.path());
        let (code, out, err) = ran(&[&call[..], &["replay", &file, "--live", &server.url], more].concat());
        assert_eq!((code, err.as_str()), (Some(0), ""), "{more:?}");
        // What the user passes on to the server is a secret of the user.
        assert!(out.trim().len() == "s3cret-of-this-test".len() && !out.contains("s3cret"), "{out}");
        let added = std::fs::read_to_string(&file).unwrap();
        assert!(added.contains("tools/call") && !added.contains("s3cret"), "{added}");
    }
    let file = greeted(directory.path());
    for lost in [&["--bearer-env", "PASSWORD"][..], &["--oauth"], &["--env", "A=b"]] {
        let (code, _, err) = ran(&[&["replay", &file][..], lost].concat());
        assert!(code == Some(2) && err.contains("--live"), "{lost:?}: {err}");
    }
}

#[test]
fn refused_tokens_are_explained_without_secrets() {
    let server = development();
    let (code, out, err) = ran(&[
        "check",
        "--oauth=client",
        "--oauth-issuer",
        server.url.trim_end_matches("/mcp"),
        "--oauth-client-id",
        "stranger",
        "--oauth-client-secret-env",
        "PASSWORD",
        &server.url,
    ]);
    assert_eq!((code, out.as_str()), (Some(3), ""));
    assert!(err.contains("invalid_client") && err.contains("/token") && !err.contains("s3cret"), "{err}");
    let open = serving(&["--ws", "--sse"]);
    let (code, out, err) = ran(&[
        "check",
        "--oauth",
        &open.url,
        "--only",
        "authorization.*",
        "--timeout",
        "1",
        "--revision",
        "2026-07-28",
    ]);
    assert!(err.contains("requires no token"), "{code:?} {out} {err}");
}

#[test]
fn a_secret_goes_to_an_issuer_that_was_named_and_to_no_other() {
    let server = development();
    let own = server.url.trim_end_matches("/mcp");
    let client = ["--oauth=client", "--oauth-client-id", "machine", "--oauth-client-secret-env", "PASSWORD"];
    for named in [&[][..], &["--oauth-issuer", "https://as.example"]] {
        let call = ["client", "call", "touch_resource", &server.url];
        for (verb, advice) in
            [(&call[..], "; name the authorization server"), (&["check", &server.url], "--oauth-issuer URL")]
        {
            let (code, out, err) = ran(&[verb, &client, named].concat());
            assert_eq!((code, out.as_str()), (Some(3), ""), "{err}");
            assert!(err.contains("authorization server") && err.contains(own) && !err.contains("s3cret"), "{err}");
            assert_eq!(err.contains(advice), named.is_empty(), "{err}");
        }
    }
    let call = ["client", "call", "touch_resource", &server.url, "--oauth-issuer", own];
    let (code, out, err) = ran(&[&call[..], &client].concat());
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "Touched proof://counter\n", ""));
}

/// Runs a command at a terminal, answers its first question, and prints what the terminal showed.
const TERMINAL: &str = r#"
import os, pty, sys
answer = sys.argv[1].encode() + b"\n"
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
shown = b""
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:
        break
    if not more:
        break
    shown += more
    if answer and b"to agree:" in shown:
        os.write(terminal, answer)
        answer = b""
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.stdout.buffer.write(shown)
sys.exit(code)
"#;

#[test]
fn a_person_at_a_terminal_is_asked_once_whether_an_issuer_gets_the_secret() {
    let server = development();
    let issuer = server.url.trim_end_matches("/mcp");
    let directory = tempfile::tempdir().unwrap();
    let cache = directory.path().join("tokens.json");
    let asked = |answer: &str| {
        let mut command = Command::new("python3");
        command.args(["-c", TERMINAL, answer, env!("CARGO_BIN_EXE_proof"), "client", "call", "touch_resource"]);
        command.args([&server.url, "--oauth=client", "--oauth-client-id", "machine"]);
        command.args(["--oauth-client-secret-env", "PASSWORD", "--oauth-cache", cache.to_str().unwrap()]);
        let Printed { code, stdout, stderr } = Printed::by(command.env("PASSWORD", "s3cret-of-this-test"));
        // A terminal shows both streams, and lines that are broken to fit it.
        Printed { code, stdout: stdout.replace('\r', "").replace("\n       ", " "), stderr }
    };
    let question = "give it the credentials of client machine? Type `yes` to agree:";
    for refusal in ["no", "", "y"] {
        let Printed { code, stdout: shown, .. } = asked(refusal);
        assert!(code == Some(3) && shown.contains(question) && shown.contains(issuer), "{shown}");
        assert!(shown.contains("the authorization server gets no credentials"), "{shown}");
        assert!(!cache.exists(), "nothing was agreed to");
    }
    let Printed { code, stdout: shown, .. } = asked("yes");
    assert!(code == Some(0) && shown.contains(question) && shown.contains("Touched proof://counter"), "{shown}");
    let Printed { code, stdout: shown, .. } = asked("no");
    assert!(code == Some(0) && !shown.contains(question) && shown.contains("Touched proof://counter"), "{shown}");
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[test]
fn wrong_usage_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let nothing = directory.path().join("nothing.json");
    std::fs::write(&nothing, "{}").unwrap();
    let keys = format!("jwks:{}", nothing.display());
    let http = ["serve", "--http", "127.0.0.1:0"];
    for (arguments, named) in [
        (&["--auth", "other"][..], "jwks"),
        (&["--auth", "jwks:"], "jwks"),
        (&["--auth", &keys], "--auth-issuer"),
        (&["--auth", &keys, "--auth-issuer", "https://as.example"], "no set of keys"),
        (&["--auth", "jwks:/no/such/file", "--auth-issuer", "https://as.example"], "/no/such/file"),
        (&["--auth", "jwks:http://as.example/keys", "--auth-issuer", "https://as.example"], "https"),
        (&["--auth", &keys, "--auth-issuer", "https://as.example", "--auth-scope", "a b"], "--auth-scope"),
        (&["--auth", "dev", "--auth-issuer", "https://as.example"], "--auth-issuer"),
        (&["--auth", "dev", "--auth-client-env", "NO_SUCH_VARIABLE_HERE"], "NO_SUCH_VARIABLE_HERE"),
        (&["--auth", "dev", "--auth-client-env", "PASSWORD"], "ID:PASSWORD"),
        (&["--auth", "dev", "--bearer-env", "PASSWORD"], "--bearer-env"),
        (&["--auth", "dev", "--path", "/token"], "--path"),
        (&["--auth-issuer", "https://as.example"], "--auth"),
    ] {
        let (code, _, err) = ran(&[&http[..], arguments].concat());
        assert_eq!(code, Some(2), "{arguments:?}: {err}");
        assert!(err.contains(named), "{arguments:?}: {err}");
    }
    let (code, _, err) = ran(&["serve", "--http", "0.0.0.0:0", "--auth", "dev"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("--auth-anywhere"), "{err}");
    let good = directory.path().join("good.json");
    let key = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
    std::fs::write(&good, key).unwrap();
    let good = format!("jwks:{}", good.display());
    let issued = ["--auth", good.as_str(), "--auth-issuer", "https://as.example"];
    let (code, _, err) = ran(&[&["serve", "--http", "0.0.0.0:0"][..], &issued].concat());
    assert!(code == Some(2) && err.contains("--auth-audience"), "{err}");
    let (code, _, err) = ran(&[&http[..], &issued, &["--auth-local-documents"]].concat());
    assert!(code == Some(2) && err.contains("--auth dev"), "{err}");
    for (arguments, named) in [
        (&["--oauth", "http://as.example/mcp"][..], "https"),
        (&["--oauth", "--oauth-issuer", "as.example", "https://127.0.0.1:1/mcp"], "https://as.example"),
        (&["--oauth-issuer", "https://as.example", "https://127.0.0.1:1/mcp"], "--oauth"),
        (&["--oauth=client", "https://127.0.0.1:1/mcp"], "--oauth-client-id"),
        (&["--oauth-client-id", "x", "https://127.0.0.1:1/mcp"], "--oauth"),
        (&["--oauth", "--bearer-env", "PASSWORD", "https://127.0.0.1:1/mcp"], "--bearer-env"),
        (&["--oauth=other", "https://127.0.0.1:1/mcp"], "headless"),
    ] {
        let (code, _, err) = ran(&[&["check"][..], arguments].concat());
        assert_eq!(code, Some(2), "{arguments:?}: {err}");
        assert!(err.contains(named), "{arguments:?}: {err}");
    }
}

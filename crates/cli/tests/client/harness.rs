//! Runs the binary with a time limit, the reference server beside it, and servers made of a few lines of shell. Does not
//! know what comes out.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::serving;

/// No run may take longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A run that is over.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

/// Runs `proof client` with these arguments.
pub(crate) fn client(arguments: &[&str]) -> Ran {
    run(Command::new(env!("CARGO_BIN_EXE_proof")).arg("client").args(arguments))
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Ran {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).env_remove("RUST_LOG");
    let begun = Instant::now();
    let mut child = command.spawn().expect("the binary runs");
    let stdout = read(child.stdout.take());
    let stderr = read(child.stderr.take());
    let status = loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            break status;
        }
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("still running after {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let took = begun.elapsed();
    let text = |reader: std::thread::JoinHandle<String>| reader.join().expect("it reads");
    let ran = Ran { code: status.code(), stdout: text(stdout), stderr: text(stderr).replace("\n       ", " "), took };
    let control = |c: char| c.is_control() && c != '\n';
    assert!(!ran.stdout.contains(control) && !ran.stderr.contains(control), "{ran:?}");
    assert!(!ran.stderr.contains("panicked"), "{ran:?}");
    ran
}

fn read(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.expect("a pipe").read_to_end(&mut bytes).expect("it can be read");
        String::from_utf8(bytes).expect("what it prints is UTF-8")
    })
}

impl Ran {
    /// It ended so.
    #[track_caller]
    pub(crate) fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// It printed exactly this and had nothing else to say.
    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Self {
        assert_eq!((self.code, &*self.stdout), (Some(0), text), "{self:?}");
        self
    }

    /// Its error has each of these parts, and advice.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "no `{part}` in {self:?}");
        }
        assert!(self.stderr.contains("\n  try: "), "{self:?}");
        self
    }
}

/// The reference server over HTTP, HTTP+SSE and WebSocket.
pub(crate) struct Serving {
    _held: serving::Serving,
    /// Host and port.
    pub(crate) host: String,
}

impl Serving {
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    pub(crate) fn with(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proof"));
        let held =
            serving::Serving::start(command.args(["serve", "--http", "127.0.0.1:0", "--sse", "--ws"]).args(arguments));
        let host = held.url.strip_prefix("http://").and_then(|rest| rest.split_once("/mcp")).map(|(host, _)| host);
        let host = host.unwrap_or_else(|| panic!("{}", held.url)).to_owned();
        Self { _held: held, host }
    }

    pub(crate) fn mcp(&self) -> String {
        format!("http://{}/mcp", self.host)
    }
}

/// A legacy server of a few lines of shell: answers `initialize` with tools, and then what `cases` say. A case sees the
/// request's id as `$id`.
pub(crate) fn legacy(cases: &str) -> Vec<String> {
    let greeting =
        r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}"#;
    script(&format!("*'\"initialize\"'*) answer '{greeting}' ;;\n{cases}"))
}

/// A server of a few lines of shell: `cases` of a `case` over the line.
pub(crate) fn script(cases: &str) -> Vec<String> {
    let script = format!(
        r#"answer() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$1"; }}
        fail() {{ printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":%s,"message":"no"}}}}\n' "$id" "$1"; }}
        while read -r line; do
            id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
            case "$line" in
            {cases}
            *'"id"'*) fail -32601 ;;
            esac
        done"#
    );
    vec!["--".to_owned(), "sh".to_owned(), "-c".to_owned(), script]
}

/// `proof client` with these arguments on such a server.
pub(crate) fn on(arguments: &[&str], server: &[String]) -> Ran {
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    client(&[arguments, &server].concat())
}

//! Chromium without a window, driven over its debugging pipe: messages of JSON, each ended by a zero byte.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// What Debian and others call it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// How long a page may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long the browser lives at most, in seconds: one that stands still ends the test.
const LIFE: u32 = 150;

/// A running Chromium with a profile of its own; it ends with its test.
pub(crate) struct Chromium {
    child: Child,
    commands: File,
    answers: BufReader<File>,
    sent: u64,
    _profile: tempfile::TempDir,
}

/// One page.
pub(crate) struct Tab<'c> {
    chromium: &'c mut Chromium,
    target: Value,
    session: String,
}

fn program() -> &'static str {
    let found = |name: &&&str| {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).any(|folder| folder.join(name).is_file())
    };
    NAMES.iter().find(found).copied().unwrap_or_else(|| {
        panic!("Chromium is missing: this test needs a browser. Install it, for example: apt-get install chromium")
    })
}

fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("mkfifo runs");
    assert!(made.success(), "no pipe at {}", path.display());
}

/// A file as a PDF.
pub(crate) fn printed_by_chromium(page: &Path) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a directory");
    let pdf = folder.path().join("page.pdf");
    let mut command = Command::new("timeout");
    command.args([
        &LIFE.to_string(),
        program(),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
    ]);
    command.arg("--no-pdf-header-footer").arg(format!("--print-to-pdf={}", pdf.display()));
    command.arg(format!("--user-data-dir={}", folder.path().join("profile").display()));
    let printed = command.arg(format!("file://{}", page.display())).stdin(Stdio::null()).output().expect("it runs");
    std::fs::read(pdf).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&printed.stderr)))
}

impl Chromium {
    /// Starts it, without a page.
    pub(crate) fn start() -> Self {
        let program = program();
        let profile = tempfile::tempdir().expect("a directory");
        let [commands, answers] = ["commands", "answers"].map(|name| profile.path().join(name));
        pipe(&commands);
        pipe(&answers);
        let flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
                     --disable-component-update --disable-sync --disable-dev-shm-usage --remote-debugging-pipe";
        let script = format!("exec timeout {LIFE} {program} {flags} --user-data-dir=\"$1\" 3<\"$2\" 4>\"$3\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, "sh"]).arg(profile.path().join("profile")).args([&commands, &answers]);
        let child = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("sh runs");
        // Each waits for the other end, in the order in which the shell opens them.
        let commands = File::options().write(true).open(commands).expect("a pipe");
        let answers = BufReader::new(File::open(answers).expect("a pipe"));
        Self { child, commands, answers, sent: 0, _profile: profile }
    }

    /// Opens a page.
    pub(crate) fn open(&mut self, url: &str) -> Tab<'_> {
        let opened = self.call(None, "Target.createTarget", json!({ "url": url }));
        let target = opened["targetId"].clone();
        let attached = self.call(None, "Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        let session = attached["sessionId"].as_str().expect("a session").to_owned();
        Tab { chromium: self, target, session }
    }

    fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.sent += 1;
        let mut command = json!({ "id": self.sent, "method": method, "params": params });
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).expect("Chromium reads");
        loop {
            let mut answer = Vec::new();
            self.answers.read_until(0, &mut answer).expect("Chromium answers");
            assert!(!answer.is_empty(), "Chromium ended, for example because it cannot run here");
            let mut answer: Value =
                serde_json::from_slice(answer.trim_ascii_end().strip_suffix(b"\0").unwrap_or(&answer)).expect("JSON");
            if answer["id"] == self.sent {
                return answer["result"].take();
            }
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // It ends its own processes; a killed one would leave them behind.
        let _ = self.commands.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let end = Instant::now() + Duration::from_secs(5);
        while Instant::now() < end && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Tab<'_> {
    /// The value of an expression, as a user's own action.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "userGesture": true, "returnByValue": true });
        self.chromium.call(Some(&self.session), "Runtime.evaluate", params)["result"]["value"].take()
    }

    /// The text that an expression gives.
    pub(crate) fn text(&mut self, expression: &str) -> String {
        self.evaluate(expression).as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the page is at an address that `fits`. The browser is asked, not the page: an expression is lost where
    /// the page changes meanwhile.
    #[track_caller]
    pub(crate) fn wait_until_at(&mut self, fits: impl Fn(&str) -> bool) {
        let end = Instant::now() + PATIENCE;
        loop {
            let found = self.chromium.call(None, "Target.getTargetInfo", json!({ "targetId": self.target }));
            let at = found["targetInfo"]["url"].as_str().unwrap_or_default();
            if fits(at) {
                return;
            }
            assert!(Instant::now() < end, "the browser is at {at}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until an expression is true on a page that does not change any more.
    #[track_caller]
    pub(crate) fn wait_until(&mut self, expression: &str) {
        let end = Instant::now() + PATIENCE;
        while self.evaluate(expression) != true {
            assert!(Instant::now() < end, "{expression} is not true: {}", self.text("document.body.innerText"));
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

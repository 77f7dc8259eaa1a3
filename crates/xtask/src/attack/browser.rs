//! Chromium without a window, driven over its debugging pipe: messages of JSON, each ended by a zero byte. It opens pages, notes
//! the dialogs that they show, and knows nothing of what is on them.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

/// What Debian and others call it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const FLAGS: &str = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
                     --disable-component-update --disable-sync --disable-dev-shm-usage --remote-debugging-pipe";
/// How long a page may take to load.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the browser lives at most, in seconds: one that stands still ends the category.
const LIFE: u32 = 1200;
const BLANK: &str = "about:blank";

/// A running Chromium with a profile of its own; it ends with this value.
pub(super) struct Chromium {
    child: Child,
    commands: File,
    answers: BufReader<File>,
    sent: u64,
    /// The texts of the dialogs that pages showed.
    dialogs: Vec<String>,
    /// Its one window.
    session: String,
}

fn program() -> anyhow::Result<&'static str> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = |name: &&str| std::env::split_paths(&folders).any(|folder| folder.join(name).is_file());
    NAMES.into_iter().find(found).context(
        "Chromium is missing: reports are opened in a browser. Install it, for example: apt-get install chromium",
    )
}

impl Chromium {
    /// Starts it with an empty profile in `folder`.
    pub(super) fn start(folder: &Path) -> anyhow::Result<Self> {
        let program = program()?;
        fs::create_dir_all(folder)?;
        let [commands, answers] = ["commands", "answers"].map(|name| folder.join(name));
        let made = Command::new("mkfifo").args([&commands, &answers]).status().context("mkfifo")?;
        ensure!(made.success(), "no pipes in {}", folder.display());
        let script = format!("exec timeout {LIFE} {program} {FLAGS} --user-data-dir=\"$1\" 3<\"$2\" 4>\"$3\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, "sh"]).arg(folder.join("profile")).args([&commands, &answers]);
        let child = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        // Each waits for the other end, in the order in which the shell opens them.
        let commands = File::options().write(true).open(commands)?;
        let answers = BufReader::new(File::open(answers)?);
        let mut chromium = Self { child, commands, answers, sent: 0, dialogs: Vec::new(), session: String::new() };
        chromium.session = chromium.window()?;
        chromium.page("Page.enable", json!({}))?;
        Ok(chromium)
    }
    /// Opens a window without a page.
    fn window(&mut self) -> anyhow::Result<String> {
        let opened = self.call(None, "Target.createTarget", json!({ "url": BLANK }))?;
        let target = opened["targetId"].clone();
        let attached = self.call(None, "Target.attachToTarget", json!({ "targetId": target, "flatten": true }))?;
        attached["sessionId"].as_str().map(str::to_owned).context("no session")
    }

    fn send(&mut self, session: Option<&str>, method: &str, params: Value) -> anyhow::Result<u64> {
        self.sent += 1;
        let mut command = json!({ "id": self.sent, "method": method, "params": params });
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).context("Chromium has ended")?;
        Ok(self.sent)
    }

    fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> anyhow::Result<Value> {
        let id = self.send(session, method, params)?;
        loop {
            let mut answer = Vec::new();
            self.answers.read_until(0, &mut answer)?;
            let Some(answer) = answer.strip_suffix(b"\0") else { bail!("Chromium has ended, or does not run here") };
            let mut answer: Value = serde_json::from_slice(answer)?;
            if answer["method"] == "Page.javascriptDialogOpening" {
                self.dialogs.push(answer["params"]["message"].as_str().unwrap_or_default().to_owned());
                // The page stands still until it is answered.
                let shown_by = answer["sessionId"].as_str().map(str::to_owned);
                self.send(shown_by.as_deref(), "Page.handleJavaScriptDialog", json!({ "accept": true }))?;
            }
            if answer["id"] == id {
                ensure!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return Ok(answer["result"].take());
            }
        }
    }

    fn page(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        let session = self.session.clone();
        self.call(Some(&session), method, params)
    }

    /// Opens a page and waits until it is loaded. Without `policy`, the page's own Content-Security-Policy does not count.
    pub(super) fn open(&mut self, url: &str, policy: bool) -> anyhow::Result<()> {
        self.page("Page.navigate", json!({ "url": BLANK }))?;
        self.dialogs.clear();
        self.page("Page.setBypassCSP", json!({ "enabled": !policy }))?;
        self.page("Page.navigate", json!({ "url": url }))?;
        let end = Instant::now() + PATIENCE;
        let loaded = format!("location.href !== '{BLANK}' && document.readyState === 'complete'");
        // A page that goes away while it is asked has not answered.
        while !self.evaluate(&loaded).is_ok_and(|loaded| loaded == true) {
            ensure!(Instant::now() < end, "{url} does not load");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The value of an expression on the page, as a user's own action; a promise is waited for.
    pub(super) fn evaluate(&mut self, expression: &str) -> anyhow::Result<Value> {
        let params =
            json!({ "expression": expression, "userGesture": true, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.page("Runtime.evaluate", params)?;
        ensure!(answer["exceptionDetails"].is_null(), "{}", answer["exceptionDetails"]);
        Ok(answer["result"]["value"].take())
    }

    /// The texts of the dialogs that the page has shown so far.
    pub(super) fn dialogs(&self) -> Vec<String> {
        self.dialogs.clone()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // It ends its own processes; a killed one would leave them behind.
        let _ = self.send(None, "Browser.close", json!({}));
        let end = Instant::now() + Duration::from_secs(5);
        while Instant::now() < end && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! What only a browser decides, in Chromium. A person's consent, end to end: `proof client --oauth=browser` shows an address, the
//! page of `proof serve --auth dev` asks there, and a click on “Allow” lets the client go on. Other programs post forms as they
//! like; which `Origin` a form carries is decided by the browser. And on how many pages a report is printed.
#![expect(clippy::unwrap_used, reason = "a test may give up loudly")]

#[path = "shared/chromium.rs"]
mod chromium;
#[path = "shared/serving.rs"]
mod serving;

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use chromium::{Chromium, Tab, printed_by_chromium};
use serving::Serving;

fn proof(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof"));
    command.args(arguments);
    command
}

/// A client that waits for a consent; it ends with its test.
struct Asking(Child);

impl Drop for Asking {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A client, and the address that it says to open.
fn asking(server: &Serving) -> (Asking, String) {
    let arguments = ["client", "--oauth=browser", "tools", &server.url];
    let mut client = proof(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(client.stderr.take().unwrap());
    let mut text = String::new();
    let address = loop {
        let begin = text.len();
        assert_ne!(stderr.read_line(&mut text).unwrap(), 0, "no address was shown: {text}");
        if let Some(address) = text[begin..].trim().strip_prefix("http://") {
            break format!("http://{address}");
        }
    };
    std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
    (Asking(client), address)
}

fn click(tab: &mut Tab<'_>, answer: &str) {
    let button = format!("document.querySelector('button[value={answer}]')");
    tab.wait_until(&format!("{button} !== null"));
    assert_eq!(tab.text("document.querySelector('h1').innerText"), "Allow access?");
    tab.evaluate(&format!("{button}.click()"));
}

#[test]
fn a_consent_in_chromium_reaches_the_client() {
    let server = Serving::start(&mut proof(&["serve", "--http", "127.0.0.1:0", "--auth", "dev"]));
    let mut chromium = Chromium::start();
    for (answer, code) in [("allow", 0), ("deny", 3)] {
        let (mut client, address) = asking(&server);
        let mut tab = chromium.open(&address);
        tab.wait_until_at(|at| at == address);
        click(&mut tab, answer);
        tab.wait_until_at(|at| at.contains("/callback?"));
        let mut printed = String::new();
        client.0.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        assert_eq!(client.0.wait().unwrap().code(), Some(code), "{answer}: {printed}");
        assert_eq!(printed.contains("touch_resource"), answer == "allow", "{printed}");
    }
}

/// As many findings as a server that does most things wrong has.
#[test]
fn a_report_of_many_findings_is_printed_on_six_pages_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.html");
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings/broken.jsonl");
    let also = format!("html={}", report.display());
    let checked = proof(&["check", "--trace", recording, "--also", &also]).output().unwrap();
    assert_eq!(checked.status.code(), Some(1), "{}", String::from_utf8_lossy(&checked.stderr));
    // The recording has five findings.
    let page = std::fs::read_to_string(&report).unwrap();
    let begin = page.find("<article class=\"card ").unwrap();
    let end = page.rfind("</article>").unwrap() + "</article>".len();
    let page = [&page[..begin], &page[begin..end].repeat(3), &page[end..]].concat();
    let cards = page.matches("<article class=\"card ").count();
    assert!(cards >= 14, "{cards} findings");
    std::fs::write(&report, page).unwrap();
    let printed = printed_by_chromium(&report);
    let pages = printed.windows(12).filter(|part| part.starts_with(b"/Type /Page") && part[11] != b's').count();
    assert!((2..=6).contains(&pages), "{cards} findings on {pages} pages");
}

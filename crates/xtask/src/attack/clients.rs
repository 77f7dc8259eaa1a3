//! Hostile commands to check-client, and hostile files to every verb that reads one: reports, baselines, hints, recordings, tests,
//! catalogues. They end in time and in words, and nothing raw reaches the terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use anyhow::Context as _;
use serde_json::json;

use super::hostile::mcp::ESCAPES;
use super::program::Run;
use super::servers::raw;
use super::trial::{Attempt, Trial};

const SOUND: &str = "ends in time, in bounded memory, nothing raw on the terminal";
const MOST: u64 = 400;

/// Verbs that read a file, which stands at FILE.
const READERS: &[(&str, &[&str])] = &[
    ("diff", &["diff", "FILE", "FILE"]),
    ("badge", &["badge", "FILE"]),
    ("check --baseline", &["check", "--max-time", "3", "--baseline", "FILE", "--", "true"]),
    ("check --hints", &["check", "--max-time", "3", "--hints", "FILE", "--", "true"]),
    ("check --trace", &["check", "--trace", "FILE"]),
    ("replay", &["replay", "FILE"]),
    ("test", &["test", "FILE"]),
    ("test --replay", &["test", "--replay", "FILE", "FILE"]),
    ("snapshot --check", &["snapshot", "--check", "FILE", "--", "true"]),
    ("serve --catalog", &["serve", "--stdio", "--catalog", "FILE"]),
    ("generate --arguments", &["generate", "--arguments", "FILE", "--", "true"]),
    ("client --oauth-cache", &["client", "ping", "--oauth", "--oauth-cache", "FILE", "http://127.0.0.1:9/mcp"]),
    ("test import", &["test", "import", "FILE"]),
];

/// Commands that are no clients.
const COMMANDS: &[(&str, &[&str])] = &[
    ("a command that ends at once", &["true"]),
    ("a command that fails", &["false"]),
    ("a command that ignores SIGTERM", &["sh", "-c", "trap '' TERM INT HUP; while :; do sleep 1; done"]),
    ("a command that floods stdout", &["yes"]),
    ("a command that floods stderr", &["sh", "-c", "yes >&2"]),
    ("zeros", &["cat", "/dev/zero"]),
    ("escapes", &["sh", "-c", "printf '\\033[31m\\233;\\033]0;t\\007'; printf '\\033[2J\\302\\2332J' >&2; exit 1"]),
    ("a grandchild that stays", &["sh", "-c", "sleep 1000 & exit 0"]),
    ("a command that is none", &["/nonexistent/\u{1b}[31m\u{61c}"]),
];

pub(super) fn run(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let folder = plan.folder.join("files");
    fs::create_dir_all(&folder)?;
    let mut attempts = Vec::new();
    for (number, (what, bytes)) in files().into_iter().enumerate() {
        let path = folder.join(format!("f{number}.mcp.yaml"));
        fs::write(&path, bytes).context("a hostile file")?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        for (place, args) in READERS {
            let path = path.display().to_string();
            let args: Vec<String> =
                args.iter().map(|arg| if *arg == "FILE" { path.clone() } else { (*arg).to_owned() }).collect();
            attempts.push(Attempt::new(what.clone(), *place, SOUND, move || {
                let ended = Run { args: args.clone(), ..Run::new(plan, &[], 30) }.go(plan)?;
                ended.sound(MOST)?;
                raw(&ended.out)?;
                raw(&ended.err)
            }));
        }
    }
    for (what, command) in COMMANDS {
        for (place, more) in [
            ("check-client over HTTP", &["--scenario", "tools*"][..]),
            ("check-client over stdio", &["--transport", "stdio", "--scenario", "tools*"][..]),
        ] {
            let args: Vec<String> = ["check-client", "--revision", "2025-11-25", "--timeout", "2"]
                .iter()
                .chain(more)
                .chain(&["--"])
                .chain(*command)
                .map(|word| (*word).to_owned())
                .collect();
            attempts.push(Attempt::new(*what, place, SOUND, move || {
                let ended = Run { args: args.clone(), ..Run::new(plan, &[], 60) }.go(plan)?;
                ended.sound(MOST)?;
                raw(&ended.out)?;
                raw(&ended.err)
            }));
        }
    }
    trial.play(&attempts, 4);
    Ok(())
}

fn files() -> Vec<(String, Vec<u8>)> {
    let all = ESCAPES.concat();
    let report = json!({ "schema": all, "format": all, "proof": all, "report": all, "target": all, "findings": [{ "rule": all, "title": all, "evidence": [all] }], "servers": [all], "version": 1, "tools": [{ "name": all }] });
    let mut texts: Vec<(String, Vec<u8>)> = ESCAPES
        .iter()
        .map(|escape| (format!("a file that is {}", escape.escape_debug()), escape.as_bytes().to_vec()))
        .collect();
    texts.extend([
        ("a report full of escapes".to_owned(), report.to_string().into_bytes()),
        ("a proof.report/1 full of escapes".to_owned(), json!({ "schema": "proof.report/1", "format": "proof.report/1", "server": { "name": all }, "runs": [{ "revision": all, "findings": [{ "rule": all }] }] }).to_string().into_bytes()),
        ("names full of escapes".to_owned(), format!("{{\"{}\": 1}}", ESCAPES.iter().filter(|text| text.chars().all(|c| c >= ' ')).copied().collect::<String>()).into_bytes()),
        ("YAML with a key of escapes".to_owned(), format!("? \"{}\"\n: 1\n", all.escape_unicode()).into_bytes()),
        ("YAML with an unknown key".to_owned(), "\u{202e}evil\u{61c}: 1\nname: \u{200b}x\ntools: []\n".to_owned().into_bytes()),
        ("deep JSON".to_owned(), "[".repeat(1_000_000).into_bytes()),
        ("deep objects".to_owned(), "{\"a\":".repeat(200_000).into_bytes()),
        ("deep YAML".to_owned(), "- ".repeat(100_000).into_bytes()),
        ("aliases of aliases".to_owned(), aliases().into_bytes()),
        ("30 MB of one line".to_owned(), vec![b'x'; 30 << 20]),
        ("a million lines".to_owned(), b"{}\n".repeat(1_000_000)),
        ("zeros".to_owned(), vec![0; 1 << 20]),
        ("invalid UTF-8".to_owned(), b"\xff\xfe\x9b2J".repeat(1000)),
        ("nothing".to_owned(), Vec::new()),
    ]);
    texts
}

fn aliases() -> String {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..12 {
        let before = format!("*a{}, ", n - 1).repeat(10);
        text.extend([format!("a{n}: &a{n} ["), before.trim_end_matches(", ").to_owned(), "]\n".to_owned()]);
    }
    text
}

//! Hostile servers to everything of ours that is a client: lists and results without end, schemas that are work, escapes for the
//! terminal, ids that do not fit, processes that do not end. The run ends in time, in bounded memory, and prints nothing raw.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::Plan;
use super::hostile::http::{Seen, Sent, Web};
use super::hostile::mcp::{ESCAPES, Reaction, TRICKS, react};
use super::program::{Ended, Pipe, Run};
use super::trial::{Attempt, Bound, Trial};

/// Tricks that are floods, and the limit of a connection or a trace that meets each.
const FLOODS: &[(&str, &str)] = &[
    ("endless-pages", "1,000 pages per list (client.md)"),
    ("huge-pages", "32 MiB per list (client.md), 64 MiB per trace"),
    ("huge-list", "16 MiB per message (client.md)"),
    ("huge-result", "16 MiB per message (client.md)"),
    ("huge-error", "16 MiB per message (client.md)"),
    ("deep-result", "16 MiB per message (client.md)"),
    ("line-without-end", "16 MiB per message (client.md)"),
    ("notifications", "64 MiB per trace and inbox"),
    ("questions", "64 MiB per trace and inbox"),
    ("unasked", "64 MiB per trace and inbox"),
    ("error-without-end", "1 MiB of stderr"),
];

/// The most memory that any verb held under each trick, in MiB.
type Peaks = Mutex<BTreeMap<&'static str, u64>>;

const SOUND: &str = "ends in time, in bounded memory, nothing raw on the terminal";
/// MiB: what a client of ours may hold. Bodies and lines are bounded far below.
const MOST: u64 = 400;
const SECONDS: u64 = 40;

/// Verbs that talk to a server, and how long each may wait by its options.
const VERBS: &[(&str, &[&str])] = &[
    ("client tools", &["client", "tools", "--timeout", "3"]),
    ("client call", &["client", "call", "t", "--timeout", "3"]),
    ("client ping", &["client", "ping", "--timeout", "3"]),
    ("client prompts", &["client", "prompts", "--timeout", "3"]),
    ("check", &["check", "--revision", "2025-11-25", "--timeout", "1", "--max-time", "5"]),
    ("snapshot", &["snapshot", "--timeout", "3"]),
    ("generate", &["generate", "--depth", "basic", "--timeout", "1"]),
];

pub(super) fn run(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let own = std::env::current_exe()?.display().to_string();
    let peaks = Peaks::default();
    let mut attempts = Vec::new();
    for trick in TRICKS {
        let web = Arc::new(web(trick)?);
        for (verb, args) in VERBS {
            let args = patience(plan, args);
            // In a quick run, each trick meets a client that reads, one that calls and one that judges, and both transports.
            if !plan.quick || matches!(*verb, "client call" | "check") {
                let command = ["--", &own, "attack", "--play", trick].map(str::to_owned).to_vec();
                let args = [args.clone(), command].concat();
                attempts.push(attempt(plan, trick, format!("{verb} over stdio"), args, &peaks));
            }
            if *trick != "error-without-end" && (!plan.quick || *verb == "client tools") {
                let args = [args, vec![web.url("/mcp")]].concat();
                attempts.push(attempt(plan, trick, format!("{verb} over http"), args, &peaks));
            }
        }
    }
    attempts.extend(processes(plan, &own));
    attempts.extend(interrupted(plan, &own));
    trial.play(&attempts, 4);
    drop(attempts);
    let peaks = peaks.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (trick, by) in FLOODS {
        let held = peaks.get(trick).copied().context("never played");
        trial.flood(&format!("a server that plays {trick}"), "all clients", held, Bound { most: MOST, by });
    }
    Ok(())
}

/// The arguments of a verb; in a quick run it waits only as long as silence takes to be told from a slow start.
fn patience(plan: &Plan, args: &[&str]) -> Vec<String> {
    let shorter = |word: &&str| match *word {
        "3" if plan.quick => "2".to_owned(),
        "5" if plan.quick => "3".to_owned(),
        word => word.to_owned(),
    };
    args.iter().map(shorter).collect()
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn attempt<'p>(plan: &'p Plan, trick: &'static str, place: String, args: Vec<String>, peaks: &'p Peaks) -> Attempt<'p> {
    Attempt::new(trick, place, SOUND, move || {
        let ended = Run { args: args.clone(), ..Run::new(plan, &[], SECONDS) }.go(plan)?;
        let mut peaks = peaks.lock().unwrap_or_else(PoisonError::into_inner);
        let peak = peaks.entry(trick).or_default();
        *peak = ended.peak.max(*peak);
        drop(peaks);
        sound(&ended, trick)
    })
}

fn sound(ended: &Ended, trick: &str) -> anyhow::Result<()> {
    ended.sound(MOST)?;
    ensure!(ended.out.len() + ended.err.len() < 300 << 20, "{} MB printed", (ended.out.len() + ended.err.len()) >> 20);
    if matches!(trick, "escapes" | "error-without-end") {
        raw(&ended.out)?;
        raw(&ended.err)?;
    }
    Ok(())
}

/// Fails where an output has a character that a terminal or a reader would be misled by.
pub(super) fn raw(output: &[u8]) -> anyhow::Result<()> {
    let text = String::from_utf8_lossy(output);
    for (number, line) in text.lines().enumerate() {
        let bad = line.chars().find(|c| {
            matches!(c, '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200b}'..='\u{200f}')
                || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        });
        ensure!(
            bad.is_none(),
            "{bad:?} in line {}: {}",
            number + 1,
            line.escape_debug().to_string().chars().take(160).collect::<String>()
        );
    }
    debug_assert!(ESCAPES.iter().all(|text| !text.is_empty()));
    Ok(())
}

/// The hostile server over Streamable HTTP.
fn web(trick: &'static str) -> anyhow::Result<Web> {
    Web::start(move |seen: &Seen, _| {
        if seen.path().0 != "POST" {
            return Sent::response("405 Method Not Allowed", "", b"");
        }
        let message: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
        if message["id"].is_null() {
            return Sent::response("202 Accepted", "", b"");
        }
        answered(react(trick, &message))
    })
}

/// One message as JSON, several or endless ones as a stream of events.
fn answered(reaction: Reaction) -> Sent {
    if let ([one], true) = (reaction.messages.as_slice(), reaction.endless.is_empty()) {
        if reaction.cut {
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                one.len() + 10
            );
            return Sent { first: [head.as_bytes(), one].concat(), ..Sent::default() };
        }
        return Sent::response("200 OK", "Content-Type: application/json\r\n", one);
    }
    if reaction.cut {
        return Sent::endless("application/json", &reaction.messages.concat(), &reaction.endless, reaction.pause);
    }
    let event = |message: &Vec<u8>| [b"data: ", message.as_slice(), b"\n\n"].concat();
    let first: Vec<u8> = reaction.messages.iter().flat_map(event).collect();
    let endless = if reaction.endless.is_empty() { b": wait\n\n".to_vec() } else { event(&reaction.endless) };
    let pause = if reaction.endless.is_empty() { Duration::from_millis(500) } else { reaction.pause };
    Sent::endless("text/event-stream", &first, &endless, pause)
}

/// Commands that are no servers, or that do not end.
fn processes<'p>(plan: &'p Plan, own: &str) -> Vec<Attempt<'p>> {
    let stays = format!("trap '' TERM INT HUP; {own} attack --play stays");
    let commands: [(&'static str, Vec<&str>); 10] = [
        ("a child that ignores SIGTERM", vec!["sh", "-c", &stays]),
        ("a child that ignores everything", vec!["sh", "-c", "trap '' TERM INT HUP PIPE; while :; do sleep 1; done"]),
        ("a grandchild that keeps the pipe", vec!["sh", "-c", "trap '' HUP; sleep 1000 & exit 0"]),
        ("a grandchild that keeps the pipe and ignores", vec!["sh", "-c", "(trap '' TERM HUP INT; sleep 1000) & cat"]),
        ("an echo", vec!["cat"]),
        ("zeros without end", vec!["cat", "/dev/zero"]),
        ("lines without end", vec!["yes", "{\"jsonrpc\":\"2.0\"}"]),
        ("an exit at once", vec!["true"]),
        ("a command that is none", vec!["/nonexistent/\u{1b}[31mred"]),
        ("a folder", vec!["/"]),
    ];
    let mut attempts = Vec::new();
    for (what, command) in commands {
        for (verb, args) in VERBS.iter().filter(|(verb, _)| !plan.quick || *verb == "client tools") {
            let args = [strings(args), strings(&["--"]), strings(&command)].concat();
            attempts.push(Attempt::new(what, *verb, SOUND, move || {
                let ended = Run { args: args.clone(), ..Run::new(plan, &[], SECONDS) }.go(plan)?;
                sound(&ended, "escapes")
            }));
        }
    }
    attempts
}

/// Ctrl-C and SIGTERM end a run whatever its server does.
fn interrupted<'p>(plan: &'p Plan, own: &str) -> Vec<Attempt<'p>> {
    let stays = format!("trap '' TERM INT HUP; {own} attack --play silent");
    let mut attempts = Vec::new();
    for signal in ["INT", "TERM", "HUP"] {
        for (verb, args) in [("client", ["client", "tools"]), ("check", ["check", "--safety"])] {
            let stays = stays.clone();
            let what = format!("SIG{signal} while a server is silent and refuses to end");
            attempts.push(Attempt::new(what, verb, "ends within 10 s", move || {
                let mut pipe = Pipe::start(plan, &[&args[..], &["--", "sh", "-c", &stays]].concat())?;
                std::thread::sleep(Duration::from_millis(500));
                pipe.signal(signal)?;
                ensure!(pipe.ends_within(Duration::from_secs(10)), "it goes on");
                Ok(())
            }));
        }
    }
    attempts
}

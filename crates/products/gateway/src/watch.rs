//! The commands that look at a running gateway: `status`, `top`, `slo`, `tail`, `reload`. What servers sent is shown escaped.

mod lock;
mod slo;

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use net::connect_local;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use wire::timestamp::rfc3339;

use self::lock::lock_lines;
use self::slo::slo;
use crate::control::{remove, sockets};
use crate::tell::Failure;

/// How often `top` shows new figures.
const REFRESH: Duration = Duration::from_secs(1);

/// Which gateway, and how it is shown.
#[derive(Args, Debug)]
pub(crate) struct WatchArgs {
    /// Process of the gateway [default: the only one that runs]
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Status,
    Top,
    Slo,
    Tail,
    Reload,
}

impl Question {
    const fn word(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Top => "top",
            Self::Slo => "slo",
            Self::Tail => "tail",
            Self::Reload => "reload",
        }
    }
}

/// Asks a running gateway and prints its answer.
pub(crate) async fn run(question: Question, args: &WatchArgs) -> Result<(), Failure> {
    let socket = find(args.pid).await?;
    let mut first = true;
    loop {
        let mut lines = ask(&socket, question.word()).await?;
        let terminal = std::io::stdout().is_terminal();
        while let Ok(Some(line)) = lines.next_line().await {
            let value: Value = serde_json::from_str(&line).unwrap_or_default();
            if question == Question::Slo && value.get("error").is_some() {
                return Err(Failure::usage("the gateway has no objectives".to_owned(), "add `slo:` to its file"));
            }
            let text = match question {
                _ if args.json => format!("{value}\n"),
                Question::Status => status(&value),
                Question::Top => top(&value),
                Question::Slo => slo(&value),
                Question::Tail => finished(&value),
                Question::Reload => String::new(),
            };
            let clear = if question == Question::Top && terminal && !args.json && !first { "\x1b[H\x1b[J" } else { "" };
            if show(clear, &text).is_err() {
                return Ok(());
            }
            first = false;
        }
        if question != Question::Top || !terminal || args.json {
            return Ok(());
        }
        tokio::time::sleep(REFRESH).await;
    }
}

/// Prints text, line by line escaped.
pub(crate) fn show(before: &str, text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    write!(stdout, "{before}")?;
    for line in text.lines() {
        writeln!(stdout, "{}", wire::escape::line(line))?;
    }
    stdout.flush()
}

pub(crate) async fn find(pid: Option<u32>) -> Result<PathBuf, Failure> {
    let all = sockets().map_err(|error| Failure::usage(format!("no gateway was found: {error}"), "start one"))?;
    let mut alive = Vec::new();
    for (process, path) in all {
        if connect_local(&path).await.is_ok() {
            alive.push((process, path));
        } else {
            // Its process was killed.
            remove(&path);
        }
    }
    let pids = || alive.iter().map(|(process, _)| process.to_string()).collect::<Vec<_>>().join(", ");
    match (pid, alive.as_slice()) {
        (None, [(_, path)]) => Ok(path.clone()),
        (None, []) => Err(Failure::usage("no gateway of this user runs".to_owned(), "start one with `proof gateway`")),
        (None, _) => Err(Failure::usage(format!("several gateways run: {}", pids()), "name one with --pid")),
        (Some(pid), _) => match alive.iter().find(|(process, _)| *process == pid) {
            Some((_, path)) => Ok(path.clone()),
            None => Err(Failure::usage(format!("no gateway runs as process {pid}"), &format!("one of: {}", pids()))),
        },
    }
}

pub(crate) async fn ask(socket: &Path, word: &str) -> Result<Lines<BufReader<UnixStream>>, Failure> {
    let asked = async {
        let mut stream = connect_local(socket).await?;
        stream.write_all(format!("{word}\n").as_bytes()).await?;
        Ok::<_, std::io::Error>(BufReader::new(stream).lines())
    };
    asked.await.map_err(|error| Failure::usage(format!("the gateway does not answer: {error}"), "is it still running?"))
}

pub(crate) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn number(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_default()
}

/// Columns as wide as their widest cell; the last one is not padded.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let number = cell.chars().next().is_some_and(|c| c.is_ascii_digit()) && column + 1 < row.len();
            let room = widths[column].saturating_sub(cell.chars().count());
            let pad = " ".repeat(room);
            let (left, right) = if number { (pad.as_str(), cell.as_str()) } else { (cell.as_str(), pad.as_str()) };
            line.extend([left, right, "  "]);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn budget_line(budgets: &Value) -> String {
    let exceeded = budgets["exceeded_total"].as_object().into_iter().flatten();
    let cut_off: u64 = exceeded.filter_map(|(_, count)| count.as_u64()).sum();
    let (refused, late) = (number(budgets, "refused_total"), number(budgets, "orphaned_responses_total"));
    format!(
        "\nbudgets: {refused} calls refused, {cut_off} cut off, {late} orphaned responses (orphaned_responses_total)\n"
    )
}

fn status(value: &Value) -> String {
    let minutes = number(value, "uptime_s") / 60;
    let mut out = format!(
        "proof-gateway {}, process {}, up {} h {} min, {}\n\n",
        text(value, "version"),
        number(value, "process"),
        minutes / 60,
        minutes % 60,
        text(value, "at")
    );
    let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
    let mut rows = vec![row(&["upstream", "state", "revision", "connections", "open", "server"])];
    let mut failures = String::new();
    for upstream in value.get("upstreams").and_then(Value::as_array).into_iter().flatten() {
        let server = upstream.get("server").unwrap_or(&Value::Null);
        let name = text(upstream, "name");
        rows.push(row(&[
            name,
            text(upstream, "state"),
            upstream.get("revision").and_then(Value::as_str).unwrap_or("-"),
            &number(upstream, "connections").to_string(),
            &number(upstream, "open_requests").to_string(),
            &format!("{} {}", text(server, "name"), text(server, "version")),
        ]));
        if let Some(failure) = upstream.get("failure").filter(|failure| !failure.is_null()) {
            let (what, again) = (text(failure, "what"), number(failure, "next_try_s"));
            failures.extend([name, ": ", what, " (next try in ", &again.to_string(), " s)\n"]);
        }
    }
    out.push_str(&table(&rows));
    let mut rows = vec![row(&["server", "path", "sessions", "subscriptions", "upstreams"])];
    for server in value.get("servers").and_then(Value::as_array).into_iter().flatten() {
        let upstreams: Vec<_> =
            server["upstreams"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        rows.push(row(&[
            text(server, "name"),
            text(server, "path"),
            &number(server, "sessions").to_string(),
            &number(server, "subscriptions").to_string(),
            &upstreams.join(", "),
        ]));
    }
    out.push('\n');
    out.push_str(&table(&rows));
    if let Some(budgets) = value.get("budgets") {
        out.push_str(&budget_line(budgets));
    }
    if let Some(traffic) = value.get("traffic") {
        out.push_str(&traffic_lines(traffic));
    }
    if let Some(lock) = value.get("lock") {
        out.push_str(&lock_lines(lock));
    }
    if !failures.is_empty() {
        out.push('\n');
        out.push_str(&failures);
    }
    out
}

/// What was refused and sent again, and the breakers that saw failures.
fn traffic_lines(traffic: &Value) -> String {
    let refused = |reason: &str| number(&traffic["refused_total"], reason);
    let mut out = format!(
        "\ntraffic: {} over a rate, {} over a cost, {} without a place, {} at an open breaker, {} sent again\n",
        refused("rate"),
        refused("cost"),
        refused("concurrency"),
        refused("breaker"),
        number(traffic, "retries_total"),
    );
    for one in traffic["places"].as_array().into_iter().flatten() {
        let (running, waiting) = (number(one, "running"), number(one, "waiting"));
        let _ = writeln!(out, "places of {}: {running} taken, {waiting} requests wait", text(one, "upstream"));
    }
    for one in traffic["breakers"].as_array().into_iter().flatten() {
        let tool = one["tool"].as_str().map(|tool| format!(", tool {}", wire::escape::line(tool))).unwrap_or_default();
        let again = one["again_ms"].as_u64().map(|ms| format!(", tries again in {} s", ms.div_ceil(1000)));
        let (failures, of) = (number(one, "failures"), number(one, "of"));
        // One that is open waits for nothing but its time.
        let then = again.unwrap_or_else(|| format!(", {failures} of {of} failed"));
        let _ = writeln!(out, "breaker of {}{tool}: {}{then}", text(one, "upstream"), text(one, "state"));
    }
    out
}

fn millis(micros: u64) -> String {
    format!("{:.1} ms", micros as f64 / 1000.0)
}

fn top(value: &Value) -> String {
    let head = ["upstream", "requests", "errors", "mean", "p50", "p95", "p99", "request"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for target in value.as_array().into_iter().flatten().take(40) {
        rows.push(vec![
            text(target, "upstream").to_owned(),
            number(target, "requests").to_string(),
            number(target, "errors").to_string(),
            millis(number(target, "mean_micros")),
            millis(number(target, "p50_micros")),
            millis(number(target, "p95_micros")),
            millis(number(target, "p99_micros")),
            format!("{} {}", text(target, "method"), text(target, "name")),
        ]);
    }
    table(&rows)
}

fn finished(value: &Value) -> String {
    if let Some(missed) = value.get("missed").and_then(Value::as_u64) {
        return format!("({missed} requests were not shown: this terminal is slower than the gateway)\n");
    }
    let at = value.get("time").and_then(Value::as_f64).unwrap_or_default();
    let time = rfc3339(Duration::from_secs_f64(at.max(0.0)));
    let outcome = match value.get("error").and_then(Value::as_i64) {
        Some(code) => format!("error {code}"),
        None => "ok".to_owned(),
    };
    let took = millis(number(value, "micros"));
    format!(
        "{}  {}  {} {}  {took}  {outcome}\n",
        time.get(11..23).unwrap_or(&time),
        text(value, "upstream"),
        text(value, "method"),
        text(value, "name"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{finished, status, top};

    #[test]
    fn a_status_shows_breakers_and_places() {
        let value = json!({ "traffic": {
            "refused_total": { "rate": 4, "cost": 3, "concurrency": 2, "breaker": 1 }, "retries_total": 5,
            "places": [{ "upstream": "docs", "running": 8, "waiting": 2 }],
            "breakers": [
                { "upstream": "docs", "tool": null, "state": "open", "failures": 0, "of": 0, "again_ms": 1200 },
                { "upstream": "docs", "tool": "x\u{1b}", "state": "closed", "failures": 2, "of": 9 },
            ],
        } });
        let expected = "
traffic: 4 over a rate, 3 over a cost, 2 without a place, 1 at an open breaker, 5 sent again
places of docs: 8 taken, 2 requests wait
breaker of docs: open, tries again in 2 s
breaker of docs, tool x\\u{1b}: closed, 2 of 9 failed
";
        let shown = status(&value);
        assert!(shown.ends_with(expected), "{shown}");
    }

    #[test]
    fn a_status_fits_a_terminal() {
        let value = json!({
            "version": "0.1.0", "process": 7, "uptime_s": 7500, "at": "http://127.0.0.1:3000",
            "upstreams": [
                { "name": "files", "state": "connected", "revision": "2025-11-25", "connections": 2, "open_requests": 0,
                  "server": { "name": "secure-filesystem-server", "version": "0.2.0" } },
                { "name": "docs", "state": "failing", "connections": 0, "open_requests": 0,
                  "failure": { "what": "The server `docs` was not reached: connection refused", "next_try_s": 3 } },
            ],
            "servers": [{ "name": "default", "path": "/mcp", "upstreams": ["files", "docs"], "sessions": 2,
                "subscriptions": 1 }],
        });
        let expected = "\
proof-gateway 0.1.0, process 7, up 2 h 5 min, http://127.0.0.1:3000

upstream  state      revision    connections  open  server
files     connected  2025-11-25            2     0  secure-filesystem-server 0.2.0
docs      failing    -                     0     0

server   path  sessions  subscriptions  upstreams
default  /mcp         2              1  files, docs

docs: The server `docs` was not reached: connection refused (next try in 3 s)
";
        assert_eq!(status(&value), expected);
    }

    #[test]
    fn requests_are_lines() {
        let line = json!({ "time": 0.5, "upstream": "a", "method": "tools/call", "name": "x", "micros": 1500 });
        assert_eq!(finished(&line), "00:00:00.500  a  tools/call x  1.5 ms  ok\n");
        let counts = json!([{ "upstream": "a", "method": "tools/call", "name": "x", "requests": 12, "errors": 1,
            "mean_micros": 900, "p50_micros": 1000, "p95_micros": 1400, "p99_micros": 2000 }]);
        assert!(
            top(&counts).ends_with("a               12       1  0.9 ms  1.0 ms  1.4 ms  2.0 ms  tools/call x\n"),
            "{}",
            top(&counts)
        );
    }
}

//! What `bench serve` measured against what is expected, as a table. Knows the names in the yardstick's output.

use std::fmt::Write as _;

use anyhow::Context as _;
use serde_json::Value;

use super::idle::Memory;

/// The least server: the baseline.
pub(super) const LIMIT: &str = "limit";
/// `proof serve` at 2026-07-28, plain JSON answers.
pub(super) const MODERN: &str = "2026-07-28";
/// `proof serve` at 2025-11-25, in a session.
pub(super) const SESSION: &str = "2025-11-25";

/// One line of the table.
struct Row {
    what: String,
    figure: f64,
    unit: &'static str,
    expected: f64,
    note: String,
}

/// The table: `http` by server and size, `least` and `ours` over stdio.
pub(super) fn table(http: &Value, least: &Value, ours: &Value) -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for (server, size, expected) in
        [(MODERN, "small", 1.8), (MODERN, "64K", 1.4), (SESSION, "small", 2.2), (SESSION, "64K", 1.5)]
    {
        rows.push(over_http(http, server, size, expected)?);
    }
    let floor = number(least, "small_pipe_cpu")?;
    rows.push(plain("stdio, small, pipelined", ours, "small_pipe_cpu", "µs", 4.0, &format!("limit {floor:.1} µs"))?);
    let (floor, best) = (number(least, "startup_ms")?, number(ours, "startup_min")?);
    rows.push(plain(
        "start to first answer, stdio",
        ours,
        "startup_ms",
        "ms",
        4.0,
        &format!("limit {floor:.1} ms, best start {best:.1}"),
    )?);
    Ok(render("CPU per request, medians", &rows))
}

/// The most anonymous memory, in MiB, that an idle server should hold.
const IDLE: f64 = 2.0;

/// The second table: what an idle server holds. File-backed memory is the kernel's to share and to drop, so no limit is set.
pub(super) fn memory(stdio: Memory, http: Memory) -> String {
    let row = |what: &str, memory: Memory| Row {
        what: format!("{what}, anonymous"),
        figure: memory.anonymous,
        unit: "MiB",
        expected: IDLE,
        note: format!("and {:.1} MiB file-backed", memory.file),
    };
    render("Idle memory after one answer", &[row("stdio", stdio), row("HTTP", http)])
}

fn over_http(http: &Value, server: &str, size: &str, expected: f64) -> anyhow::Result<Row> {
    let measured = entry(http, server, size)?;
    let (ours, least) = (number(measured, "cpu_us")?, number(entry(http, LIMIT, size)?, "cpu_us")?);
    let errors = number(measured, "errors")?;
    let mut note = format!("{ours:.1} µs, limit {least:.1} µs");
    if errors > 0.0 {
        let _ = write!(note, ", {errors} errors");
    }
    let what = format!("HTTP, {server}, {size}");
    Ok(Row { what, figure: number(measured, "ratio")?, unit: "× limit", expected, note })
}

fn plain(what: &str, from: &Value, name: &str, unit: &'static str, expected: f64, note: &str) -> anyhow::Result<Row> {
    Ok(Row { what: what.to_owned(), figure: number(from, name)?, unit, expected, note: note.to_owned() })
}

fn entry<'a>(http: &'a Value, server: &str, size: &str) -> anyhow::Result<&'a Value> {
    http.get(format!("{server}/{size}")).with_context(|| format!("http_load.py has no figure for {server}/{size}"))
}

fn number(from: &Value, name: &str) -> anyhow::Result<f64> {
    from.get(name).and_then(Value::as_f64).with_context(|| format!("the yardstick's output has no number `{name}`"))
}

fn render(title: &str, rows: &[Row]) -> String {
    let mut out = format!("{title:<30} {:>8} {:<8} {:>7}\n", "figure", "", "expected");
    for Row { what, figure, unit, expected, note } in rows {
        let met = if figure <= expected { "met" } else { "missed" };
        let line = format!("{what:<30} {figure:>8.2} {unit:<8} ≤ {expected:>5.1}  {met:<6}  {note}");
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{LIMIT, MODERN, Memory, SESSION, memory, table};

    #[test]
    fn each_figure_is_compared_with_its_limit() {
        let one = |cpu: f64, ratio: f64| json!({ "cpu_us": cpu, "ratio": ratio, "errors": 0 });
        let mut http = json!({});
        for (server, small, large) in [(LIMIT, 1.0, 1.0), (MODERN, 1.8, 1.41), (SESSION, 2.0, 1.5)] {
            http[format!("{server}/small")] = one(6.0 * small, small);
            http[format!("{server}/64K")] = one(60.0 * large, large);
        }
        http[format!("{SESSION}/64K")]["errors"] = json!(3);
        let stdio = json!({ "small_pipe_cpu": 4.1, "startup_ms": 2.0, "startup_min": 1.9 });
        let table = table(&http, &stdio, &stdio).unwrap();
        let verdicts: Vec<_> = table.lines().skip(1).map(|line| !line.contains("missed")).collect();
        assert_eq!(verdicts, [true, false, true, true, false, true], "{table}");
        assert!(table.contains("3 errors"), "{table}");
    }

    #[test]
    fn anonymous_memory_is_limited_and_file_backed_memory_is_not() {
        let table = memory(Memory { anonymous: 1.9, file: 90.0 }, Memory { anonymous: 2.1, file: 3.0 });
        let verdicts: Vec<_> = table.lines().skip(1).map(|line| !line.contains("missed")).collect();
        assert_eq!(verdicts, [true, false], "{table}");
        assert!(table.contains("and 90.0 MiB file-backed"), "{table}");
    }

    #[test]
    fn a_figure_that_is_not_there_is_an_error() {
        let error = table(&json!({}), &json!({}), &json!({})).unwrap_err().to_string();
        assert!(error.contains("2026-07-28/small"), "{error}");
    }
}

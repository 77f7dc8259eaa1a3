//! A report as data, and its three forms: a page that loads nothing, Markdown, JSON. Must not know what it reports.

use std::fmt::Write as _;

use report::render::escape::{code, xml};
use report::render::text::wrap;
use serde_json::{Value, json};

/// A report.
#[derive(Clone, Debug)]
pub struct Page {
    /// Which of the five.
    pub kind: &'static str,
    /// Its heading.
    pub title: String,
    /// Its first lines.
    pub lines: Vec<String>,
    /// Its tables.
    pub tables: Vec<Table>,
}

/// A table with its heading.
#[derive(Clone, Debug)]
pub struct Table {
    /// The heading.
    pub title: String,
    /// The columns.
    pub columns: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

/// The columns that name what a row is about.
const HEADS: [&str; 8] = ["server", "stage", "outcome", "gate", "rule", "area", "box", "answer"];

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#1f2328;background:#fff}\
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}\
table{border-collapse:collapse;width:100%}th,td{border:1px solid #d0d7de;padding:.25rem .5rem;text-align:left;vertical-align:top;max-width:26rem;overflow-wrap:break-word}th,td:nth-child(-n+2){white-space:nowrap}\
th{background:#f6f8fa;position:sticky;top:0}.fail,.incomplete{color:#b62324;font-weight:600}.pass{color:#1a7f37}\
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th{background:#161b22}th,td{border-color:#30363d}\
.fail,.incomplete{color:#ff7b72}.pass{color:#56d364}}@media print{th{position:static}tr{break-inside:avoid}}";

impl Page {
    /// A page that loads nothing and runs nothing.
    pub fn html(&self) -> String {
        let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n");
        let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
        let _ = writeln!(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">");
        let _ = writeln!(
            out,
            "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>",
            xml(&self.title)
        );
        let _ = writeln!(out, "<style>{STYLE}</style>\n<h1>{}</h1>", xml(&self.title));
        for line in &self.lines {
            let _ = writeln!(out, "<p>{}</p>", xml(line));
        }
        for table in &self.tables {
            let _ = writeln!(out, "<h2>{}</h2>\n<table>\n<thead><tr>", xml(&table.title));
            let heads = table.columns.iter().map(|column| format!("<th scope=\"col\">{}</th>", xml(column)));
            let _ = writeln!(out, "{}</tr></thead>\n<tbody>", heads.collect::<String>());
            for row in &table.rows {
                let cells = row.iter().map(|cell| match cell.as_str() {
                    class @ ("pass" | "fail" | "incomplete") => format!("<td class=\"{class}\">{class}</td>"),
                    cell => format!("<td>{}</td>", xml(cell)),
                });
                let _ = writeln!(out, "<tr>{}</tr>", cells.collect::<String>());
            }
            out.push_str("</tbody>\n</table>\n");
        }
        out.push_str("</html>\n");
        out
    }

    /// For a terminal: a line for each row, and below it a line for each of its further columns.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for line in std::iter::once(&self.title).chain(&self.lines) {
            wrap(&mut out, 0, &wire::escape::line(line));
        }
        for table in &self.tables {
            let _ = write!(out, "\n{}\n", wire::escape::line(&table.title));
            for row in &table.rows {
                let cells = table.columns.iter().zip(row).filter(|(_, cell)| !cell.is_empty());
                let (heads, rest): (Vec<_>, Vec<_>) = cells.partition(|(column, _)| HEADS.contains(*column));
                let head: Vec<&str> = heads.iter().map(|(_, cell)| cell.as_str()).collect();
                wrap(&mut out, 2, &wire::escape::line(&head.join("  ")));
                let rest: Vec<String> = rest.iter().map(|(column, cell)| format!("{column}: {cell}")).collect();
                for line in rest {
                    wrap(&mut out, 4, &wire::escape::line(&line));
                }
            }
        }
        out
    }

    /// As Markdown; texts of servers are code, so they make no links.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n", wire::escape::line(&self.title));
        for line in &self.lines {
            let _ = write!(out, "\n{}\n", wire::escape::line(line));
        }
        for table in &self.tables {
            let _ = write!(out, "\n## {}\n\n| {} |\n", wire::escape::line(&table.title), table.columns.join(" | "));
            let _ = writeln!(out, "|{}", "---|".repeat(table.columns.len()));
            for row in &table.rows {
                let cells: Vec<String> = row.iter().map(|cell| markdown_cell(cell)).collect();
                let _ = writeln!(out, "| {} |", cells.join(" | "));
            }
        }
        out
    }

    /// One document: `proof.fleet-report/1`.
    pub fn json(&self) -> Value {
        let tables = self.tables.iter().map(|table| {
            let row = |row: &Vec<String>| {
                let members = table.columns.iter().zip(row).map(|(column, cell)| ((*column).to_owned(), json!(cell)));
                Value::Object(members.collect())
            };
            json!({ "title": table.title, "rows": table.rows.iter().map(row).collect::<Vec<_>>() })
        });
        json!({
            "schema": "proof.fleet-report/1", "kind": self.kind, "title": self.title, "lines": self.lines,
            "tables": tables.collect::<Vec<_>>(),
        })
    }
}

fn markdown_cell(cell: &str) -> String {
    // GitHub makes links of addresses, also of those without a scheme.
    let is_link = cell.contains("://") || cell.to_ascii_lowercase().contains("www.");
    let is_plain = !is_link && cell.chars().all(|c| c.is_ascii_alphanumeric() || " .,%-:/".contains(c));
    if is_plain { cell.to_owned() } else { code(&wire::escape::line(cell)).replace('|', "\\|") }
}

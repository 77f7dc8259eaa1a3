//! What a comparison came to, and how it is shown: for a terminal, for programs, as a page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use report::render::escape::xml as html;
use serde_json::{Value, json};
use wire::escape::line;

use super::compare::Comparison;

/// The page that has the rows of what is lost.
const ROWS: &str = "https://github.com/proofhouse/proofhouse/blob/main/docs/gateway-translation.md";

/// What was compared at one address, revision and transport.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The address of the gateway: `/mcp`.
    pub(super) path: String,
    /// The server behind it.
    pub(super) upstream: String,
    /// The revision that the server speaks with the gateway.
    pub(super) native: String,
    /// The client's revision and transport.
    pub(super) client: String,
    /// Whether the server itself speaks the client's revision: then its own answers are what is expected.
    pub(super) is_oracle: bool,
    /// Each behaviour, and how it compares.
    pub(super) compared: Vec<(String, Comparison)>,
}

/// Rules that break through the gateway, and not directly.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) upstream: String,
    /// How many rules were judged through the gateway.
    pub(super) rules: usize,
    /// Rule, revision and message of each new finding.
    pub(super) new: Vec<(String, String, String)>,
}

/// The whole outcome.
#[derive(Clone, Debug, Default)]
pub(super) struct Certificate {
    pub(super) parts: Vec<Part>,
    pub(super) judged: Vec<Judged>,
    /// Servers, addresses or clients that could not be compared, and why.
    pub(super) not_compared: Vec<String>,
    /// Tools that were not called because they may change something.
    pub(super) left_out: usize,
}

/// How many there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    identical: usize,
    varies: usize,
    edited: usize,
    lost: usize,
    newer: usize,
    different: usize,
}

impl Counts {
    fn of<'a>(compared: impl IntoIterator<Item = &'a (String, Comparison)>) -> Self {
        let mut counts = Self::default();
        for (_, comparison) in compared {
            *match comparison {
                Comparison::Identical => &mut counts.identical,
                Comparison::Varies => &mut counts.varies,
                Comparison::Edited => &mut counts.edited,
                Comparison::Lost(_) => &mut counts.lost,
                Comparison::Revision => &mut counts.newer,
                Comparison::Different(_) => &mut counts.different,
            } += 1;
        }
        counts
    }

    fn cells(self) -> [usize; 6] {
        [self.identical, self.varies, self.edited, self.lost, self.newer, self.different]
    }
}

const HEAD: [&str; 6] = ["identical", "varies", "edited", "lost", "newer", "different"];

impl Certificate {
    fn counts(&self) -> Counts {
        Counts::of(self.parts.iter().flat_map(|part| &part.compared))
    }

    /// Whether everything was compared and nothing is different without a reason.
    pub(super) fn is_clean(&self) -> bool {
        self.counts().different == 0
            && !self.parts.is_empty()
            && self.not_compared.is_empty()
            && self.judged.iter().all(|judged| judged.new.is_empty())
    }

    fn rows(&self) -> BTreeMap<String, usize> {
        let mut rows = BTreeMap::new();
        for (_, comparison) in self.parts.iter().flat_map(|part| &part.compared) {
            if let Comparison::Lost(lost) = comparison {
                for row in lost {
                    *rows.entry(row.clone()).or_default() += 1;
                }
            }
        }
        rows
    }

    fn differences(&self) -> impl Iterator<Item = (&Part, &str, &str)> {
        self.parts.iter().flat_map(|part| {
            part.compared.iter().filter_map(move |(what, comparison)| match comparison {
                Comparison::Different(how) => Some((part, what.as_str(), how.as_str())),
                _ => None,
            })
        })
    }

    /// The line that sums it up.
    pub(super) fn conclusion(&self) -> String {
        let counts = self.counts();
        let total: usize = counts.cells().iter().sum();
        let new: usize = self.judged.iter().map(|judged| judged.new.len()).sum();
        let mut text = format!(
            "{} of {total} behaviours identical, {} vary by themselves, {} edited by the configuration, {} lost between \
             revisions, {} newer than the client, {} different",
            counts.identical, counts.varies, counts.edited, counts.lost, counts.newer, counts.different
        );
        if !self.judged.is_empty() {
            let _ = write!(text, "; {new} new findings of `proof check`");
        }
        if !self.not_compared.is_empty() {
            let _ = write!(text, "; {} not compared", self.not_compared.len());
        }
        text
    }

    /// For a terminal.
    pub(super) fn human(&self) -> String {
        let mut out = String::new();
        let mut alike: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for (part, what, how) in self.differences() {
            alike.entry((part.upstream.as_str(), what, how)).or_default().push(&part.client);
        }
        for ((upstream, what, how), clients) in alike {
            let more = if clients.len() > 2 { format!(" and {} more", clients.len() - 2) } else { String::new() };
            let clients = clients.iter().take(2).copied().collect::<Vec<_>>().join(", ");
            let _ = writeln!(out, "DIFFERENT  {}  {}", line(upstream), line(what));
            let _ = writeln!(out, "           client {clients}{more}");
            let _ = writeln!(out, "           {}\n", line(how));
        }
        for judged in &self.judged {
            for (rule, revision, message) in &judged.new {
                let _ = writeln!(out, "NEW        {rule}  {revision}  {}", line(&judged.upstream));
                let _ = writeln!(out, "           {}\n", line(message));
            }
        }
        for what in &self.not_compared {
            let _ = writeln!(out, "NOT COMPARED  {}\n", line(what));
        }
        let names = |part: &Part| format!("{} at {}", line(&part.upstream), part.path);
        let (first, second) = self.parts.iter().fold((6, 6), |(first, second), part| {
            (first.max(names(part).chars().count()), second.max(part.client.chars().count()))
        });
        let _ = writeln!(
            out,
            "{:first$}  {:second$}  {:>9}  {:>6}  {:>6}  {:>4}  {:>5}  {:>9}",
            "server", "client", HEAD[0], HEAD[1], HEAD[2], HEAD[3], HEAD[4], HEAD[5]
        );
        for part in &self.parts {
            let [identical, varies, edited, lost, newer, different] = Counts::of(&part.compared).cells();
            let _ = writeln!(
                out,
                "{:first$}  {:second$}  {identical:>9}  {varies:>6}  {edited:>6}  {lost:>4}  {newer:>5}  {different:>9}",
                names(part),
                part.client
            );
        }
        let rows = self.rows();
        if !rows.is_empty() {
            let rows: Vec<_> = rows.iter().map(|(row, count)| format!("{row} ({count})")).collect();
            let _ = writeln!(out, "\nLost by row of {ROWS}:\n{}", rows.join(", "));
        }
        if self.left_out > 0 {
            let _ = writeln!(
                out,
                "\n{} tools were not called: they are not annotated as read-only (--allow-tool)",
                self.left_out
            );
        }
        let _ = writeln!(out, "\n{}", self.conclusion());
        out
    }

    /// For programs.
    pub(super) fn json(&self) -> String {
        let parts: Vec<_> = self
            .parts
            .iter()
            .map(|part| {
                let compared: Vec<_> = part.compared.iter().map(|(what, how)| behaviour(what, how)).collect();
                json!({ "path": part.path, "upstream": part.upstream, "native": part.native, "client": part.client,
                    "expected": if part.is_oracle { "the server's own answers" } else { "translated" },
                    "behaviours": compared })
            })
            .collect();
        let judged: Vec<_> =
            self.judged
                .iter()
                .map(|judged| {
                    let new = judged.new.iter().map(
                        |(rule, revision, message)| json!({ "rule": rule, "revision": revision, "message": message }),
                    );
                    json!({ "upstream": judged.upstream, "judged": judged.rules, "new": new.collect::<Vec<_>>() })
                })
                .collect();
        let [identical, varies, edited, lost, newer, different] = self.counts().cells();
        let value = json!({
            "schema": "proof.certificate/1", "proof": env!("CARGO_PKG_VERSION"), "clean": self.is_clean(),
            "summary": { "identical": identical, "varies": varies, "edited": edited, "lost": lost,
                "newer": newer, "different": different,
                "rows": self.rows() },
            "parts": parts, "checks": judged, "not_compared": self.not_compared, "tools_not_called": self.left_out,
        });
        format!("{value:#}\n")
    }

    /// A page that loads nothing.
    pub(super) fn html(&self) -> String {
        let mut rows = String::new();
        for part in &self.parts {
            let cells = Counts::of(&part.compared).cells();
            let numbers: String = joined(cells.iter().map(|cell| format!("<td class=n>{cell}</td>")));
            let class = if cells[5] > 0 { " class=bad" } else { "" };
            let _ = writeln!(
                rows,
                "<tr{class}><td>{} at {}</td><td>{}</td><td>{}</td>{numbers}</tr>",
                html(&part.upstream),
                html(&part.path),
                html(&part.native),
                html(&part.client)
            );
        }
        let mut details = String::new();
        for (part, what, how) in self.differences() {
            let (upstream, client) = (html(&part.upstream), html(&part.client));
            let _ = writeln!(details, "<dt>{upstream}, {client}: {}</dt><dd>{}</dd>", html(what), html(how));
        }
        for judged in &self.judged {
            for (rule, revision, message) in &judged.new {
                let _ = writeln!(
                    details,
                    "<dt>{}: new finding {} at {}</dt><dd>{}</dd>",
                    html(&judged.upstream),
                    html(rule),
                    html(revision),
                    html(message)
                );
            }
        }
        for what in &self.not_compared {
            let _ = writeln!(details, "<dt>Not compared</dt><dd>{}</dd>", html(what));
        }
        if details.is_empty() {
            details.push_str("<dt>None</dt>");
        }
        let lost: String = joined(self.rows().iter().map(|(row, n)| format!("<li>row {}: {n}</li>", html(row))));
        let head: String = joined(HEAD.iter().map(|name| format!("<th>{name}</th>")));
        let verdict = if self.is_clean() { "Nothing different" } else { "Differences" };
        format!(
            "<!doctype html>\n<html lang=en><meta charset=utf-8>\n\
             <meta name=viewport content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=content-security-policy content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>Gateway certificate: {verdict}</title>\n<style>\n\
             :root {{ color-scheme: light dark }}\n\
             body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}\n\
             .t {{ overflow-x: auto }} table {{ border-collapse: collapse; width: 100% }}\n\
             th, td {{ text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8886 }}\n\
             .n {{ text-align: right; font-variant-numeric: tabular-nums }} .bad td:last-child {{ font-weight: bold }}\n\
             dt {{ font-weight: 600; margin-top: .8rem }} dd {{ margin-left: 1rem; overflow-wrap: anywhere }}\n\
             </style>\n<h1>{verdict}</h1>\n<p>{}.</p>\n<div class=t><table>\n\
             <tr><th>server</th><th>speaks</th><th>client</th>{head}</tr>\n{rows}</table></div>\n\
             <h2>Different without a known reason</h2>\n<dl>\n{details}</dl>\n\
             <h2>Lost, by row of the translation table</h2>\n<ul>{}</ul>\n<p>proof {}</p>\n</html>\n",
            html(&self.conclusion()),
            if lost.is_empty() { "<li>nothing</li>".to_owned() } else { lost },
            env!("CARGO_PKG_VERSION"),
        )
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().concat()
}

fn behaviour(what: &str, comparison: &Comparison) -> Value {
    match comparison {
        Comparison::Identical => json!({ "what": what, "outcome": "identical" }),
        Comparison::Varies => json!({ "what": what, "outcome": "varies" }),
        Comparison::Edited => json!({ "what": what, "outcome": "edited" }),
        Comparison::Revision => json!({ "what": what, "outcome": "newer" }),
        Comparison::Lost(rows) => json!({ "what": what, "outcome": "lost", "rows": rows }),
        Comparison::Different(how) => json!({ "what": what, "outcome": "different", "how": how }),
    }
}

#[cfg(test)]
mod tests {
    use super::{Certificate, Comparison, Part};

    fn certificate(last: Comparison) -> Certificate {
        let compared = vec![("tools/call echo".to_owned(), Comparison::Identical), ("tools/call <b>".to_owned(), last)];
        let part = Part {
            path: "/mcp".to_owned(),
            upstream: "files".to_owned(),
            native: "2025-11-25".to_owned(),
            client: "2026-07-28 over http".to_owned(),
            is_oracle: false,
            compared,
        };
        Certificate { parts: vec![part], ..Certificate::default() }
    }

    #[test]
    fn nothing_compared_is_no_proof() {
        assert!(!Certificate::default().is_clean());
        assert!(certificate(Comparison::Lost(vec!["35".to_owned()])).is_clean());
        assert!(!certificate(Comparison::Different("x".to_owned())).is_clean());
        let missing = Certificate { not_compared: vec!["x".to_owned()], ..certificate(Comparison::Identical) };
        assert!(!missing.is_clean());
    }

    #[test]
    fn a_terminal_sees_counts_and_reasons() {
        let text = certificate(Comparison::Different("/a: expected 1, got 2".to_owned())).human();
        let expected = "\
DIFFERENT  files  tools/call <b>
           client 2026-07-28 over http
           /a: expected 1, got 2

server         client                identical  varies  edited  lost  newer  different
files at /mcp  2026-07-28 over http          1       0       0     0      0          1

1 of 2 behaviours identical, 0 vary by themselves, 0 edited by the configuration, 0 lost between revisions, \
0 newer than the client, 1 different
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_page_escapes_what_servers_say() {
        let page = certificate(Comparison::Different("<script>".to_owned())).html();
        assert!(!page.contains("<script>") && page.contains("&lt;script&gt;") && !page.contains("<b>"), "{page}");
    }
}

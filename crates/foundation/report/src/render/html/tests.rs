//! The page as a reader of its source sees it: what it may load, what a peer can put into it, and what it says.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};
use wire::revision::{R2025_06_18, R2025_11_25};
use wire::{Level, Revision, Transport};

use super::{SCRIPT, STYLE, render};
use crate::baseline::{Baseline, Known};
use crate::samples::{index, rule};
use crate::{
    Evidence, FORMAT, FailOn, Finding, Made, Outcome, Report, ReportView, RuleIndex, Run, Sent, Subject, Summary,
};

/// What a hostile peer would like to get into a page, wherever it may speak.
const HOSTILE: &str = "</script></style><script>alert(1)</script><img src=x onerror=alert(1)>\" ' & &lt; `\u{202e}\u{1b}[31m\u{7}\u{200b}\u{feff}\r\n<!-- ]]>";

fn finding(rule: &'static str, level: Level, revision: Revision, outcome: Outcome, said: &str) -> Finding {
    let broken = matches!(outcome, Outcome::Fail | Outcome::Warn);
    let excerpt = format!("{{\"name\":\"{}\"}}", wire::escape::line(said));
    let sent = Some(Sent {
        event: 6,
        answered: true,
        text: said.to_owned(),
        curl: Some(said.to_owned()),
        curl_session: Vec::new(),
    });
    let evidence = Evidence {
        case: said.to_owned(),
        event: 7,
        from: "server",
        pointer: format!("/{said}"),
        excerpt,
        caret: Some(8..10),
        message: broken.then(|| format!("it said {said}")),
        method: Some(said.to_owned()),
        sent: sent.filter(|_| broken),
        times: 1,
        ..Evidence::default()
    };
    Finding {
        rule,
        level,
        revision,
        transport: Transport::Stdio,
        outcome,
        message: format!("it said {said}"),
        url: format!("https://modelcontextprotocol.io/specification/{revision}/server/tools#{said}"),
        evidence: if broken || outcome == Outcome::Pass { vec![evidence] } else { Vec::new() },
        more_defects: false,
        consequence_of: None,
        repro: broken.then(|| format!("proof check --only {rule} -- {said}")),
    }
}

fn run(revision: Revision) -> Run {
    Run { transport: Transport::Stdio, revision, probes: 3, elapsed_ms: 1250, cut_short: None, scenarios: Vec::new() }
}

fn report(results: Vec<Finding>) -> Report {
    Report {
        schema: FORMAT,
        proof: "0.0.0",
        made: Some(Made { at: "2026-01-02T03:04:05Z".to_owned(), command: "proof check -- x".to_owned() }),
        subject: Subject {
            kind: "server",
            target: "-- a-server".to_owned(),
            name: Some("A".to_owned()),
            version: None,
        },
        runs: vec![run(R2025_06_18), run(R2025_11_25)],
        summary: Summary::of(&results),
        results,
        also_served: Vec::new(),
        tools_not_called: Vec::new(),
        tools_called_by_name: Vec::new(),
        tools_unknown: Vec::new(),
        unconfirmed: Vec::new(),
        traces: None,
        elapsed_ms: None,
    }
}

/// One finding of every outcome, a peer's words in all that it may say.
fn every_outcome(said: &str) -> Report {
    let mut report = report(vec![
        finding("shape.results", Level::Must, R2025_06_18, Outcome::Fail, said),
        finding("shape.results", Level::Must, R2025_11_25, Outcome::Pass, said),
        finding("tools.names-unique", Level::Should, R2025_11_25, Outcome::Warn, said),
        finding("ping.answered", Level::Must, R2025_11_25, Outcome::NotExercised, said),
        finding("http.accepted-202", Level::Must, R2025_11_25, Outcome::NotApplicable, said),
    ]);
    report.subject = Subject {
        kind: "server",
        target: format!("-- {said}"),
        name: Some(said.to_owned()),
        version: Some(said.to_owned()),
    };
    report.runs[1].cut_short = Some(said.to_owned());
    report
}

fn page(report: &Report) -> String {
    page_with(report, None)
}

fn page_with(report: &Report, baseline: Option<&Baseline>) -> String {
    render(&ReportView::new(report, &index(), baseline, FailOn::Must))
}

/// A baseline that knows a rule in all runs.
fn knowing(report: &Report, rule: &str) -> Baseline {
    let entry = |run: &Run| Known {
        rule: rule.to_owned(),
        revision: run.revision.to_string(),
        transport: run.transport.to_string(),
        defects: Vec::new(),
        places: Vec::new(),
        finding: String::new(),
        reason: "because".to_owned(),
    };
    Baseline { schema: crate::baseline::FORMAT.to_owned(), known: report.runs.iter().map(entry).collect() }
}

/// What stands in an element that occurs once.
fn inside<'p>(page: &'p str, tag: &str) -> &'p str {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    assert_eq!((page.matches(&open).count(), page.matches(&close).count()), (1, 1), "{tag}");
    let start = page.find(&open).expect("it is there") + open.len();
    &page[start..page.find(&close).expect("it ends")]
}

/// The page without its style and script.
fn marked_up(page: &str) -> String {
    page.replace(inside(page, "style"), "").replace(inside(page, "script"), "")
}

/// Every tag of the page, attributes and all, in order.
fn tags(page: &str) -> Vec<String> {
    marked_up(page).split('<').skip(1).map(|rest| rest.split('>').next().unwrap_or_default().to_owned()).collect()
}

/// The values of an attribute.
fn values<'t>(tags: &'t [String], attribute: &str) -> Vec<&'t str> {
    let start = format!(" {attribute}=\"");
    let value = |tag: &'t String| tag.split_once(&start).and_then(|(_, rest)| rest.split('"').next());
    tags.iter().filter_map(value).collect()
}

#[test]
fn the_policy_admits_this_style_and_this_script_and_nothing_else() {
    let page = page(&every_outcome("a word"));
    let hash = |tag| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(inside(&page, tag))));
    let tags = tags(&page);
    let policy = tags.iter().find(|tag| tag.contains("Content-Security-Policy")).expect("a policy");
    let expected = format!(
        "meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; script-src {}; \
         base-uri 'none'; form-action 'none'\"",
        hash("style"),
        hash("script")
    );
    assert_eq!(*policy, expected);
    let before = page.split("Content-Security-Policy").next().expect("a beginning");
    assert!(!before.contains("<style") && !before.contains("<script"), "it comes too late: {before}");
}

#[test]
fn line_ends_of_a_checkout_do_not_change_the_hashes() {
    let policy = super::policy::content_security_policy;
    assert_eq!(policy("a\r\nb", "c\r\nd"), policy("a\nb", "c\nd"));
    assert_eq!(super::policy::asset("a\r\nb"), "a\nb");
}

#[test]
fn nothing_is_loaded_and_nothing_is_inline() {
    let page = page(&every_outcome("a word"));
    let tags = tags(&page);
    for tag in &tags {
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap_or_default();
        let loads = ["link", "img", "iframe", "object", "embed", "base", "video", "audio", "source", "use", "frame"];
        assert!(!loads.contains(&name), "<{tag}>");
        for attribute in [" src=", " srcset=", " style=", " data=", " action=", " background=", " poster=", " ping="] {
            assert!(!tag.contains(attribute), "<{tag}>");
        }
        let handler = tag.split(' ').any(|part| part.starts_with("on") && part.contains('='));
        assert!(!handler, "<{tag}>");
        assert!(!tag.contains("href=") || name == "a", "<{tag}>");
    }
    for link in values(&tags, "href") {
        assert!(link.starts_with('#') || link.starts_with("https://modelcontextprotocol.io/"), "{link}");
    }
    for word in ["url(", "@import", "@font-face", "http:", "https:", "//fonts"] {
        assert!(!STYLE.contains(word), "{word} in the style");
    }
    for word in [
        "fetch(",
        "XMLHttp",
        "import(",
        "import ",
        "WebSocket",
        "EventSource",
        "sendBeacon",
        "Worker",
        "http:",
        "https:",
    ] {
        assert!(!SCRIPT.contains(word), "{word} in the script");
    }
}

#[test]
fn the_script_makes_no_markup_from_text() {
    for word in
        ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "srcdoc", "DOMParser"]
    {
        assert!(!SCRIPT.contains(word), "{word}");
    }
    for text in [SCRIPT, STYLE] {
        assert!(!text.contains("</") && !text.contains("<!--") && !text.contains("<script"));
    }
}

#[test]
fn what_a_peer_sent_is_never_markup() {
    // The same words, of the same lengths and with the same dashes.
    let plain = |c: char| if c.is_ascii_alphanumeric() || " -".contains(c) { c } else { 'x' };
    let words: String = HOSTILE.chars().map(plain).collect();
    let (tame, hostile) = (page(&every_outcome(&words)), page(&every_outcome(HOSTILE)));
    let shape = |page: &str| -> Vec<String> {
        // The address of a sentence is ours; here it has the peer's words in it all the same.
        tags(page).iter().map(|tag| tag.split('#').next().unwrap_or_default().to_owned()).collect()
    };
    let (tame, hostile_tags) = (shape(&tame), shape(&hostile));
    assert_eq!(tame.iter().zip(&hostile_tags).find(|(one, other)| one != other), None);
    assert_eq!(tame.len(), hostile_tags.len());
    let text = marked_up(&hostile);
    let stray = |c: &char| *c != '\n' && wire::escape::character(*c) != c.to_string();
    assert_eq!(text.chars().find(stray), None);
    let shown = "&lt;/script&gt;&lt;/style&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;";
    // In the title, the heading (twice each: name and version), the target, the notice, and what each finding says.
    assert!(text.matches(shown).count() > 12, "{}", text.matches(shown).count());
    assert!(
        text.contains("&amp; &amp;lt; `\\u{202e}\\u{1b}[31m\\u{7}\\u{200b}\\u{feff}\\r\\n&lt;!-- ]]&gt;"),
        "{text}"
    );
}

#[test]
fn a_quote_does_not_end_an_attribute() {
    use super::text::{Quoted, Text};
    assert_eq!(Quoted("a\"b<c>&'\u{202e}").to_string(), "a&quot;b&lt;c&gt;&amp;'\\u{202e}");
    assert_eq!(Text("a\"b<c>&").to_string(), "a\"b&lt;c&gt;&amp;");
}

#[test]
fn no_link_leads_anywhere_but_to_the_web() {
    let mut report = every_outcome("a word");
    report.results[0].url = "javascript:alert(1)".to_owned();
    assert!(!page(&report).contains("javascript:"));
}

#[test]
fn every_id_is_there_once_and_every_reference_leads_to_one() {
    let page = page(&every_outcome("a word"));
    let tags = tags(&page);
    let ids = values(&tags, "id");
    let known: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(known.len(), ids.len(), "{ids:?}");
    let inner = values(&tags, "href").into_iter().filter_map(|link| link.strip_prefix('#'));
    let named = values(&tags, "aria-labelledby").into_iter().chain(values(&tags, "for"));
    for id in inner.chain(named) {
        assert!(known.contains(id), "{id}");
    }
    // What the script looks for by id.
    for id in SCRIPT.split("one(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(known.contains(id), "the script wants {id}");
    }
}

#[test]
fn a_score_is_not_shown_without_its_coverage() {
    let text = page(&every_outcome("a word"));
    assert!(text.contains(
        "<dt>Score</dt><dd class=\"big\">50.0<small> %</small></dd><dd class=\"means\">1 of 2 judged MUST rules passed"
    ));
    assert!(text.contains(
        "<dt>Coverage</dt><dd class=\"big\">66.6<small> %</small></dd><dd class=\"means\">2 of 3 applicable MUST rules judged"
    ));
}

#[test]
fn the_conclusion_stands_at_the_top() {
    let pass = || finding("shape.results", Level::Must, R2025_06_18, Outcome::Pass, "it");
    let fail = finding("shape.results", Level::Must, R2025_06_18, Outcome::Fail, "it");
    let warn = finding("tools.names-unique", Level::Should, R2025_11_25, Outcome::Warn, "it");
    let line = |report: &Report, baseline: Option<&Baseline>| {
        let page = page_with(report, baseline);
        page.lines().find(|line| line.starts_with("<h2 id=\"verdict\"")).expect("a conclusion").to_owned()
    };
    let heading = |class: &str, text: &str| format!("<h2 id=\"verdict\" class=\"verdict {class}\">{text}.</h2>");
    assert_eq!(line(&report(vec![pass()]), None), heading("p", "Passed: no rule is broken"));
    assert_eq!(line(&report(vec![pass(), warn]), None), heading("w", "Passed: 1 warning"));
    assert_eq!(line(&report(vec![fail]), None), heading("f", "Failed: 1 MUST rule broken"));
    let clean = report(vec![pass()]);
    let mut stale = knowing(&clean, "shape.results");
    stale.known.truncate(1);
    assert_eq!(line(&clean, Some(&stale)), heading("f", "Failed: 1 baseline entry is stale"));
    let page = page_with(&clean, Some(&stale));
    assert!(page.contains("<b>Stale baseline entry</b>: shape.results at 2025-06-18 over stdio is "), "{page}");
}

#[test]
fn a_run_that_was_cut_short_says_so_wherever_it_stands() {
    let text = page(&every_outcome("it fell silent"));
    assert!(
        text.contains("<p class=\"notice\"><b>Cut short</b> at <i>stdio 2025-11-25</i>: it fell silent."),
        "{text}"
    );
    assert_eq!(marked_up(&text).to_lowercase().matches("cut short").count(), 3, "the notice, the runs, the matrix");
}

#[test]
fn what_is_known_is_marked() {
    let report = every_outcome("it");
    let text = page_with(&report, Some(&knowing(&report, "shape.results")));
    assert!(text.contains("<article class=\"card f all-known\""), "{text}");
    assert!(text.contains("<td class=\"f k g\">fail, known"));
    assert!(text.contains("data-facet=\"baseline\" data-value=\"known\""));
    let at = |id: &str| text.find(id).expect("a card");
    assert!(at("id=\"w.tools.names-unique\"") < at("id=\"f.shape.results\""), "what is new comes first");
    assert!(!page(&report).contains("data-facet=\"baseline\""));
}

#[test]
fn the_offending_part_is_marked() {
    let mut report = every_outcome("it");
    report.results[0].evidence[0].excerpt = "日本<\"a\">".to_owned();
    report.results[0].evidence[0].caret = Some(2..5);
    assert!(page(&report).contains("<pre class=\"quote\">日本<mark>&lt;\"a</mark>\"&gt;</pre>"));
    report.results[0].evidence[0].caret = Some(5..99);
    assert!(page(&report).contains("日本&lt;\"a<mark>\"&gt;</mark></pre>"));
    report.results[0].evidence[0].caret = Some(9..9);
    assert!(page(&report).contains("<pre class=\"quote\">日本&lt;\"a\"&gt;</pre>"));
}

#[test]
fn a_report_without_findings_says_so() {
    let empty = page(&report(Vec::new()));
    assert!(empty.contains("No rule was judged, so none could be found broken."), "{empty}");
    let clean = page(&report(vec![finding("shape.results", Level::Must, R2025_06_18, Outcome::Pass, "it")]));
    assert!(clean.contains("No rule was found broken in 1 judgement."), "{clean}");
    assert!(clean.contains("Every rule that applies was exercised."), "{clean}");
}

/// As many rows as a report has at least, with rules of usual length.
fn long_report() -> (Report, RuleIndex) {
    let index: RuleIndex =
        (0..300).map(|number| rule(format!("area{}.rule-number-{number}", number / 12).leak())).collect();
    let runs = [Transport::Stdio, Transport::WebSocket].into_iter().flat_map(|transport| {
        [R2025_06_18, R2025_11_25].map(|revision| Run {
            transport,
            revision,
            probes: 40,
            elapsed_ms: 5000,
            cut_short: None,
            scenarios: Vec::new(),
        })
    });
    let runs: Vec<_> = runs.collect();
    let mut results = Vec::new();
    for run in &runs {
        for (at, rule) in index.all().enumerate() {
            let outcome = if at % 3 == 0 { Outcome::NotApplicable } else { Outcome::Pass };
            let said = "a quotation of usual length, with \"quotes\" in it; ".repeat(3);
            let mut one = finding(rule.id, Level::Must, run.revision, outcome, &said);
            one.transport = run.transport;
            results.push(one);
        }
    }
    (Report { runs, ..report(results) }, index)
}

#[test]
fn a_thousand_rows_stay_small() {
    let (report, index) = long_report();
    assert!(report.results.len() > 1000, "{}", report.results.len());
    let size = render(&ReportView::new(&report, &index, None, FailOn::Must)).len();
    assert!(size < 450 * report.results.len(), "{size} bytes for {} rows", report.results.len());
}

/// Tags by name, id and what is said to those who do not see; repetitions counted.
fn skeleton(page: &str) -> String {
    let mut lines: Vec<(String, usize)> = Vec::new();
    let kept = ["id", "role", "scope", "aria-label", "aria-labelledby", "aria-pressed"];
    for tag in tags(page).into_iter().filter(|tag| !tag.starts_with('/') && !tag.starts_with('!')) {
        let mut line = tag.split(' ').next().unwrap_or_default().to_owned();
        for name in kept {
            for value in values(std::slice::from_ref(&tag), name) {
                let _ = write!(line, " {name}={value}");
            }
        }
        match lines.last_mut() {
            Some((last, times)) if *last == line => *times += 1,
            _ => lines.push((line, 1)),
        }
    }
    let line = |(line, times): (String, usize)| if times > 1 { format!("{line} ×{times}\n") } else { line + "\n" };
    lines.into_iter().map(line).collect()
}

#[test]
fn the_skeleton() {
    insta::assert_snapshot!(skeleton(&page(&every_outcome("a word"))));
}

#[test]
fn the_top_of_the_page_counts_the_findings_that_it_leaves_out() {
    let ids = ["a.1", "a.2", "a.3", "a.4", "a.5", "a.6", "a.7", "a.8", "a.9", "a.10"];
    let top = |number: usize| {
        let findings = ids[..number].iter().map(|id| finding(id, Level::Must, R2025_11_25, Outcome::Fail, "a word"));
        page(&report(findings.collect()))
    };
    assert!(top(10).contains("<a href=\"#findings\">2 more findings</a>"));
    assert!(top(9).contains("<a href=\"#findings\">1 more finding</a>"));
    assert!(!top(8).contains("more finding"));
}

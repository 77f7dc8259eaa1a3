//! Every page that the program writes, about peers whose every text is markup: reports of checks and of tests, a badge, and the
//! page on which a person consents.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::markup::{Markup, rotated};
use super::peers::{answers, printable};
use crate::attack::Plan;
use crate::attack::hostile::http::{Seen, Sent, Web};
use crate::attack::issuer::consent_page;
use crate::attack::program::Run;
use crate::attack::target::Target;

/// A page to look at.
pub(super) struct Page {
    pub(super) name: &'static str,
    pub(super) url: String,
    /// What a visitor does there first, as a script.
    pub(super) first: String,
    /// How many of the texts are on it at least.
    pub(super) least: usize,
    /// Who serves it, if it is not a file.
    _server: Option<Arc<Target>>,
}

impl Page {
    fn file(name: &'static str, file: &Path, least: usize) -> Self {
        Self { name, url: format!("file://{}", file.display()), first: String::new(), least, _server: None }
    }
}

/// What a maker of pages needs: where requests of pages are noticed, and which text comes first.
#[derive(Clone, Copy)]
struct Maker<'p> {
    plan: &'p Plan,
    port: u16,
    markup: &'p [Markup],
}

type Make = fn(Maker<'_>) -> anyhow::Result<Vec<Page>>;

/// Makes all pages, side by side.
pub(super) fn all(plan: &Plan, port: u16, markup: &[Markup]) -> anyhow::Result<Vec<Page>> {
    let maker = Maker { plan, port, markup };
    std::thread::scope(|scope| {
        let makers: [Make; 5] = [over_stdio, over_http, of_a_client, of_tests, of_consent];
        let running: Vec<_> = makers.into_iter().map(|make| scope.spawn(move || make(maker))).collect();
        let mut pages = Vec::new();
        for made in running {
            pages.extend(made.join().map_err(|_| anyhow::anyhow!("it panicked"))??);
        }
        Ok(pages)
    })
}

impl Maker<'_> {
    /// The command that plays a peer, `first` of its texts first.
    fn peer(&self, role: &str, first: usize) -> anyhow::Result<Vec<String>> {
        let own = std::env::current_exe()?.display().to_string();
        Ok([
            &own,
            "attack",
            "--play",
            role,
            &self.port.to_string(),
            &repeated(self.plan).to_string(),
            &first.to_string(),
        ]
        .map(str::to_owned)
        .to_vec())
    }

    /// Runs the program with these words and those, and expects `file`.
    fn made(&self, args: &[&str], rest: Vec<String>, file: &Path) -> anyhow::Result<()> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).chain(rest).collect();
        let ended = Run { args, ..Run::new(self.plan, &[], 120) }.go(self.plan)?;
        ended.sound(400)?;
        ensure!(file.exists(), "no {}: {}", file.display(), ended.text().chars().take(500).collect::<String>());
        Ok(())
    }
}

/// How often the huge text repeats itself: every message of a check has it.
pub(super) fn repeated(plan: &Plan) -> usize {
    plan.amount(5000, 1000)
}

/// How many different texts come first, in turns.
fn turns(plan: &Plan) -> usize {
    plan.amount(3, 1)
}

const CHECK: &[&str] =
    &["check", "--revision", "2025-11-25", "--timeout", "1", "--max-time", "8", "--safety", "--format", "html"];

/// Reports of checks over stdio, the report of a trace of the first, and badges of its JSON.
fn over_stdio(maker: Maker<'_>) -> anyhow::Result<Vec<Page>> {
    let (folder, least) = (maker.plan.folder.as_path(), maker.markup.len());
    let mut pages = Vec::new();
    for turn in 0..turns(maker.plan) {
        let (file, json) = (folder.join(format!("stdio-{turn}.html")), folder.join(format!("stdio-{turn}.json")));
        let traces = folder.join(format!("traces-{turn}"));
        let (also, output) = (format!("json={}", json.display()), file.display().to_string());
        let more = ["--output", &output, "--also", &also, "--save-trace", &traces.display().to_string(), "--"];
        let peer = maker.peer("markup", turn * least / turns(maker.plan))?;
        maker.made(&[CHECK, &more].concat(), peer, &file)?;
        pages.push(Page::file("check --format html, over stdio", &file, least));
        if turn > 0 {
            continue;
        }
        pages.push(Page {
            name: "check --format html, with an address full of markup",
            first: addressed(maker.plan, maker.markup)?,
            ..Page::file("", &file, least)
        });
        pages.push(of_trace(maker, &traces)?);
        pages.extend(badges(maker, &json)?);
    }
    Ok(pages)
}

/// Goes to addresses of the page that have markup where a view is kept.
fn addressed(plan: &Plan, markup: &[Markup]) -> anyhow::Result<String> {
    // Each is work for the page; the texts do not change from one run to the next.
    let chosen = short(markup).step_by(plan.amount(1, 4));
    let texts = serde_json::to_string(&chosen.collect::<Vec<_>>())?;
    Ok(format!(
        "(async () => {{
            for (const text of {texts}) for (const names of [['q'], ['rule', 'run', 'at', 'outcome', 'level'], ['']]) {{
                location.hash = names.map((name) => name + (name && '=') + encodeURIComponent(text)).join('&');
                await new Promise((done) => setTimeout(done));
            }}
        }})()"
    ))
}

/// The texts that are not huge.
fn short(markup: &[Markup]) -> impl Iterator<Item = &str> {
    markup.iter().map(|one| one.text.as_str()).filter(|text| text.len() < 1000)
}

/// The report of the longest saved trace.
fn of_trace(maker: Maker<'_>, traces: &Path) -> anyhow::Result<Page> {
    let entries = fs::read_dir(traces).context("no traces")?.filter_map(Result::ok);
    let size = |file: &Path| fs::metadata(file).map_or(0, |found| found.len());
    let trace = entries.map(|entry| entry.path()).max_by_key(|file| size(file)).context("no trace")?;
    let file = maker.plan.folder.join("trace.html");
    let (trace, output) = (trace.display().to_string(), file.display().to_string());
    maker.made(
        &["check", "--safety", "--format", "html", "--output", &output, "--trace", &trace],
        Vec::new(),
        &file,
    )?;
    Ok(Page::file("check --trace --format html", &file, maker.markup.len()))
}

/// A badge is a picture with names of a report: of one that is not ours.
fn badges(maker: Maker<'_>, json: &Path) -> anyhow::Result<Vec<Page>> {
    let report: Value = serde_json::from_slice(&fs::read(json)?)?;
    let mut pages = Vec::new();
    for (number, name) in
        ["<zq01z/>", "\"><zq01z/>", "\" zq01z=\"", "]]><zq01z>", "<a zq01z=''", "&lt;zq01z&gt;"].into_iter().enumerate()
    {
        let mut report = report.clone();
        for finding in report["results"].as_array_mut().into_iter().flatten() {
            finding["revision"] = name.into();
        }
        let (given, file) = (
            maker.plan.folder.join(format!("badge-{number}.json")),
            maker.plan.folder.join(format!("badge-{number}.svg")),
        );
        fs::write(&given, report.to_string())?;
        let given = given.display().to_string();
        let ended = Run::new(maker.plan, &["badge", &given], 20).go(maker.plan)?;
        ended.sound(400)?;
        fs::write(&file, &ended.out)?;
        pages.push(Page::file("badge, with a revision full of markup", &file, 1));
    }
    Ok(pages)
}

/// Reports of checks over HTTP.
fn over_http(maker: Maker<'_>) -> anyhow::Result<Vec<Page>> {
    let mut pages = Vec::new();
    for turn in 0..turns(maker.plan) {
        let texts = rotated(maker.markup, turn * maker.markup.len() / turns(maker.plan));
        let header = printable(&texts[0]);
        let web = Web::start(move |seen: &Seen, _| {
            let message: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
            if seen.path().0 != "POST" {
                return Sent::response(
                    "405 Method Not Allowed",
                    &format!("X-Odd: {header}\r\nAllow: {header}\r\n"),
                    header.as_bytes(),
                );
            }
            let events: Vec<String> =
                answers(&message, &texts).iter().rev().map(|answer| format!("data: {answer}\n\n")).collect();
            let head =
                format!("Content-Type: text/event-stream; {header}\r\nMcp-Session-Id: {header}\r\nX-Odd: {header}\r\n");
            if events.is_empty() {
                return Sent::response("202 Accepted", &head, header.as_bytes());
            }
            Sent::response(
                "200 OK",
                &head,
                format!("event: {header}\ndata: {header}\n\n{}", events.concat()).as_bytes(),
            )
        })?;
        let file = maker.plan.folder.join(format!("http-{turn}.html"));
        let output = file.display().to_string();
        maker.made(&[CHECK, &["--output", &output]].concat(), vec![web.url("/mcp")], &file)?;
        pages.push(Page::file("check --format html, over HTTP", &file, maker.markup.len()));
    }
    Ok(pages)
}

/// The report of a client.
fn of_a_client(maker: Maker<'_>) -> anyhow::Result<Vec<Page>> {
    let file = maker.plan.folder.join("client.html");
    let output = file.display().to_string();
    let args = [
        "check-client",
        "--revision",
        "2025-11-25",
        "--timeout",
        "3",
        "--scenario",
        "tools*",
        "--format",
        "html",
        "--output",
        &output,
        "--",
    ];
    maker.made(&args, maker.peer("visitor", 0)?, &file)?;
    Ok(vec![Page::file("check-client --format html", &file, 1)])
}

/// The results of a test file from elsewhere, against a foreign server.
fn of_tests(maker: Maker<'_>) -> anyhow::Result<Vec<Page>> {
    // A test file has no longer keys.
    let key = |one: &Markup| if one.text.len() < 256 { one.text.clone() } else { one.mark.clone() };
    let case = |one: &Markup| json!({ "name": one.text, "call": "t", "arguments": { key(one): one.text }, "expect": { "$.content[0].text": { "equals": one.text } } });
    let cases: Vec<Value> = maker.markup.iter().map(case).collect();
    let file = json!({ "server": { "command": maker.peer("markup", 0)? }, "matrix": { "revisions": ["2025-11-25"] }, "cases": cases });
    let (given, page) = (maker.plan.folder.join("markup.mcp.yaml"), maker.plan.folder.join("tests.html"));
    fs::write(&given, file.to_string())?;
    let (given, output) = (given.display().to_string(), page.display().to_string());
    maker.made(&["test", "--format", "html", "--output", &output, &given], Vec::new(), &page)?;
    Ok(vec![Page::file("test --format html", &page, maker.markup.len())])
}

/// What a client's name may have at most.
const NAME: usize = 200;

/// Pages on which a person consents, for clients that are called like the texts: as many in one name as fit.
fn of_consent(maker: Maker<'_>) -> anyhow::Result<Vec<Page>> {
    let serve =
        Target::start(maker.plan, "serve --auth dev", &["serve", "--http", "127.0.0.1:0", "--auth", "dev"], &[])?;
    let serve = Arc::new(serve);
    let mut names: Vec<(String, usize)> = Vec::new();
    for text in short(maker.markup) {
        match names.last_mut() {
            Some((name, count)) if name.chars().count() + text.chars().count() < NAME => {
                name.push_str(text);
                *count += 1;
            }
            _ => names.push((text.to_owned(), 1)),
        }
    }
    let chosen = names.into_iter().step_by(maker.plan.amount(1, 4));
    let page = |(name, least): (String, usize)| {
        let url = consent_page(&serve, &name)?;
        Ok(Page { name: "the page of consent", url, first: String::new(), least, _server: Some(Arc::clone(&serve)) })
    };
    chosen.map(page).collect()
}

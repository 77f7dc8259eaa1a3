//! Whatever a peer sends, or a file holds: nothing panics, nothing takes long, nothing points where there is nothing.
//!
//! Starts from the rules' fixtures and damages them, at the level of bytes and at the level of JSON values. A short run by
//! default, the same every time; `FUZZ_ROUNDS` and `FUZZ_SEED` make it long and different. An input that fails is written
//! to a file, whose name the failure tells.

#![expect(clippy::print_stdout, reason = "a long run tells how far it came")]

mod grow;
mod mutate;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use judge::check::hints::Hints;
use judge::check::{Selection, TraceSink, recorded};
use judge::dialogue;
use mutate::Rng;
use replay::{self, Replay};
use report::baseline::Baseline;
use report::excerpt;
use report::saved;
use rules::{Rule, Verdict, View, judge as verdict_of};
use wire::framing::lines::Lines;
use wire::framing::sse::{Block, Blocks};
use wire::redact::Redactor;
use wire::trace::{Trace, file};
use wire::{Revision, json, message};

/// No single input may take longer; each is a few KiB, and this is a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(4);

#[test]
fn damaged_traces() {
    run("traces", 40, |rng, corpus| {
        let (one, other) = (rng.pick(corpus), rng.pick(corpus));
        mutate::trace(rng, one, other).into_bytes()
    });
}

#[test]
fn damaged_bytes() {
    run("bytes", 160, |rng, corpus| {
        let (one, other) = (rng.pick(corpus), rng.pick(corpus));
        // A line alone is what a peer sends; a whole file is what a disk holds.
        let one = if rng.below(2) == 0 { rng.pick(&one.lines().collect::<Vec<_>>()) } else { one };
        mutate::bytes(rng, one.as_bytes(), other.as_bytes())
    });
}

fn run(name: &str, short: u64, draw: impl Fn(&mut Rng, &[&str]) -> Vec<u8>) {
    let corpus = corpus();
    let corpus: Vec<&str> = corpus.iter().map(String::as_str).collect();
    let rounds = number("FUZZ_ROUNDS").unwrap_or(short);
    let mut rng = Rng::new(number("FUZZ_SEED").unwrap_or(1));
    let (mut read, mut slowest) = (0, Duration::ZERO);
    for _ in 0..rounds {
        let input = draw(&mut rng, &corpus);
        let started = Instant::now();
        let fed = catch_unwind(AssertUnwindSafe(|| feed(&mut rng, &input)));
        let took = started.elapsed();
        let Ok(was_trace) = fed else { panic!("a panic; the input is {}", keep(name, &input).display()) };
        assert!(took < PATIENCE, "took {took:?}; the input is {}", keep(name, &input).display());
        read += usize::from(was_trace);
        slowest = slowest.max(took);
    }
    println!("damaged {name}: {rounds} inputs, {read} of them traces; the slowest took {slowest:.1?}");
    assert!(read > 0, "none of {rounds} inputs was a trace: this tried nothing");
}

/// A number from the environment.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Every fixture of every rule.
fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rules/fixtures");
    let folders = std::fs::read_dir(folder).expect("the rules have fixtures").flatten();
    let files = folders.filter_map(|entry| std::fs::read_dir(entry.path()).ok()).flatten().flatten();
    let mut paths: Vec<PathBuf> = files.map(|file| file.path()).collect();
    paths.sort();
    let texts: Vec<_> = paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    assert!(texts.len() > 200, "{} fixtures", texts.len());
    texts
}

fn keep(name: &str, input: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}"));
    std::fs::write(&path, input).expect("the folder for temporary files can be written");
    path
}

/// Reads it as a recording that is to be replayed.
fn replayed(input: &[u8]) {
    let path = keep(&format!("replayed-{}", std::process::id()), input);
    let _ = Replay::open(&path, replay::Options::default());
}

/// Feeds everything that reads. Tells whether the input was a trace.
fn feed(rng: &mut Rng, input: &[u8]) -> bool {
    let redactor = Redactor::new([7; 32]);
    frames(rng, input);
    let _ = message::parse(input);
    let _ = file::read_repaired(input);
    replayed(input);
    let text = String::from_utf8_lossy(input);
    texts(&redactor, &text);
    let Ok(trace) = file::read(&text) else { return false };
    judged(&trace, Revision::ALL[rng.below(Revision::ALL.len())]);
    written(&redactor, &trace);
    if let Ok(checked) = recorded(
        &trace,
        "--trace x",
        &Selection { safety: true, ..Selection::default() },
        &[],
        &TraceSink::default(),
        (&net::new_redactor(), &judge::Reproduce::new(|facts| facts.rule.to_owned())),
    ) {
        let document = serde_json::to_string(&checked.report).expect("a report is JSON");
        saved::Report::parse(&document).expect("a report can be read back");
        let baseline = Baseline::of(&checked.report, None, &judge::rule_index());
        assert_eq!(Baseline::parse(&baseline.text()), Ok(baseline));
    }
    true
}

fn frames(rng: &mut Rng, input: &[u8]) {
    let limit = 1 + rng.below(2000);
    let (mut lines, mut blocks) = (Lines::new(limit), Blocks::new(limit));
    for chunk in input.chunks(1 + rng.below(100)) {
        lines.push(chunk);
        while lines.next_line().is_some() {}
        blocks.push(chunk);
        while let Some(piece) = blocks.next_block() {
            let block = Block::parse(piece.bytes());
            let _ = (block.render(), block.retry_ms(), block.is_message());
        }
    }
    let _ = (lines.finish(), blocks.finish());
}

fn texts(redactor: &Redactor, text: &str) {
    let _ = (redactor.redact_message(text), redactor.redact_text(text), wire::escape::line(text));
    let _ = (json::outline(text), json::duplicate_name(text), json::repair_surrogates(text), json::unquote(text));
    for pointer in ["", "/", "/params/arguments", "/result/tools/0/name", "/line/0", "no/slash", "/~2/~"] {
        if let Some(span) = json::locate(text, pointer) {
            let _ = &text[span];
        }
    }
    let _ = (Hints::parse(text), Baseline::parse(text), saved::Report::parse(text));
}

/// Every rule's word on the trace, and that what it points at is there to be quoted.
fn judged(trace: &Trace, revision: Revision) {
    let events = trace.events();
    let view = View::new(trace, &events, revision);
    for rule in rules::all_rules() {
        match verdict_of(rule, &view) {
            Verdict::Broken(breach) => {
                let frame = trace.frames.get(breach.event).unwrap_or_else(|| missing(rule, breach.event));
                let quoted = excerpt(frame, &breach.pointer);
                let caret = quoted.caret.unwrap_or(0..0);
                assert!(caret.end <= quoted.text.chars().count(), "{}: a caret beyond its excerpt", rule.id);
                assert!(!breach.why.is_empty(), "{}: broken, and no why", rule.id);
            }
            Verdict::Holds(witnesses) => {
                assert!(!witnesses.is_empty(), "{}: holds without a witness", rule.id);
                if let Some(&beyond) = witnesses.iter().find(|&&at| at >= trace.frames.len()) {
                    missing(rule, beyond);
                }
            }
            Verdict::NotSeen(why) | Verdict::NotApplicable(why) => assert!(!why.is_empty(), "{}: no why", rule.id),
        }
    }
}

fn missing(rule: &Rule, event: usize) -> ! {
    panic!("{} points at event {event}, which is not there", rule.id)
}

/// A trace is written so that it is read again; so is a redacted one.
fn written(redactor: &Redactor, trace: &Trace) {
    assert_eq!(file::read(&file::write(trace)).as_ref(), Ok(trace));
    let redacted = redactor.redact_trace(trace);
    assert_eq!(redacted.frames.len(), trace.frames.len());
    file::read(&file::write(&redacted)).expect("a redacted trace can be read");
    if let Some(rule) = rules::all_rules().next() {
        let _ = dialogue(rule, trace);
    }
}
